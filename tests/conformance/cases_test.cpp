// What is drawn beside single calls on dense tensors: subsets of operands, second derivatives, layouts, sizes. Programs have files of
// their own.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/case_file.hpp"
#include "conformance/plan.hpp"
#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"
#include "spec/library/library.hpp"
#include "spec/protocol/message.hpp"
#include "tests/conformance/drawn_case.hpp"

using namespace etalon;
using conformance::Case;
using conformance::Check;
using conformance::ConformOptions;
using conformance::Tier;
using conformance_test::drawn;

namespace {

std::set<Check> checks_in(Tier tier) {
  ConformOptions options;
  options.tier = tier;
  options.operations = {"adam"};
  std::set<Check> checks;
  for (const conformance::Unit& unit : conformance::plan(options)) checks.insert(unit.check);
  return checks;
}

std::int64_t largest_tensor(const Case& c) {
  std::int64_t most = 0;
  for (const auto& t : c.operands) most = std::max(most, t ? t->dims.count() : 0);
  for (const auto& type : conformance::instance_of(c).results) most = std::max(most, type.dims.count());
  return most;
}

}  // namespace

TEST_CASE("every tier asks for every check, the large ones from the full tier on", "[cases]") {
  CHECK(checks_in(Tier::quick).size() == conformance::check_count - 1);
  CHECK(!checks_in(Tier::quick).contains(Check::large));
  CHECK(checks_in(Tier::full).size() == conformance::check_count);
  CHECK(checks_in(Tier::soak).size() == conformance::check_count);
}

TEST_CASE("a backend is not asked for what its description rules out", "[cases]") {
  spec::Description d;
  d.modes = {spec::Mode::forward};
  d.dtypes = {DType::f32};
  d.operations = {"mul"};
  d.rejects = false;
  ConformOptions options;
  options.operations = {"mul", "exp"};
  const auto units = conformance::plan(options);
  const auto few = conformance::offered(units, d);
  std::set<Check> asked;
  for (const conformance::Unit& unit : few) {
    CHECK(unit.operation == "mul");
    CHECK(unit.dtype == DType::f32);
    asked.insert(unit.check);
  }
  CHECK(asked == std::set<Check>{Check::value, Check::special, Check::determinism, Check::program});
  d.modes = {spec::Mode::forward, spec::Mode::jvp, spec::Mode::vjp, spec::Mode::jvp_of_vjp};
  d.dtypes = {DType::f32, DType::f64};
  d.layouts = true;
  d.rejects = true;
  d.operations.reset();
  CHECK(!units.empty());
  CHECK(conformance::offered(units, d).size() == units.size());
}

TEST_CASE("derivatives are taken by every subset of the operands, and never by none", "[cases]") {
  for (const Check check : {Check::jvp, Check::vjp, Check::second}) {
    std::set<std::vector<bool>> met;
    for (std::uint64_t i = 0; i < 1200; i += 4) {  // another instance each
      const auto c = drawn("fma", check, i);
      REQUIRE(c);
      met.insert(c->wrt);
      const spec::Request request = request_of(*c);
      for (std::size_t k = 0; k < c->wrt.size(); ++k) {
        if (check != Check::vjp) CHECK((c->wrt[k] || !request.tangents[k]));
      }
    }
    CHECK(met.size() == 7);  // of three operands
    CHECK(!met.contains({false, false, false}));
  }
}

TEST_CASE("a second derivative moves operands and cotangents", "[cases]") {
  std::size_t asked = 0, moving = 0;
  for (const char* operation : {"mul", "softmax", "matmul", "lstm_cell"}) {
    for (std::uint64_t i = 0; i < 6; ++i) {
      const auto c = drawn(operation, Check::second, i);
      REQUIRE(c);
      const spec::Request request = request_of(*c);
      CHECK(request.mode == spec::Mode::jvp_of_vjp);
      CHECK(request.cotangents.size() == request.program.outputs.size());
      CHECK(request.cotangent_tangents.size() == request.program.outputs.size());
      moving += request.cotangent_tangents != request.cotangents ? 1 : 0;
      const Case back = conformance::case_from_json(conformance::to_json(*c));
      CHECK(spec::encode(request_of(back)) == spec::encode(request));
      ++asked;
    }
  }
  CHECK(asked == 24);
  CHECK(moving > 12);  // some are empty
  CHECK(!drawn("argmax", Check::second, 0));
}

