#include "spec/contract/contract.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "spec/contract/fields.hpp"
#include "spec/error.hpp"

namespace etalon::spec {
namespace {

using nlohmann::json;

std::vector<std::string> errors(const json& j) { return contract_errors(j.dump()); }

/// A value of the shape, by the schema's own words.
json drawn(const json& schema, std::mt19937& random) {
  if (!schema.contains("type")) return "anything";
  if (schema["type"].is_array() && random() % 3 == 0) return nullptr;
  const std::string type = schema["type"].is_array() ? schema["type"][0] : schema["type"];
  if (type == "boolean") return random() % 2 == 0;
  if (type == "string") return schema.contains("enum") ? json(schema["enum"][random() % schema["enum"].size()]) : json("text");
  if (type == "integer") {
    const auto low = schema["minimum"].get<std::int64_t>(), high = schema["maximum"].get<std::int64_t>();
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  }
  if (type == "number") return schema["minimum"].get<double>() + static_cast<double>(random() % 1000) / 8;
  json object = json::object();
  for (const auto& [key, inner] : schema["properties"].items()) {
    if (random() % 3 != 0) object[key] = drawn(inner, random);
  }
  return object;
}

/// Every leaf of the schema that constrains anything: its path and a value just outside.
void outside(const json& schema, const json::json_pointer& at, std::vector<std::pair<json::json_pointer, json>>& wrong) {
  if (!schema.contains("type")) return;
  const std::string type = schema["type"].is_array() ? schema["type"][0] : schema["type"];
  if (type == "boolean") wrong.emplace_back(at, 1);
  if (type == "string") wrong.emplace_back(at, schema.contains("enum") ? json("neither") : json(1));
  if (type == "integer") {
    wrong.emplace_back(at, schema["minimum"].get<std::int64_t>() - 1);
    wrong.emplace_back(at, schema["maximum"].get<std::int64_t>() + 1);
    wrong.emplace_back(at, 2.5);
  }
  if (type == "number") wrong.emplace_back(at, schema["minimum"].get<double>() - 0.01);
  if (type != "object") return;
  wrong.emplace_back(at / "no_such_key", 1);
  if (!at.empty()) wrong.emplace_back(at, json::array());
  for (const auto& [key, inner] : schema["properties"].items()) outside(inner, at / key, wrong);
}

}  // namespace

TEST_CASE("a contract reads back as it was written", "[contract]") {
  Contract c;
  c.name = "odd";
  c.functions[DType::f32][Primitive::exp] = {2, 0.25, 1e-7, true};
  c.functions[DType::f32][Primitive::div] = {2.5, 0, 0, false};
  c.functions[DType::f64][Primitive::pow] = {3, 0, 0, false};
  c.functions[DType::bf16][Primitive::exp2] = {101, 0, 0, false};
  c.default_function = {4, 0, 0, false};
  c.sums = {128, 4};
  c.contractions = {std::nullopt, 16};
  c.accumulation = RoundingMode::toward_zero;
  c.halves[DType::f16] = {true, false};
  c.halves[DType::bf16] = {false, true};
  c.flush_results = c.flush_operands = c.reciprocal_division = true;
  c.product_operand_precision = 11;
  c.product_operand_rounding = RoundingMode::toward_zero;
  c.ties = TiePolicy::even;
  c.nan_of_extrema = NanPolicy::propagate;
  CHECK(parse_contract(to_json(c)) == c);
  CHECK(parse_contract("{}") == Contract{});
  CHECK(parse_contract(to_json(Contract{})) == Contract{});
  CHECK(parse_contract(R"({"about": "by hand", "measured": {"points": [1, 2]}})") == Contract{});
}

TEST_CASE("the shipped profiles promise what they should", "[contract]") {
  CHECK(contract_names() == std::vector<std::string>{"bf16-storage-f32-accumulate", "cpu-bf16", "cpu-c", "cpu", "cuda-bf16", "cuda-default", "cuda",
                                                     "f16-storage-f32-accumulate",
                                                     "fast-math", "ieee-f32", "ieee-f64", "ieee", "tf32-matmul"});
  CHECK(contract_named("ieee") == Contract{});
  const Contract cpu = contract_named("cpu");
  CHECK(function_bound(cpu, DType::f32, Primitive::exp).k0 <= 1.0);
  CHECK(function_bound(cpu, DType::f64, Primitive::sqrt).k0 == 0.5);
  CHECK(function_bound(Contract{}, DType::f32, Primitive::sqrt).k0 == 0.5);
  CHECK(function_bound(Contract{}, DType::f32, Primitive::div).k0 == 0.5);
  CHECK(function_bound(Contract{}, DType::f32, Primitive::tanh).k0 == 1.0);
  // The CUDA guide counts 2 from the correctly rounded result.
  CHECK(function_bound(contract_named("cuda-default"), DType::f32, Primitive::exp).k0 == 2.5);
  CHECK(function_bound(contract_named("cuda-default"), DType::f64, Primitive::sqrt).k0 == 0.5);
  CHECK(contract_named("tf32-matmul").product_operand_precision == 11);
  CHECK(contract_named("fast-math").flush_operands);
  CHECK_THROWS_WITH(contract_named("cpus"), "unknown contract 'cpus'; did you mean 'cpu'?");
  for (const std::string& name : contract_names()) {
    INFO(name);
    CHECK(contract_named(name).name == name);
    CHECK(contract_errors(contract_text(name)).empty());
    CHECK(promises_of(contract_named(name)).size() >= 6);
    CHECK(json::parse(contract_text(name)).contains("about"));
  }
}

TEST_CASE("a contract that is not one is refused, a line for each error", "[contract]") {
  const auto only = [](const char* text) {
    const auto found = contract_errors(text);
    REQUIRE(found.size() == 1);
    CHECK_THROWS_WITH(parse_contract(text), found[0]);
    return found[0];
  };
  CHECK(only(R"({"flush_result": true})") == "contract: unknown key 'flush_result'; did you mean 'flush_results'?");
  CHECK(only(R"({"functions": {"f32": {"exq": {}}}})") == "contract.functions.f32: unknown key 'exq'; did you mean 'exp'?");
  CHECK(only(R"({"functions": {"i32": {}}})") == "contract.functions: unknown key 'i32'; did you mean 'f32'?");
  CHECK(only(R"({"functions": {"f32": {"div": {"k1": 1}}}})") == "contract.functions.f32.div: unknown key 'k1'; did you mean 'k0'?");
  CHECK(only(R"({"flush_results": 1})") == "contract.flush_results: expected true or false, found 1");
  CHECK(only(R"({"default_function": {"k0": 0.25}})") == "contract.default_function.k0: expected a number >= 0.5, found 0.25");
  CHECK(only(R"({"ties": "lats"})") == R"(contract.ties: expected "first", "last" or "even", found "lats"; did you mean "last"?)");
  CHECK(only(R"({"like": "cpu-bf61"})").ends_with("did you mean \"cpu-bf16\"?"));
  CHECK(only(R"({"sums": {"lanes": 0}})") == "contract.sums.lanes: expected an integer in 1..1048576, found 0");
  CHECK(only(R"({"sums": []})") == "contract.sums: expected an object, found a list");
  CHECK(only("[]") == "contract: expected an object, found a list");
  CHECK(only("{\n  \"name\": }") == "contract: malformed JSON at line 2, column 11: unexpected '}'; expected '[', '{', or a literal");
  CHECK(only(R"({"ties": "first", "ties": "last"})") == "contract: the key 'ties' stands twice in one object");
  CHECK(contract_errors(R"({"name": 1, "ties": 2, "sums": {"block": 0}})").size() == 3);
}

TEST_CASE("schema and parser agree", "[contract]") {
  const json schema = json::parse(contract_schema());
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const json j = drawn(schema, random);
    INFO(j.dump());
    REQUIRE(errors(j).empty());
    const Contract c = parse_contract(j.dump());
    CHECK(parse_contract(to_json(c)) == c);
  }
  std::vector<std::pair<json::json_pointer, json>> wrong;
  outside(schema, json::json_pointer(), wrong);
  CHECK(wrong.size() > 300);
  for (const auto& [at, value] : wrong) {
    json j = json::object();
    j[at] = value;
    INFO(j.dump());
    CHECK(errors(j).size() == 1);
  }
  std::ifstream published(ETALON_SOURCE_DIR "/docs/contract.schema.json");
  CHECK(std::string(std::istreambuf_iterator<char>(published), {}) == contract_schema());
}

