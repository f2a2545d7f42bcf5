// Functions and their lines in the form that `perf inject --jit` reads, checked against its specification.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "compiled/emit/llvm/jit_dump.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("etalon-jit-dump-" + std::to_string(getpid()));
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
};

std::string dump_in(const Folder& folder) {
  std::ifstream in(folder.path / ("jit-" + std::to_string(getpid()) + ".dump"), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Reads numbers and texts one after the other.
struct Reader {
  const std::string& bytes;
  std::size_t at = 0;
  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint64_t u64() { return number<std::uint64_t>(); }
  template <class T>
  T number() {
    T value{};
    REQUIRE(at + sizeof value <= bytes.size());
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }
  std::string text() {
    const std::string found = bytes.c_str() + at;
    at += found.size() + 1;
    REQUIRE(at <= bytes.size());
    return found;
  }
};

void read_head(Reader& r) {
  CHECK(r.bytes.substr(0, 4) == "DTiJ");  // 0x4A695444 on a machine that stores the least byte first
  CHECK(r.u32() == 0x4A695444U);
  CHECK(r.u32() == 1);
  CHECK(r.u32() == 40);
  CHECK(r.u32() == 62);  // EM_X86_64
  CHECK(r.u32() == 0);
  CHECK(r.u32() == static_cast<std::uint32_t>(getpid()));
  CHECK(r.u64() > 0);
  CHECK(r.u64() == 0);
  REQUIRE(r.at == 40);
}

}  // namespace

TEST_CASE("a jitdump holds functions with code and lines as its format says", "[compiled][perf]") {
  const Folder folder;
  const std::string code = "\x90\x90\xc3 some more bytes";
  const auto address = reinterpret_cast<std::uint64_t>(code.data());
  {
    compiled::JitDump dump(folder.path);
    dump.add("etalon:0:y", address, code.size(), {{0, 3, "/a/loops.txt"}, {2, 5, "/a/loops.txt"}});
    dump.add("etalon:1:z", address, 3, {});
  }
  const std::string bytes = dump_in(folder);
  Reader r{bytes};
  read_head(r);
  std::size_t begin = r.at;
  CHECK(r.u32() == 2);  // lines come before their function
  std::uint32_t length = r.u32();
  CHECK(r.u64() > 0);
  CHECK(r.u64() == address);
  REQUIRE(r.u64() == 2);
  CHECK(r.u64() == address);
  CHECK(r.u32() == 3);
  CHECK(r.u32() == 0);
  CHECK(r.text() == "/a/loops.txt");
  CHECK(r.u64() == address + 2);
  CHECK(r.u32() == 5);
  CHECK(r.u32() == 0);
  CHECK(r.text() == "/a/loops.txt");
  CHECK(r.at - begin == length);
  for (const bool first : {true, false}) {
    begin = r.at;
    CHECK(r.u32() == 0);
    length = r.u32();
    CHECK(r.u64() > 0);
    CHECK(r.u32() == static_cast<std::uint32_t>(getpid()));
    CHECK(r.u32() > 0);
    CHECK(r.u64() == address);
    CHECK(r.u64() == address);
    const std::uint64_t size = r.u64();
    CHECK(size == (first ? code.size() : 3));
    CHECK(r.u64() == (first ? 0U : 1U));
    CHECK(r.text() == (first ? "etalon:0:y" : "etalon:1:z"));
    CHECK(bytes.substr(r.at, size) == code.substr(0, size));
    r.at += size;
    CHECK(r.at - begin == length);
  }
  CHECK(r.u32() == 3);
  CHECK(r.u32() == 16);
  CHECK(r.u64() > 0);
  CHECK(r.at == bytes.size());
}

TEST_CASE("generated functions are dumped with the lines of their loops when both are asked for", "[compiled][perf]") {
  const Folder folder;
  System s;
  const TensorId x = input(s, "x", DType::f32, {100});
  const TensorId y = output(s, "shifted", DType::f32, {100});
  const auto b = s.bind_all(y);
  s.define(y, b, s.at(x, variables(b)) + spec::decimal(1));
  compiled::CompileOptions o;
  o.debug = compiled::DebugFiles(folder.path);
  (void)compiled::compile_system(s, o);
  CHECK(dump_in(folder).empty());
  setenv("ETALON_PERF_MAP", "1", 1);
  const compiled::Executable e = compiled::compile_system(s, o);
  unsetenv("ETALON_PERF_MAP");
  fs::remove("/tmp/perf-" + std::to_string(getpid()) + ".map");
  const std::string bytes = dump_in(folder);
  Reader r{bytes};
  read_head(r);
  REQUIRE(r.u32() == 2);
  r.at += 4 + 8 + 8;
  std::set<std::uint32_t> lines;
  for (std::uint64_t left = r.u64(); left > 0; --left) {
    r.at += 8;
    lines.insert(r.u32());
    r.at += 4;
    CHECK(fs::path(r.text()).parent_path() == folder.path);
  }
  // The store stands in the line that names the target.
  std::ifstream listing(folder.path / "loops.txt");
  std::uint32_t number = 0;
  std::size_t stores = 0;
  for (std::string line; std::getline(listing, line);) {
    ++number;
    if (line.find("shifted[") == std::string::npos) continue;
    CHECK(lines.count(number) == 1);
    ++stores;
  }
  CHECK(stores > 0);
}
