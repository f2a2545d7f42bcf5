#include "training/files/gzip.hpp"

#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <span>
#include <string>

#include "spec/error.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

std::string packed(std::string text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

std::string read(const std::string& bytes, std::size_t most = 1U << 20U) {
  try {
    return "read " + unpacked(std::as_bytes(std::span(bytes)), most, "f.gz");
  } catch (const IoError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("what a file of gzip holds is all of its members, and nothing is behind them", "[files][sound]") {
  const std::string first = packed("one\n"), second = packed("two\n"), long_text(300'000, 'x');
  CHECK(read(first) == "read one\n");
  CHECK(read(first + second + packed("")) == "read one\ntwo\n");
  CHECK(read(packed(long_text) + second) == "read " + long_text + "two\n");
  CHECK(read(packed(long_text), 300'000) == "read " + long_text);
  CHECK(read(packed(long_text), 299'999) == "f.gz: longer than 299999 bytes");
  CHECK(read(first + second, 7) == "f.gz: longer than 7 bytes");
  CHECK(read("") == "f.gz: damaged or cut short after 0 bytes of text: unexpected end of file");
  CHECK(read("one\n") == "f.gz: no gzip, which begins with the bytes 1f 8b");
  // What gzread leaves out without a word.
  for (const std::string& behind : {std::string("x"), std::string("\0", 1), std::string("garbage"), first.substr(1)}) {
    CHECK(read(first + behind) == "f.gz: " + std::to_string(behind.size()) + " bytes behind the last member of gzip, expected none");
  }
  int refused = 0;
  for (std::size_t at = 0; at < second.size(); ++at) {
    if (at >= 3 && at < 10) continue;  // what the header tells about the file: flags, time, system
    std::string damaged = second;
    damaged[at] ^= 0x10;
    const std::string message = read(first + damaged);
    const bool fills_a_byte = message == "read one\ntwo\n";  // the end of what is compressed: its bits say nothing
    CHECK((fills_a_byte || message.starts_with("f.gz: ")));
    refused += fills_a_byte ? 0 : 1;
    CHECK(read(first + second.substr(0, at)).starts_with(at == 0 ? "read one\n" : "f.gz: "));
  }
  CHECK(refused >= static_cast<int>(second.size()) - 8);
}
