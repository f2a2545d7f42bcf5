#include <catch2/catch.hpp>

#include <cmath>

#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/protocol/base64.hpp"
#include "spec/protocol/json.hpp"
#include "tests/spec/program_generator.hpp"

using namespace etalon;
using namespace etalon::spec;

namespace {

[[nodiscard]] std::string refusal(const std::string& tensor) {
  try {
    (void)tensor_from_json(parse_json(tensor, "request"), "inputs[0]");
  } catch (const SpecViolation& error) {
    return error.what();
  } catch (const Unsupported& error) {
    return std::string("unsupported: ") + error.what();
  }
  return "accepted";
}

[[nodiscard]] Bytes bytes_of(std::string_view text) {
  Bytes bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

}  // namespace

TEST_CASE("base64 agrees with the vectors of RFC 4648", "[protocol]") {
  const std::pair<std::string_view, std::string_view> vectors[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : vectors) {
    CHECK(to_base64(bytes_of(plain)) == coded);
    CHECK(from_base64(coded) == bytes_of(plain));
  }
  for (const char* bad : {"Zg", "Zg=", "Z===", "Zh==", "Zm9=", "Zm 9", "Zm9v\n", "=m9v", "Zg==Zg=="}) CHECK_FALSE(from_base64(bad).has_value());
}

TEST_CASE("tensors read back bit for bit", "[protocol]") {
  REQUIRE(rc::check("tensor_from_json(tensor_to_json(t)) == t", [] {
    const HostTensor tensor = spec::test::any_tensor(spec::test::any_dtype(), spec::test::any_dims());
    RC_ASSERT(tensor_from_json(parse_json(to_line(tensor_to_json(tensor)), "t"), "t") == tensor);
  }));
}

TEST_CASE("a tensor is written as numpy would", "[protocol]") {
  // base64.b64encode(numpy.array([1, -2.5], '<f4').tobytes())
  CHECK(to_line(tensor_to_json(HostTensor::of<float>({2}, {1.0F, -2.5F}))) == R"({"dtype":"f32","shape":[2],"data":"AACAPwAAIMA="})");
  CHECK(to_line(tensor_to_json(HostTensor(DType::i64, {0, 3}))) == R"({"dtype":"i64","shape":[0,3],"data":""})");
}

TEST_CASE("layouts gather the addressed elements", "[protocol]") {
  // The buffer holds 0..5 as i32; a transposed view, an expanded one, and one with an offset.
  const std::string data = to_base64(HostTensor::of<std::int32_t>({6}, {0, 1, 2, 3, 4, 5}).bytes);
  const auto read = [&](const std::string& rest) {
    return tensor_from_json(parse_json(R"({"dtype":"i32","data":")" + data + "\"," + rest + "}", "t"), "t");
  };
  CHECK(read(R"("shape":[3,2],"strides":[1,3])") == HostTensor::of<std::int32_t>({3, 2}, {0, 3, 1, 4, 2, 5}));
  CHECK(read(R"("shape":[2,2],"strides":[0,2],"offset":1)") == HostTensor::of<std::int32_t>({2, 2}, {1, 3, 1, 3}));
  CHECK(read(R"("shape":[],"strides":[],"offset":5)") == HostTensor::of<std::int32_t>({}, {5}));
  CHECK(read(R"("shape":[3,2],"strides":[-2,1],"offset":4)") == HostTensor::of<std::int32_t>({3, 2}, {4, 5, 2, 3, 0, 1}));
}

TEST_CASE("a placed tensor is written as its whole buffer and reads back", "[protocol]") {
  const HostTensor t = HostTensor::of<std::int32_t>({2, 2}, {1, 2, 3, 4});
  const Placement transposed_backwards{{-1, -3}, 5, 7};
  CHECK(to_line(tensor_to_json(t, transposed_backwards)) ==
        R"({"dtype":"i32","shape":[2,2],"strides":[-1,-3],"offset":5,"data":")" +
            to_base64(HostTensor::of<std::int32_t>({7}, {0, 4, 2, 0, 3, 1, 0}).bytes) + "\"}");
  CHECK(tensor_from_json(tensor_to_json(t, transposed_backwards), "t") == t);
  const Json behind = tensor_to_json(t, {{2, 1}, 3, 7});
  CHECK(behind.at("offset") == 3);
  CHECK_FALSE(behind.contains("strides"));
  CHECK(tensor_from_json(behind, "t") == t);
  // Strides that go without saying are told by turns.
  const Json told = tensor_to_json(t, {{2, 1}, 2, 7});
  CHECK(told.at("strides") == Json::parse("[2,1]"));
  CHECK(tensor_from_json(told, "t") == t);
  const HostTensor expanded = HostTensor::of<float>({2, 2}, {7, 8, 7, 8});
  const Json json = tensor_to_json(expanded, {{0, 1}, 1, 4});
  CHECK(tensor_from_json(json, "t") == expanded);
  const HostTensor buffer = buffer_of(expanded, {{0, 1}, 1, 4});
  CHECK(std::isnan(buffer.view<float>()[0]));
  CHECK(buffer.view<float>()[1] == 7);
  CHECK(buffer.view<float>()[2] == 8);
  CHECK(std::isnan(buffer.view<float>()[3]));
}