TEST_CASE("a contract that is like another says only what differs", "[contract]") {
  Contract expected = contract_named("cuda");
  expected.name = "mine";
  expected.sums.block.reset();
  expected.functions[DType::f32][Primitive::exp] = {.k0 = 7};
  const std::string own = R"("name": "mine", "sums": {"block": null}, "functions": {"f32": {"exp": {"k0": 7}}})";
  CHECK(parse_contract("{" + own + R"(, "like": "cuda"})") == expected);
  CHECK(parse_contract(R"({"like": "cuda"})").name == "like cuda");
  CHECK(contract_on(contract_named("cuda"), "{" + own + R"(, "like": "cpu"})") == expected);
  CHECK_FALSE(parse_contract("{" + own + "}") == expected);
  CHECK(contract_named("cuda-bf16").functions == contract_named("cuda").functions);
  CHECK(contract_named("cuda-bf16").product_operand_precision == 8);
}

TEST_CASE("every field of a contract is written, and each changes what is read", "[contract]") {
  // A field that the writer or the reader forgot would make two different contracts equal.
  const json defaults = json::parse(to_json(Contract{}));
  for (const Shape& f : contract_shape().fields) {
    if (f.key == "about" || f.key == "like" || f.key == "measured") continue;
    INFO(f.key);
    CHECK(defaults.contains(f.key));
  }
  const char* others[] = {R"({"name": "x"})", R"({"functions": {"f32": {"exp": {"k0": 2}}}})", R"({"default_function": {"k0": 2}})",
                          R"({"sums": {"block": 8}})", R"({"sums": {"lanes": 8}})", R"({"contractions": {"block": 8}})",
                          R"({"contractions": {"lanes": 8}})", R"({"accumulation": "toward_zero"})",
                          R"({"halves": {"f16": {"temporaries": "f16"}}})", R"({"halves": {"bf16": {"accumulators": "bf16"}}})",
                          R"({"flush_results": true})", R"({"flush_operands": true})", R"({"reciprocal_division": true})",
                          R"({"product_operand_precision": 8})", R"({"product_operand_rounding": "toward_zero"})",
                          R"({"ties": "even"})", R"({"nan_of_extrema": "ignore"})"};
  std::vector<Contract> contracts{Contract{}};
  for (const char* text : others) contracts.push_back(parse_contract(text));
  for (std::size_t i = 0; i < contracts.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(contracts[i] == contracts[j]);
  }
}