TEST_CASE("the first layouts are of all kinds and leave the tensors what they are", "[cases]") {
  std::set<std::string> kinds;
  for (const char* operation : {"mul", "matmul", "concat", "gather", "softmax"}) {
    for (std::uint64_t i = 0; i < 15; ++i) {
      const auto c = drawn(operation, Check::layout, i);
      REQUIRE(c);
      const spec::Request request = request_of(*c);
      const spec::Request back = spec::decode_request(spec::encode(request));
      CHECK(back.inputs == request.inputs);
      CHECK(back.tangents == request.tangents);
      CHECK(back.cotangents == request.cotangents);
      CHECK(spec::encode(back) == spec::encode(request));
      for (const auto* places : {&request.placements.inputs, &request.placements.tangents, &request.placements.cotangents}) {
        for (const auto& p : *places) {
          if (!p) continue;
          for (std::size_t axis = 0; axis < p->strides.size(); ++axis) {
            if (p->strides[axis] < 0) kinds.insert("reversed");
            if (p->strides[axis] == 0) kinds.insert("expanded");
            if (axis > 0 && p->strides[axis] > p->strides[axis - 1] && p->strides[axis - 1] > 0) kinds.insert("transposed");
            const std::int64_t extent = request.inputs[0].dims.rank > axis ? request.inputs[0].dims[axis] : 0;
            if (places == &request.placements.inputs && p == places->front() && axis > 0 && p->strides[axis] == 1 && axis + 1 == p->strides.size() && p->strides[axis - 1] > extent && extent > 1) kinds.insert("padded");
          }
          if (!p->strides.empty() && p->strides.back() > 1) kinds.insert("strided");
          if (p->offset > 0) kinds.insert("offset");
        }
      }
      const Case read = conformance::case_from_json(conformance::to_json(*c));
      CHECK(spec::encode(request_of(read)) == spec::encode(request));
    }
  }
  CHECK(kinds.size() == conformance::unusual_count);
}

TEST_CASE("layouts are drawn for tangents and cotangents too, in unlike modes for both element types", "[cases]") {
  std::size_t tangents = 0, cotangents = 0, unlike = 0;
  for (std::uint64_t i = 0; i < 15; ++i) {
    const auto c = drawn("mul", Check::layout, i), other = drawn("mul", Check::layout, i, DType::f64);
    REQUIRE(c);
    REQUIRE(other);
    for (const auto& one : {*c, *other}) {
      for (const auto& p : request_of(one).placements.tangents) tangents += p ? 1 : 0;
      for (const auto& p : request_of(one).placements.cotangents) cotangents += p ? 1 : 0;
    }
    unlike += c->mode != other->mode;
  }
  CHECK(tangents >= 6);
  CHECK(cotangents >= 5);
  CHECK(unlike >= 12);  // where nothing is differentiable both are forward
}

TEST_CASE("axes of one element have strides that nobody needs", "[cases]") {
  std::set<std::int64_t> strides;
  for (unsigned seed = 0; seed < 40; ++seed) {
    conformance::Draw draw(seed);
    const conformance::Arrangement a = conformance::draw_arrangement(draw, conformance::Unusual::offset, Dims{1, 3});
    const spec::Placement p = conformance::placement_of(a, HostTensor::of<float>({1, 3}, {1, 2, 3}));
    CHECK(spec::read_placed(spec::buffer_of(HostTensor::of<float>({1, 3}, {1, 2, 3}), p).bytes, p, DType::f32, Dims{1, 3}) == HostTensor::of<float>({1, 3}, {1, 2, 3}));
    strides.insert(p.strides[0]);
  }
  CHECK(strides.size() >= 4);
}

