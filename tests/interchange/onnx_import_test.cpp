#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "conformance/interchange/onnx/rows.hpp"
#include "tests/interchange/small_model.hpp"

using namespace etalon;
using namespace etalon::tests;

namespace {

/// Compares with numbers that were worked out by hand.
void check_one(const OneNode& node, const HostTensor& expected) {
  CAPTURE(node.operation);
  const auto found = computed(node);
  REQUIRE(found.has_value());
  CHECK(found->at(0) == expected);
}

[[nodiscard]] std::vector<std::string> refusals(const Model& model, const ImportOptions& options = {}) {
  return import_model(model, options).refused;
}

const std::vector<std::int64_t> two_one{2, 1};

}  // namespace

TEST_CASE("a node means what its operator says, with defaults and attributes") {
  const HostTensor a = reals({2, 2}, {1, 2, 3, 4}), b = reals({2, 2}, {1, 0, 1, 1}), c = reals({2}, {10, 20});
  // 2·Aᵀ·B + 0.5·C
  check_one({"Gemm", {{"alpha", 2.0}, {"beta", 0.5}, {"transA", std::int64_t{1}}}, {a, b, c}},
            reals({2, 2}, {8 + 5, 6 + 10, 12 + 5, 8 + 10}));
  check_one({"LeakyRelu", {{"alpha", 0.5}}, {reals({3}, {-2, 0, 4})}}, reals({3}, {-1, 0, 4}));
  check_one({"HardSigmoid", {{"alpha", 0.5}}, {reals({3}, {-2, 0.5F, 4})}}, reals({3}, {0, 0.75F, 1}));
  check_one({"Shrink", {{"lambd", 1.0}, {"bias", 0.5}}, {reals({3}, {-2, 0.5F, 4})}}, reals({3}, {-1.5F, 0, 3.5F}));
  check_one({"Flatten", {}, {reals({1, 2, 2}, {1, 2, 3, 4})}}, reals({1, 4}, {1, 2, 3, 4}));
  check_one({"DepthToSpace", {{"blocksize", std::int64_t{2}}}, {reals({1, 4, 1, 1}, {1, 2, 3, 4})}}, reals({1, 1, 2, 2}, {1, 2, 3, 4}));
  check_one({"ArgMax", {{"keepdims", std::int64_t{0}}, {"select_last_index", std::int64_t{1}}}, {reals({3}, {5, 5, 1})}},
            HostTensor::of<std::int64_t>({}, {1}));
  check_one({"ReduceSum", {}, {a}, {{"axes", integers({-1})}}}, reals({2, 1}, {3, 7}));
  check_one({"CumSum", {{"exclusive", std::int64_t{1}}}, {c}, {{"axis", HostTensor::of<std::int64_t>({}, {0})}}}, reals({2}, {0, 10}));
  check_one({"Einsum", {{"equation", std::string("ij,jk->ki")}}, {a, b}}, reals({2, 2}, {3, 7, 2, 4}));
}

TEST_CASE("places are counted from the end where they are negative, known or not") {
  const HostTensor x = reals({3}, {10, 20, 30});
  check_one({"Gather", {}, {x, integers({-1, 0})}}, reals({2}, {30, 10}));
  check_one({"Gather", {}, {x}, {{"i", integers({-1, 0})}}}, reals({2}, {30, 10}));
  check_one({"GatherElements", {}, {x, integers({-3, 2})}}, reals({2}, {10, 30}));
  check_one({"OneHot", {{"axis", std::int64_t{-1}}}, {integers({-1, 1})}, {{"depth", integers({3})}, {"values", reals({2}, {5, 7})}}},
            reals({2, 3}, {5, 5, 7, 5, 7, 5}));
}

TEST_CASE("slices are cut as ONNX cuts them") {
  const HostTensor x = reals({5}, {0, 1, 2, 3, 4});
  const auto cut = [&](std::int64_t start, std::int64_t end, std::int64_t step, const HostTensor& expected) {
    check_one({"Slice", {}, {x}, {{"a", integers({start})}, {"b", integers({end})}, {"c", integers({0})}, {"d", integers({step})}}},
              expected);
  };
  cut(1, INT64_MAX, 2, reals({2}, {1, 3}));
  cut(-1, INT64_MIN, -2, reals({3}, {4, 2, 0}));
  cut(3, 1, 1, reals({0}, {}));
  check_one({"Slice", {{"starts", std::vector<std::int64_t>{-2}}, {"ends", std::vector<std::int64_t>{INT64_MAX}}}, {x}, {}, 9},
            reals({2}, {3, 4}));
}

