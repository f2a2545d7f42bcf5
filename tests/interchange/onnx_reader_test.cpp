#include <catch2/catch.hpp>

#include <span>

#include "spec/error.hpp"
#include "tests/interchange/small_model.hpp"

using namespace etalon;
using namespace etalon::tests;

namespace {

[[nodiscard]] Model read(const std::string& bytes) { return read_model(std::as_bytes(std::span(bytes)), "m.onnx"); }

/// What the reader says of these bytes; empty where it reads them.
[[nodiscard]] std::string complaint(const std::string& bytes) {
  try {
    (void)read(bytes);
    return "";
  } catch (const IoError& error) {
    return error.what();
  }
}

[[nodiscard]] std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int v : values) text += static_cast<char>(v);
  return text;
}

}  // namespace

TEST_CASE("a model is read from bytes that were written by hand") {
  // node { input "x" output "y" op_type "Relu" }, input x : float[N, 2], output y; opset 17 (onnx.proto's numbers of fields)
  const std::string node = bytes({0x0a, 1, 'x', 0x12, 1, 'y', 0x22, 4, 'R', 'e', 'l', 'u'});
  const std::string shape = bytes({0x0a, 3, 0x12, 1, 'N', 0x0a, 2, 0x08, 2});
  const std::string tensor = bytes({0x08, 1, 0x12, static_cast<int>(shape.size())}) + shape;
  const std::string type = bytes({0x0a, static_cast<int>(tensor.size())}) + tensor;
  const std::string input = bytes({0x0a, 1, 'x', 0x12, static_cast<int>(type.size())}) + type;
  const std::string output = bytes({0x0a, 1, 'y'});
  const std::string graph = bytes({0x0a, static_cast<int>(node.size())}) + node + bytes({0x5a, static_cast<int>(input.size())}) + input +
                            bytes({0x62, static_cast<int>(output.size())}) + output;
  const Model m = read(bytes({0x08, 8, 0x3a, static_cast<int>(graph.size())}) + graph + bytes({0x42, 2, 0x10, 17}));
  CHECK(m.opset == 17);
  REQUIRE(m.nodes.size() == 1);
  CHECK(m.nodes[0].operation == "Relu");
  CHECK(m.nodes[0].inputs == std::vector<std::string>{"x"});
  REQUIRE(m.inputs.size() == 1);
  CHECK(m.inputs[0].type == 1);
  REQUIRE(m.inputs[0].extents.has_value());
  CHECK(m.inputs[0].extents->at(0) == std::variant<std::int64_t, std::string>("N"));
  CHECK(m.inputs[0].extents->at(1) == std::variant<std::int64_t, std::string>(std::int64_t{2}));
}

TEST_CASE("bytes that are no model are refused with one line that says where") {
  CHECK(complaint("") == "m.onnx: expected a model of ONNX, found no graph in it");
  CHECK(complaint(bytes({0x3a, 5, 0x0a})) == "m.onnx: at byte 2 of 3: expected at most 1 bytes, found a field of 5");
  CHECK(complaint(bytes({0x08, 0x80})) == "m.onnx: at byte 2 of 2: the message ends inside a number");
  CHECK(complaint(bytes({0x0b})) == "m.onnx: at byte 1 of 1: expected a number, a word or bytes, found the wire type 3");
  CHECK(complaint(bytes({0x00, 0})) == "m.onnx: at byte 1 of 2: expected a field's number, found 0");
  CHECK(complaint(bytes({0x3a, 0, 0x3a, 0})) == "m.onnx: expected one graph, found two");
  // A length of nearly 2^64 reaches beyond the end, not around it.
  CHECK(complaint(bytes({0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}))
            .starts_with("m.onnx: at byte 11 of 11: expected at most 0 bytes"));
  CHECK(complaint(bytes({0x3a, 6, 0x0a, 4, 0x22, 2, 0xc3, 0x28})) == "m.onnx: node 1: expected text in UTF-8 in field 4");
}

TEST_CASE("every truncation of a model is refused, or is a smaller model") {
  const std::string whole = model_bytes(OneNode{
      "Conv",
      {{"pads", std::vector<std::int64_t>{1, 0}}, {"auto_pad", std::string("NOTSET")}},
      {reals({1, 1, 2}, {1, 2})},
      {{"w", reals({1, 1, 1}, {3})}}}.model());
  std::size_t refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) refused += complaint(whole.substr(0, size)).empty() ? 0 : 1;
  CHECK(refused > whole.size() - 5);
  CHECK(complaint(whole).empty());
}

TEST_CASE("a tensor's numbers are read in each form that the format has for them") {
  const auto tensor = [](const std::string& message) {
    return read_tensor(std::as_bytes(std::span(message)), "t.pb").second;
  };
  CHECK(std::get<HostTensor>(tensor(bytes({0x08, 2, 0x10, 1, 0x22, 8, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}))) ==
        reals({2}, {1, -2}));                                                                                    // float_data
  CHECK(std::get<HostTensor>(tensor(bytes({0x08, 1, 0x10, 1, 0x4a, 4, 0, 0, 0x80, 0x3f}))) == reals({1}, {1}));  // raw_data
  CHECK(std::get<HostTensor>(tensor(bytes({0x08, 2, 0x10, 7, 0x3a, 2, 5, 6}))) == integers({5, 6}));             // int64_data, packed
  CHECK(std::get<HostTensor>(tensor(bytes({0x08, 2, 0x10, 7, 0x38, 5, 0x38, 6}))) == integers({5, 6}));          // and one by one
  CHECK(std::get<HostTensor>(tensor(bytes({0x10, 10, 0x28, 0x80, 0x78}))).view<std::uint16_t>()[0] == 0x3c00);   // halves by their bits
  CHECK(std::get<std::string>(tensor(bytes({0x08, 1, 0x10, 3, 0x4a, 1, 7}))) == "tensors of int8 are not offered");
  CHECK(std::get<std::string>(tensor(bytes({0x08, 1, 0x10, 1, 0x70, 1}))) == "numbers in another file are not offered");
  CHECK_THROWS_AS(tensor(bytes({0x08, 3, 0x10, 7, 0x3a, 2, 5, 6})), IoError);                                // three of two
  CHECK_THROWS_AS(tensor(bytes({0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x10, 1})), IoError);  // 2^56 - 1 of none
  CHECK_THROWS_AS(tensor(bytes({0x08, 1, 0x10, 9, 0x28, 2})), IoError);                                      // a truth value of 2
}