TEST_CASE("a malformed tensor is refused by field", "[protocol]") {
  CHECK(refusal(R"([])") == "inputs[0]: expected an object, found []");
  CHECK(refusal(R"({"shape":[],"data":""})") == "inputs[0].dtype: the field is missing");
  CHECK(refusal(R"({"dtype":"u8","shape":[],"data":""})") == "unsupported: inputs[0].dtype: element type 'u8' is not offered");
  CHECK(refusal(R"({"dtype":7,"shape":[],"data":""})") == "inputs[0].dtype: expected a string, found 7");
  CHECK(refusal(R"({"dtype":"f32","shape":[2.5],"data":""})") == "inputs[0].shape[0]: expected an integer, found 2.5");
  CHECK(refusal(R"({"dtype":"f32","shape":[-1],"data":""})") == "inputs[0].shape: expected extents that are not negative, found [-1]");
  CHECK(refusal(R"({"dtype":"f32","shape":[1],"data":"AAA"})") == "inputs[0].data: expected base64, found \"AAA\"");
  CHECK(refusal(R"({"dtype":"f32","shape":[2],"data":"AAAAAA=="})") == "inputs[0].data: expected 2 elements of 4 bytes, found 4 bytes");
  CHECK(refusal(R"({"dtype":"f32","shape":[2],"data":"AAAAAA==","strides":[1]})") ==
        "inputs[0].data: expected at least 2 elements of 4 bytes, found 4 bytes");
  CHECK(refusal(R"({"dtype":"f32","shape":[2],"data":"AAAAAA==","strides":[-1]})") ==
        "inputs[0].strides: they address elements before the buffer");
  CHECK(refusal(R"({"dtype":"f32","shape":[2],"data":"AAAAAA==","strides":[9223372036854775807],"offset":9223372036854775807})") ==
        "inputs[0].strides: they address elements beyond any buffer");
  CHECK(refusal(R"({"dtype":"bool","shape":[1],"data":"Ag=="})") == "inputs[0].data: a bool is one byte, 0 or 1, found 2");
  CHECK(refusal(R"({"dtype":"f32","shape":[1000000,1000000,1000000,1000000],"data":"","strides":[0,0,0,0]})").substr(0, 29) ==
        "unsupported: inputs[0].shape:");
}

TEST_CASE("programs read back from JSON, extensions included", "[protocol]") {
  REQUIRE(rc::check("program_from_json(program_to_json(p)) == p", [] {
    const Program program = spec::test::any_program();
    RC_ASSERT(program_from_json(parse_json(to_line(program_to_json(program)), "p"), "program") == program);
  }));
}

TEST_CASE("attributes travel as the protocol says", "[protocol]") {
  const auto written = [](const AttributeValue& value) { return to_line(attribute_to_json(value)); };
  CHECK(written(1.0) == "1.0");
  CHECK(written(std::numeric_limits<double>::infinity()) == "\"inf\"");
  CHECK(written(-std::numeric_limits<double>::infinity()) == "\"-inf\"");
  CHECK(written(std::numeric_limits<double>::quiet_NaN()) == "\"nan\"");
  CHECK(written(std::int64_t{1} << 53) == "9007199254740992");
  CHECK(written((std::int64_t{1} << 53) + 1) == "\"9007199254740993\"");
  CHECK(written(std::vector<std::int64_t>{1}) == "[1]");
  CHECK(written(std::vector<double>{0.5, -std::numeric_limits<double>::infinity()}) == "[0.5,\"-inf\"]");
  CHECK(written(std::string("mean")) == "\"mean\"");
  CHECK(written(ValueName{"rate"}) == R"({"value":"rate"})");
  CHECK(std::isnan(std::get<double>(attribute_from_json(parse_json("\"nan\"", "a"), "a"))));
}

TEST_CASE("a malformed program is refused by field", "[protocol]") {
  const auto message = [](const std::string& text) -> std::string {
    try {
      (void)program_from_json(parse_json(text, "p"), "program");
    } catch (const SpecViolation& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(message("{") == "p: malformed JSON at line 1, column 2: unexpected end of input; expected string literal");
  CHECK(message(R"({"inputs":[],"outputs":[]})") == "program.calls: the field is missing");
  CHECK(message(R"({"inputs":[],"calls":[{"operation":"f","operands":[3],"results":[]}],"outputs":[]})") ==
        "program.calls[0].operands[0]: expected a string, found 3");
  CHECK(message(R"({"inputs":[],"calls":[{"operation":"f","operands":[],"results":[],"attributes":{"a":[[]]}}],"outputs":[]})") ==
        "program.calls[0].attributes.a[0]: expected a number, found []");
  CHECK(message(R"({"inputs":[],"calls":[4],"outputs":[]})") == "program.calls[0]: expected an object, found 4");
}