TEST_CASE("padding repeats what is there, or a number") {
  const HostTensor x = reals({3}, {1, 2, 3});
  const auto padded = [&](const char* mode, const HostTensor& expected) {
    check_one({"Pad", {{"mode", std::string(mode)}}, {x}, {{"p", integers(two_one)}}}, expected);
  };
  padded("reflect", reals({6}, {3, 2, 1, 2, 3, 2}));
  padded("edge", reals({6}, {1, 1, 1, 2, 3, 3}));
  padded("wrap", reals({6}, {2, 3, 1, 2, 3, 1}));
  padded("constant", reals({6}, {0, 0, 1, 2, 3, 0}));
}

TEST_CASE("integers and truth values are padded with the number that is given, to its last digit") {
  const auto padded = [](const HostTensor& x, const HostTensor& number) {
    return computed(OneNode{"Pad", {}, {x}, {{"a", integers(two_one)}, {"b", number}}});
  };
  for (const std::int64_t number : {(std::int64_t{1} << 53) + 1, INT64_MAX, INT64_MIN}) {
    const auto y = padded(integers({7}), HostTensor::of<std::int64_t>({}, {number}));
    REQUIRE(y.has_value());
    CHECK(y->at(0) == integers({number, number, 7, number}));
  }
  const auto y = padded(HostTensor::of<bool>({1}, {false}), HostTensor::of<bool>({}, {true}));
  REQUIRE(y.has_value());
  CHECK(y->at(0) == HostTensor::of<bool>({4}, {true, true, false, true}));
  CHECK(!padded(integers({7}), reals({}, {1})).has_value());
  CHECK(!padded(integers({7}), reals({}, {std::numeric_limits<float>::quiet_NaN()})).has_value());
  CHECK(!computed(OneNode{"Pad", {{"pads", two_one}, {"value", 1.5}}, {integers({7})}, {}, 10}).has_value());
}

TEST_CASE("an axis or a diagonal is an integer, and nothing is cut off to become one") {
  const auto found = [](const char* operation, const HostTensor& place) {
    return computed(OneNode{operation, {}, {reals({1, 2}, {1, 2})}, {{"p", place}}});
  };
  for (const float place : {0.75F, 0.0F, 1e30F, std::numeric_limits<float>::quiet_NaN()}) {
    CHECK(!found("CumSum", reals({}, {place})).has_value());
    CHECK(!found("Trilu", reals({}, {place})).has_value());
  }
  CHECK(!found("CumSum", HostTensor::of<std::int64_t>({}, {INT64_MIN})).has_value());
  for (const auto& [diagonal, expected] : {std::pair(INT64_MIN, reals({1, 2}, {1, 2})), std::pair(INT64_MAX, reals({1, 2}, {0, 0}))}) {
    const auto y = found("Trilu", HostTensor::of<std::int64_t>({}, {diagonal}));
    REQUIRE(y.has_value());
    CHECK(y->at(0) == expected);
  }
}

TEST_CASE("integers are scaled by no factor that they would have to be rounded for") {
  const HostTensor i = HostTensor::of<std::int64_t>({1, 1}, {3});
  const auto product = [&](const char* name, double factor) { return computed(OneNode{"Gemm", {{name, factor}}, {i, i, i}}); };
  CHECK(!product("alpha", 0.5).has_value());
  CHECK(!product("beta", 1.5).has_value());
  const auto y = product("alpha", 1);
  REQUIRE(y.has_value());
  CHECK(y->at(0) == HostTensor::of<std::int64_t>({1, 1}, {12}));
  CHECK(!computed(OneNode{"Clip", {{"min", 0.5}}, {integers({0})}, {}, 10}).has_value());
}

