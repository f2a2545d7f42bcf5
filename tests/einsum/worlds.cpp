// Specifications at compile time, in traced programs, in the text and in the JSON form of programs.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "reference/defined.hpp"
#include "reference/host.hpp"
#include "reference/tensor.hpp"
#include "reference/typed_call.hpp"
#include "spec/einsum/einsum.hpp"
#include "spec/error.hpp"
#include "spec/library/elementwise.hpp"
#include "spec/library/einsum.hpp"
#include "spec/program/program.hpp"
#include "spec/program/trace.hpp"
#include "spec/protocol/json.hpp"

namespace etalon {
namespace {

using reference::Tensor;

template <class S>
void equal(const Tensor<double, S>& got, const Tensor<double, S>& want) {
  CHECK(got.array().real == want.array().real);
}

TEST_CASE("a specification at compile time gives an operation on typed tensors") {
  const Tensor<double, Shape<2, 3>> a({1, 2, 3, 4, 5, 6});
  const Tensor<double, Shape<3, 2>> b({1, 0, 0, 1, 1, 1});
  const Tensor<double, Shape<2, 2>> y = ops::einsum<"ij,jk->ik">(a, b);
  equal(y, Tensor<double, Shape<2, 2>>({4, 5, 10, 11}));
  const Tensor<double, Shape<2, 2>> most = ops::einsum<"ij;jk=>ik", "max_plus">(a, b);
  equal(most, Tensor<double, Shape<2, 2>>({4, 4, 7, 7}));
  const Tensor<double, Shape<3>> window = ops::einsum<"o<+k; k=>o">(Tensor<double, Shape<4>>({1, 2, 3, 4}), Tensor<double, Shape<2>>({1, 10}));
  equal(window, Tensor<double, Shape<3>>({21, 32, 43}));
  static_assert(spec::translate_einsum("ij,jk->ik").text.view() == spec::EinsumText<"ij,jk->ik", "sum_product", "">::text);
}

TEST_CASE("a specification becomes a step of a traced program") {
  const auto interleave = [](const auto& even, const auto& odd) {
    return ops::add(ops::einsum<"i=>2*i">(even), ops::einsum<"i=>2*i+1">(odd));
  };
  const spec::Program program = trace<double, Shape<3>, Shape<3>>(interleave);
  CHECK(program.definitions.size() == 2);
  CHECK(spec::parse_program(spec::to_text(program)) == program);
  CHECK(spec::types_of(program).at(program.outputs[0]).dims == Dims{6});
  const Tensor<double, Shape<6>> y = interleave(Tensor<double, Shape<3>>({1, 2, 3}), Tensor<double, Shape<3>>({4, 5, 6}));
  equal(y, Tensor<double, Shape<6>>({1, 4, 2, 5, 3, 6}));

  Tracer tracer;
  const Traced x = tracer.input("x", DType::f32, Dims{2, 3});
  const auto [rows, extent] = einsum<2>("ij=>i", {"sum_product", "j"})(x);
  CHECK(rows.dims() == Dims{2});
  CHECK(extent.type() == spec::ValueType{DType::i64, {}});
}

TEST_CASE("calls of einsum in a program become definitions of its own") {
  const std::string text =
      "input a : f32[2, 3]\ninput b : f32[3, 2]\n"
      "y = einsum(a, b) {spec = \"ij,jk->ik\"}\nz = einsum(y, y) {spec = \"ij,jk->ik\"}\n"
      "w, n = einsum(z) {spec = \"ij=>i\", semiring = \"max_plus\", captures = \"j\"}\noutput w, n\n";
  const spec::Program program = spec::parse_program(text);
  CHECK(program.definitions.size() == 2);
  CHECK(spec::types_of(program).at("w").dims == Dims{2});
  CHECK(spec::parse_program(spec::to_text(program)) == program);
  auto json = spec::program_to_json(program);
  CHECK(spec::program_from_json(json, "program") == program);
  json.erase("definitions");
  json["calls"][0]["operation"] = "einsum";
  json["calls"][0]["attributes"]["spec"] = "ij,jk->ik";
  CHECK(spec::program_from_json(json, "program").definitions == std::vector{program.definitions[0]});
  CHECK_THROWS_WITH(spec::parse_program("input a : f32[2]\n y = einsum(a) {spec = \"i,->\"\n"), Catch::Contains("line 2"));
  CHECK_THROWS_WITH(spec::parse_program("input a : f32[2]\ny = einsum(a) {spec = \"i=>;\"}\n"),
                    "program: line 2, column 5: einsum: expected the end of the specification, found ';' (at 1:4)");
  CHECK_THROWS_WITH(spec::parse_program("input a : f32[2]\ny = einsum(a) {spec = 3}\n"),
                    Catch::Contains("einsum: attribute spec is a text in quotes"));
}

TEST_CASE("typing speaks of the specification's names") {
  const HostTensor a(DType::f64, Dims{2, 3});
  CHECK_THROWS_WITH(einsum("ij,jk->ik")(a, a), Catch::Contains("n_j is 3 in x1, 2 in x2"));
  CHECK_THROWS_WITH(einsum("i=>i,2*j")(HostTensor(DType::f64, Dims{2})), Catch::Contains("n_j"));
  CHECK_THROWS_WITH(einsum("4i=>i")(a), Catch::Contains("requires 4 < s1_1"));
  CHECK_THROWS_WITH(einsum("o<+k; k=>o")(HostTensor(DType::f64, Dims{2}), HostTensor(DType::f64, Dims{4})), Catch::Contains("requires n_o >= 0"));
}

}  // namespace
}  // namespace etalon