TEST_CASE("the height of a declared tree is that of the tree", "[contract]") {
  // Blocks in sequence, joined pairwise, in lanes joined pairwise: built node by node.
  const auto joined = [](std::vector<std::int64_t> heights) {
    while (heights.size() > 1) {
      std::vector<std::int64_t> next;
      for (std::size_t i = 0; i + 1 < heights.size(); i += 2) next.push_back(1 + std::max(heights[i], heights[i + 1]));
      if (heights.size() % 2 == 1) next.push_back(heights.back());
      heights = next;
    }
    return heights.empty() ? 0 : heights[0];
  };
  for (const std::int64_t lanes : {1, 2, 5, 16}) {
    for (const std::int64_t block : {1, 3, 8}) {
      for (std::int64_t n = 1; n < 200; ++n) {
        std::vector<std::int64_t> lane_heights;
        for (std::int64_t l = 0; l < lanes && l < n; ++l) {
          const std::int64_t own = (n - l + lanes - 1) / lanes;
          std::vector<std::int64_t> blocks;
          for (std::int64_t first = 0; first < own; first += block) blocks.push_back(std::min(block, own - first) - 1);
          lane_heights.push_back(joined(blocks));
        }
        const std::int64_t built = joined(lane_heights);
        INFO("lanes " << lanes << ", block " << block << ", n " << n);
        CHECK(built <= SumTree{block, lanes}.height(n));
        CHECK(SumTree{block, lanes}.height(n) <= built + 2);
      }
    }
  }
  CHECK(SumTree{}.height(100) == 99);
  CHECK(SumTree{std::nullopt, 4}.height(100) == 26);
}

}  // namespace etalon::spec