TEST_CASE("results of an element type that ONNX says and the program has not are not offered where they are read") {
  const auto read = [](const OneNode& node, const std::string& output) {
    ImportOptions options;
    options.outputs = {output};
    return refusals(node.model(), options);
  };
  OneNode normalised{"LayerNormalization", {}, {HostTensor(DType::f16, {1, 2}), HostTensor(DType::f16, {2})}, {}, 17, 3};
  CHECK(read(normalised, "y").empty());
  CHECK(read(normalised, "y1") ==
        std::vector<std::string>{"model.onnx: node 1 (LayerNormalization): its output 2, \"y1\", is not offered"});
  CHECK(read(normalised, "y2").size() == 1);
  normalised.attributes["stash_type"] = type_of(DType::f16);
  CHECK(read(normalised, "y2").empty());
  normalised = {"LayerNormalization", {}, {reals({1, 2}, {1, 2}), reals({2}, {1, 1})}, {}, 17, 3};
  CHECK(read(normalised, "y2").empty());
  OneNode dropped{"Dropout", {}, {reals({1}, {1})}, {}, 9, 2};
  CHECK(read(dropped, "y").empty());
  CHECK(read(dropped, "y1") == std::vector<std::string>{"model.onnx: node 1 (Dropout): its output 2, \"y1\", is not offered"});
  dropped.opset = 10;
  const auto kept = computed(dropped);
  REQUIRE(kept.has_value());
  CHECK(kept->at(1) == HostTensor::of<bool>({1}, {true}));
}

TEST_CASE("an input that is left out is refused by each operator that needs it") {
  for (const auto& family : {elementwise_rows(), activation_rows(), reduction_rows(), shape_rows(), indexing_rows(), window_rows(),
                             layer_rows(), recurrent_rows()}) {
    for (const Row& row : family) {
      CAPTURE(row.operation);
      Model m{17, {{"", std::string(row.operation), "", {"", "x"}, {"y"}, {}}}, {{"i", integers({1})}}, {}, {{"y", 0, {}}}};
      m.inputs = {declared("x", DType::f32, {1, 1, 1})};
      if (row.operation == "Einsum") m.nodes[0].attributes["equation"] = std::string("i,i->i");
      if (row.operation == "Concat") m.nodes[0].attributes["axis"] = std::int64_t{0};
      for (const auto& inputs : std::vector<std::vector<std::string>>{{"", "x"}, {"", "i"}, {"", "", "i"}, {"", "x", "x", "i"}}) {
        m.nodes[0].inputs = inputs;
        CHECK(refusals(m).size() == 1);
      }
      for (const auto& inputs : std::vector<std::vector<std::string>>{{"x", "", "x"}, {"i", "", "i"}, {"x", "", "", "i"}}) {
        m.nodes[0].inputs = inputs;
        CHECK(refusals(m).size() <= 1);
      }
    }
  }
}

TEST_CASE("windows of automatic padding have the odd element at the side that is named") {
  const HostTensor x = reals({1, 1, 4}, {1, 2, 3, 4}), ones = reals({1, 1, 2}, {1, 1});
  check_one({"Conv", {{"auto_pad", std::string("SAME_UPPER")}}, {x}, {{"w", ones}}}, reals({1, 1, 4}, {3, 5, 7, 4}));
  check_one({"Conv", {{"auto_pad", std::string("SAME_LOWER")}}, {x}, {{"w", ones}}}, reals({1, 1, 4}, {1, 3, 5, 7}));
  const std::map<std::string, AttributeValue> pool{{"kernel_shape", std::vector<std::int64_t>{2}},
                                                   {"pads", std::vector<std::int64_t>{0, 1}}};
  check_one({"MaxPool", pool, {reals({1, 1, 2}, {-1, -2})}}, reals({1, 1, 2}, {-1, -2}));
}

TEST_CASE("elements are repeated where the rule for the nearest one says so, and else the node is refused") {
  const auto resized = [](const char* places, const char* rule) {
    return computed(OneNode{"Resize",
                            {{"coordinate_transformation_mode", std::string(places)}, {"nearest_mode", std::string(rule)}},
                            {reals({1, 1, 2}, {1, 2})},
                            {{"r", HostTensor(DType::f32, {0})}, {"s", reals({3}, {1, 1, 3})}}});
  };
  for (const auto& found : {resized("half_pixel", "round_prefer_floor"), resized("asymmetric", "floor")}) {
    REQUIRE(found.has_value());
    CHECK(found->at(0) == reals({1, 1, 6}, {1, 1, 1, 2, 2, 2}));
  }
  // 2/3 is rounded to 1; (1 + 0.5)/3 - 0.5 is cut off to 0 and (5 + 0.5)/3 - 0.5 to 1.
  CHECK(!resized("asymmetric", "round_prefer_floor").has_value());
  CHECK(!resized("half_pixel", "floor").has_value());
}