TEST_CASE("an arrangement fits smaller tensors, and expands only what is constant", "[cases]") {
  const conformance::Arrangement a{{1, 0}, {0, -2}, 1, 2};
  HostTensor t = HostTensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(conformance::placement_of(a, t) == spec::Placement{{1, -4}, 9, 15});
  conformance::repeat_where_expanded(t, a);
  CHECK(t == HostTensor::of<float>({2, 3}, {1, 2, 3, 1, 2, 3}));
  CHECK(conformance::placement_of(a, t) == spec::Placement{{0, -2}, 5, 9});
  CHECK(conformance::placement_of(a, HostTensor::of<float>({1}, {1})) == spec::Placement{{0}, 1, 4});
  CHECK(conformance::placement_of(a, HostTensor(DType::f32, Dims{})) == spec::Placement{{}, 1, 4});
}

TEST_CASE("of several seeds one is left out now and then, and never all", "[cases]") {
  for (const Check check : {Check::jvp, Check::vjp, Check::second}) {
    std::size_t complete = 0, without = 0;
    for (std::uint64_t i = 0; i < 400; ++i) {
      const auto c = drawn(check == Check::vjp ? "batch_norm" : "fma", check, i);
      if (!c) continue;
      std::size_t wanted = 0, given = 0;
      const auto count = [&](const std::vector<std::optional<HostTensor>>& seeds, std::size_t of) {
        wanted += of;
        for (const auto& seed : seeds) given += seed ? 1 : 0;
      };
      const auto marked = static_cast<std::size_t>(std::count(c->wrt.begin(), c->wrt.end(), true));
      if (check != Check::vjp) count(c->tangents, marked);
      if (check != Check::jvp) count(c->cotangents, conformance::result_types(*c).size());
      if (check == Check::second) count(c->cotangent_tangents, conformance::result_types(*c).size());
      CHECK(given > 0);
      CHECK(given + 1 >= wanted);
      (given < wanted ? without : complete) += 1;
    }
    CHECK(without >= 10);
    CHECK(complete > without);
  }
}

TEST_CASE("what only moves elements is known by form", "[cases]") {
  for (const char* move : {"transpose", "slice", "flip", "concat", "gather", "reshape", "triu"})
    CHECK(std::pair(std::string(move), conformance::is_move(spec::definition_named(move))) == std::pair(std::string(move), true));
  for (const char* other : {"exp", "relu", "matmul", "where", "max", "one_hot", "softmax", "zeros"})
    CHECK_FALSE(conformance::is_move(spec::definition_named(other)));
}

TEST_CASE("an operand can be given its extents", "[cases]") {
  std::size_t fitting = 0;
  for (const char* operation : {"exp", "mul", "matmul", "softmax", "transpose", "conv2d", "layer_norm", "slice", "sum", "linear"}) {
    const spec::Definition& d = spec::definition_named(operation);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      conformance::Draw draw(seed);
      const conformance::Fit fit{0, {2, 3, 4}};
      const auto assignment = conformance::draw_assignment(d, draw, {.elements = 24, .fit = fit}, DType::f32);
      if (!assignment) continue;
      const auto call = conformance::call_of(d, *assignment, DType::f32);
      REQUIRE(call);
      if (call->operands[0] && call->operands[0]->dims == Dims{2, 3, 4}) ++fitting;
    }
  }
  CHECK(fitting >= 70);
}

TEST_CASE("large cases are large and tensors without elements are among second derivatives and layouts", "[cases]") {
  for (const char* operation : {"add", "softmax", "sum", "max"}) {
    const auto c = drawn(operation, Check::large, 0);
    REQUIRE(c);
    INFO(operation);
    CHECK(largest_tensor(*c) >= 2000);
  }
  const auto meets_empty = [](Check check, std::uint64_t cases) {
    for (std::uint64_t i = 0; i < cases; ++i) {
      const auto c = drawn("mul", check, i);
      if (c && std::count(c->classes.begin(), c->classes.end(), "empty") == 1) return true;
    }
    return false;
  };
  for (const Check check : {Check::value, Check::jvp, Check::vjp}) CHECK(meets_empty(check, 21));
  CHECK(meets_empty(Check::layout, 5));
  CHECK(meets_empty(Check::second, 24));
}
