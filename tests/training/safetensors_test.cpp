#include "training/files/safetensors.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "spec/error.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

std::string length_of(std::uint64_t length) {
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text;
}

std::string file_of(const std::string& header, const std::string& elements) {
  return length_of(header.size()) + header + elements;
}

Named read(std::string_view file) { return read_safetensors(std::as_bytes(std::span(file)), "file"); }

/// One tensor called `a`, with these fields.
std::string one(const std::string& fields) { return "{\"a\":{" + fields + "}}"; }

}  // namespace

TEST_CASE("a_safetensors_file_is_what_its_format_says_byte_by_byte", "[files]") {
  const Named tensors{{"b", HostTensor::of<float>({2}, {1.0F, -2.0F})},
                      {"a", HostTensor::of<bool>({3}, {true, false, true})},
                      {"z", HostTensor::of<std::int64_t>({}, {258})},
                      {"c", HostTensor::of<float>({0, 2}, {})}};
  std::string header =
      R"({"z":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
      R"("c":{"dtype":"F32","shape":[0,2],"data_offsets":[16,16]},"a":{"dtype":"BOOL","shape":[3],"data_offsets":[16,19]}})";
  while (header.size() % 8 != 0) header += ' ';
  using namespace std::string_literals;
  const std::string elements = "\x02\x01\0\0\0\0\0\0"s + "\0\0\x80\x3f\0\0\0\xc0"s + "\x01\0\x01"s;
  CHECK(safetensors_of(tensors) == file_of(header, elements));
}

TEST_CASE("tensors_of_every_type_come_back_from_safetensors", "[files]") {
  Named tensors;
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean}) {
    HostTensor tensor(dtype, {2, 3});
    for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
      tensor.bytes[i] = static_cast<std::byte>(dtype == DType::boolean ? i % 2 : 37 * i + 1);
    tensors.emplace("t." + std::string(name_of(dtype)), tensor);
  }
  tensors.emplace("\"quoted\\ \xc3\xa4", HostTensor::of<float>({1}, {3.0F}));
  const Named back = read(safetensors_of(tensors));
  CHECK(back == tensors);
  CHECK(read(safetensors_of({})).empty());
  CHECK_THROWS_AS(safetensors_of({{"__metadata__", HostTensor(DType::f32, {})}}), SpecViolation);
}

TEST_CASE("files_of_other_writers_are_read", "[files]") {
  const std::string two(8, '\0');
  const Named unsorted =
      read(file_of(R"({"__metadata__":{"format":"pt"},"b":{"shape":[1],"dtype":"F32","data_offsets":[4,8]},)"
                   R"("a":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}}   )",
                   two));
  CHECK(unsorted.size() == 2);
  CHECK(unsorted.at("b") == HostTensor::of<float>({1}, {0.0F}));
}

TEST_CASE("hostile_safetensors_are_refused_in_one_line_that_names_the_file", "[files]") {
  const std::string eight(8, '\0'), good = one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])");
  REQUIRE(read(file_of(good, eight)).size() == 1);
  const std::string huge = "4294967296,4294967296";
  const std::string files[] = {
      "",
      "1234567",
      length_of(1),
      length_of(UINT64_MAX) + "{}",
      length_of(100'000'001) + std::string(64, ' '),
      file_of("", ""),
      file_of("[]", ""),
      file_of(" {}", ""),
      file_of("{", ""),
      file_of("{}x", ""),
      file_of("null", ""),
      file_of("{\"a\"}", ""),
      file_of("\xef\xbb\xbf{}", ""),
      file_of(R"({"a":1})", ""),
      file_of(R"({"a":[]})", ""),
      file_of(R"({"a":null})", ""),
      file_of("{\"\xff\":{}}", ""),
      file_of(std::string(100'000, '['), ""),
      file_of("{\"a\":" + std::string(100'000, '{'), ""),
      file_of(good.substr(0, good.size() - 1) + "," + good.substr(1), eight),
      file_of(one(R"("dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1)"), eight),
      file_of(one(R"("dtype":"F32","shape":[2])"), eight),
      file_of(one(R"("dtype":"F32","data_offsets":[0,8])"), eight),
      file_of(one(R"("shape":[2],"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":"F99","shape":[2],"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":"f32","shape":[2],"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":1,"shape":[2],"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":["F32"],"shape":[2],"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":"F32","shape":2,"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":"F32","shape":["2"],"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":"F32","shape":[2],"data_offsets":[0])"), eight),
      file_of(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])"), eight),
      file_of(one(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), eight),
      file_of(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,7])"), eight),
      file_of(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615])"), eight),
      file_of(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551616])"), eight),
      file_of(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,8])"), eight),
      file_of(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), eight),
      file_of(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), eight),
      file_of(good, eight + "x"),
      file_of(good, eight.substr(1)),
      // The product wraps to 0.
      file_of(one(R"("dtype":"F32","shape":[)" + huge + R"(],"data_offsets":[0,0])"), ""),
      file_of(one(R"("dtype":"F32","shape":[0,)" + huge + R"(],"data_offsets":[0,0])"), ""),
      file_of(one(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,0])"), ""),
      // Two tensors in one place, and a hole between two.
      file_of(
          R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
          eight),
      file_of(
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
          eight + "1234"),
      file_of(R"({"__metadata__":{"a":1}})", ""),
      file_of(R"({"__metadata__":"a"})", ""),
      file_of(R"({"__metadata__":{"a":"b","a":"b"}})", ""),
      file_of(R"({"__metadata__":{"a":{}}})", ""),
      file_of(one(R"("dtype":"BOOL","shape":[8],"data_offsets":[0,8])"), "\x01\x01\x01\x01\x01\x01\x01\x02"),
      // Names that would write over the terminal.
      file_of(R"({"a\n\u001b[2J":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", eight),
      file_of(R"({"a\n\u001b[2J":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", "\x02"),
  };
  for (const std::string& file : files) {
    CAPTURE(file.substr(0, 200));
    std::string said;
    try {
      (void)read(file);
    } catch (const IoError& error) {
      said = error.what();
    }
    CHECK(said.starts_with("file: "));
    CHECK(std::none_of(said.begin(), said.end(), [](char c) { return c >= 0 && c < 32; }));
  }
}