TEST_CASE("before opset 13 softmax is of a matrix that all axes from the stated one on make") {
  const auto y = computed(OneNode{"Softmax", {}, {reals({1, 2, 2}, {0, 0, 0, 0})}, {}, 11});
  REQUIRE(y.has_value());
  CHECK(y->at(0) == reals({1, 2, 2}, {0.25F, 0.25F, 0.25F, 0.25F}));
  check_one({"Softmax", {}, {reals({1, 2, 2}, {0, 0, 0, 0})}}, reals({1, 2, 2}, {0.5F, 0.5F, 0.5F, 0.5F}));
}

TEST_CASE("a layer with gates is its cell step by step, gates in ONNX's order") {
  // Only the input gate i and the candidate c see the input, as 0 and 1 times it: c1 = σ(0)·tanh(1), o = σ(0).
  const HostTensor x = reals({1, 1, 1}, {1}), w = reals({1, 4, 1}, {0, 0, -100, 1}), r = reals({1, 4, 1}, {0, 0, 0, 0});
  const auto y = computed(OneNode{"LSTM", {{"hidden_size", std::int64_t{1}}}, {x, w, r}, {}, 17, 3});
  REQUIRE(y.has_value());
  // The reference rounds once: f64 has digits enough to say to which number.
  const double cell = 0.5 * std::tanh(1.0);
  CHECK(y->at(2) == reals(y->at(2).dims, {static_cast<float>(cell)}));
  CHECK(y->at(1) == reals(y->at(1).dims, {static_cast<float>(0.5 * std::tanh(cell))}));
}

TEST_CASE("shapes that are computed are known, and are no steps of the program") {
  Model m{13, {}, {{"i", integers({0})}, {"m", integers({-1})}}, {declared("x", DType::f32, {})}, {{"y", 0, {}}}};
  m.inputs[0].extents = {std::string("N"), std::int64_t{6}};
  m.nodes = {{"", "Shape", "", {"x"}, {"s"}, {}}, {"", "Gather", "", {"s", "i"}, {"n"}, {}}, {"", "Mul", "", {"n", "n"}, {"q"}, {}},
             {"", "Concat", "", {"q", "m"}, {"t"}, {{"axis", std::int64_t{0}}}}, {"", "Reshape", "", {"x", "t"}, {"y"}, {}}};
  CHECK(refusals(m) == std::vector<std::string>{"model.onnx: input \"x\": the extent \"N\" is open; give it with --dim N=N"});
  ImportOptions options;
  options.dims["N"] = 2;
  const Imported imported = import_model(m, options);
  REQUIRE(imported.refused.empty());
  CHECK(imported.program.steps.size() == 1);
  CHECK(types_of(imported.program).at("y").dims == Dims{4, 3});
}

TEST_CASE("initializers are constants, or parameters with their numbers beside the program") {
  const OneNode node{"Mul", {}, {reals({2}, {1, 2})}, {{"layer/w:0", reals({2}, {3, 4})}}};
  const Imported constants = import_model(node.model(), {});
  REQUIRE(constants.refused.empty());
  CHECK(constants.parameters.empty());
  ImportOptions options;
  options.parameters = true;
  const Imported parameters = import_model(node.model(), options);
  REQUIRE(parameters.parameters.size() == 1);
  CHECK(parameters.parameters.at("layer.w.0") == reals({2}, {3, 4}));
  CHECK(spec::parse_program(to_text(parameters.program)) == parameters.program);
  const auto y = computed(node.model(), node.numbers(), options);
  REQUIRE(y.has_value());
  CHECK(y->at(0) == reals({2}, {3, 8}));
}

TEST_CASE("an output may be an input, a constant, or the same value twice") {
  Model m{17,
          {{"", "Identity", "", {"x"}, {"y"}, {}}},
          {{"c", reals({1}, {5})}},
          {declared("x", DType::f32, {1})},
          {{"y", 0, {}}, {"x", 0, {}}, {"c", 0, {}}}};
  const auto found = computed(m, {{"x", reals({1}, {7})}});
  REQUIRE(found.has_value());
  CHECK(*found == std::vector<HostTensor>{reals({1}, {7}), reals({1}, {7}), reals({1}, {5})});
}

