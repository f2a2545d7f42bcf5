#include <catch2/catch.hpp>

#include "spec/contract/contract.hpp"
#include "spec/error.hpp"

namespace etalon::spec {

TEST_CASE("a contract reads back as it was written", "[contract]") {
  Contract c;
  c.name = "odd";
  c.functions[DType::f32][Primitive::exp] = {2, 0.25, 1e-7, true};
  c.functions[DType::f64][Primitive::pow] = {3, 0, 0, false};
  c.default_function = {4, 0, 0, false};
  c.sum_block = 128;
  c.flush_results = c.flush_operands = c.reciprocal_division = true;
  c.product_operand_precision = 11;
  c.ties = TiePolicy::even;
  CHECK(parse_contract(to_json(c)) == c);
  CHECK(parse_contract("{}") == Contract{});
  CHECK(parse_contract(to_json(Contract{})) == Contract{});
}

TEST_CASE("the shipped profiles promise what they should", "[contract]") {
  CHECK(contract_named("ieee") == Contract{});
  const Contract cpu = contract_named("cpu");
  CHECK(function_bound(cpu, DType::f32, Primitive::exp).k0 == 1.0);
  CHECK(function_bound(cpu, DType::f64, Primitive::sqrt).k0 == 0.5);
  CHECK(function_bound(Contract{}, DType::f32, Primitive::sqrt).k0 == 0.5);
  CHECK(function_bound(Contract{}, DType::f32, Primitive::tanh).k0 == 1.0);
  CHECK_THROWS_WITH(contract_named("cpus"), Catch::Contains("nearest is 'cpu'"));
}

TEST_CASE("a contract that is not one is refused in one line", "[contract]") {
  CHECK_THROWS_WITH(parse_contract(R"({"sum_blok": 4})"), "contract: unknown key 'sum_blok', nearest is 'sum_block'");
  CHECK_THROWS_WITH(parse_contract(R"({"functions": {"f32": {"exq": {}}}})"),
                    "functions.f32: unknown key 'exq', nearest is 'exp'");
  CHECK_THROWS_WITH(parse_contract(R"({"functions": {"i32": {}}})"), Catch::Contains("unknown key 'i32'"));
  CHECK_THROWS_WITH(parse_contract(R"({"default_function": {"k": 1}})"), Catch::Contains("nearest is 'k0'"));
  CHECK_THROWS_WITH(parse_contract(R"({"flush_results": 1})"), "contract: flush_results must be true or false, found 1");
  CHECK_THROWS_WITH(parse_contract(R"({"default_function": {"k0": 0.25}})"), Catch::Contains("at least 0.5"));
  CHECK_THROWS_WITH(parse_contract(R"({"ties": "middle"})"), Catch::Contains("first, last or even"));
  CHECK_THROWS_WITH(parse_contract(R"({"sum_block": 0})"), Catch::Contains("an integer in"));
  CHECK_THROWS_AS(parse_contract("[]"), SpecViolation);
  CHECK_THROWS_WITH(parse_contract("{"), "contract: malformed JSON");
}

}  // namespace etalon::spec