TEST_CASE("all that is not offered is said at once, by node and operator") {
  Model m{17, {}, {}, {declared("x", DType::f32, {2})}, {{"y", 0, {}}}};
  m.nodes = {{"q3", "QLinearConv", "", {"x"}, {"a"}, {}},       {"", "Relu", "", {"a"}, {"b"}, {}},
             {"", "Relu", "", {"x"}, {"c"}, {{"slope", 1.0}}},  {"f", "Fused", "com.microsoft", {"c"}, {"d"}, {}},
             {"", "Sum", "", {"b", "d", "nothing"}, {"y"}, {}}, {"", "Loop", "", {"x"}, {"unused"}, {}}};
  CHECK(refusals(m) == std::vector<std::string>{"model.onnx: node 1 \"q3\" (QLinearConv): quantised types are not offered",
                                                "model.onnx: node 3 (Relu): attribute \"slope\" is not offered",
                                                "model.onnx: node 4 \"f\" (Fused): operators of \"com.microsoft\" are not offered",
                                                "model.onnx: \"nothing\" is made by no earlier node"});
  m.opset = 24;
  CHECK(refusals(m).front() == "model.onnx: expected version 23 of ONNX's operators or an older one, found 24");
}

TEST_CASE("an operand that must be known may be given") {
  const OneNode node{"Reshape", {}, {reals({2}, {1, 2}), integers(two_one)}};
  CHECK(refusals(node.model()).size() == 1);
  ImportOptions options;
  options.known["x1"] = integers(two_one);
  const Imported imported = import_model(node.model(), options);
  REQUIRE(imported.refused.empty());
  CHECK(imported.inputs.size() == 1);  // the shape is none
  options.known["x2"] = integers(two_one);
  CHECK(import_model(node.model(), options).refused == std::vector<std::string>{"model.onnx: there is no input \"x2\" to be known"});
}

TEST_CASE("the numbers of an input that is known are the program's, wherever they are read") {
  const OneNode node{"Gather", {}, {reals({3}, {10, 20, 30}), integers({0})}};
  ImportOptions options;
  options.known["x1"] = integers({0});
  const Imported imported = import_model(node.model(), options);
  REQUIRE(imported.refused.empty());
  CHECK(imported.inputs == std::map<std::string, std::string>{{"x0", "x0"}});
  const auto y = computed(node.model(), {{"x0", reals({3}, {10, 20, 30})}}, options);
  REQUIRE(y.has_value());
  CHECK(y->at(0) == reals({1}, {10}));
}

TEST_CASE("numbers that are known must be as the model declares its input, and initializers are none") {
  OneNode node{"Gather", {}, {reals({3}, {10, 20, 30}), integers({0, 1})}};
  Model m = node.model();
  const auto known = [&](const HostTensor& numbers) {
    ImportOptions options;
    options.known["x1"] = numbers;
    options.dims["N"] = 2;
    return refusals(m, options);
  };
  CHECK(known(integers({2, 2})).empty());
  CHECK(known(HostTensor::of<std::int32_t>({2}, {0, 0})) ==
        std::vector<std::string>{"model.onnx: input \"x1\": int64 is declared, and the numbers that are known are int32"});
  const std::vector<std::string> extent{"model.onnx: input \"x1\": the extent 2 is declared, and the numbers that are known have 1"};
  CHECK(known(integers({0})) == extent);
  m.inputs[1].extents = {std::string("N")};
  CHECK(known(integers({0})) == extent);
  CHECK(known(integers({0, 0})).empty());
  m.inputs[1].extents = {std::string("M")};
  CHECK(known(integers({0})).empty());
  CHECK(known(HostTensor::of<std::int64_t>({}, {0})) ==
        std::vector<std::string>{"model.onnx: input \"x1\": 1 axes are declared, and the numbers that are known have 0"});
  m.inputs.pop_back();
  m.initializers["x1"] = integers({0});
  CHECK(known(integers({1})) == std::vector<std::string>{"model.onnx: there is no input \"x1\" to be known"});
}

TEST_CASE("only the outputs that are asked, and what leads to them, are looked at") {
  Model m{17,
          {{"", "Relu", "", {"x"}, {"y"}, {}}, {"", "NonZero", "", {"x"}, {"z"}, {}}},
          {},
          {declared("x", DType::f32, {2})},
          {{"y", 0, {}}, {"z", 0, {}}}};
  CHECK(refusals(m) == std::vector<std::string>{"model.onnx: node 2 (NonZero): shapes that depend on data are not offered"});
  ImportOptions options;
  options.outputs = {"y"};
  CHECK(refusals(m, options).empty());
}
