// What compilers, caches and memory take for something else: drawn for every definition of a form.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "conformance/attribute_levels.hpp"
#include "conformance/case.hpp"
#include "conformance/program_case.hpp"
#include "conformance/signature.hpp"
#include "conformance/values.hpp"
#include "spec/library/library.hpp"
#include "spec/program/analysis.hpp"
#include "tests/conformance/drawn_case.hpp"

using namespace etalon;
using conformance::Case;
using conformance::Check;
using conformance_test::drawn;

namespace {

constexpr std::uint64_t of_quick = 8;

/// The programs that the quick tier asks about an operation.
std::vector<Case> programs_about(const std::string& operation) {
  std::vector<Case> cases;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (std::uint64_t i = 0; i < of_quick; ++i) {
      if (auto c = drawn(operation, Check::program, i, dtype)) cases.push_back(std::move(*c));
    }
  }
  return cases;
}

const spec::Call& call_at(const spec::Program& program, std::size_t k) { return std::get<spec::Call>(program.steps[k]); }

const spec::Call* maker_of(const spec::Program& program, const std::optional<std::string>& value) {
  for (std::size_t k = 0; k < program.steps.size() && value; ++k) {
    const auto& results = call_at(program, k).results;
    if (std::find(results.begin(), results.end(), *value) != results.end()) return &call_at(program, k);
  }
  return nullptr;
}

bool is_output(const spec::Program& program, const std::string& name) {
  return std::find(program.outputs.begin(), program.outputs.end(), name) != program.outputs.end();
}

bool have_one_sign(const HostTensor& t, double sign) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
    const double x = conformance::element(t, i);
    if (!std::isnan(x) && std::signbit(x) != (sign < 0)) return false;
  }
  return t.dims.count() > 0;
}

}  // namespace

TEST_CASE("extrema are asked about rows beyond 0 throughout, long ones among them", "[parts]") {
  std::int64_t longest = 0;
  std::size_t all = 0;
  for (const auto& [operation, sign] : {std::pair{"max", -1.0}, std::pair{"argmax", -1.0}, std::pair{"min", 1.0}, std::pair{"max_pool1d", -1.0}}) {
    std::size_t asked = 0;
    for (std::uint64_t i = 2; i < 21; i += 4) {
      const auto c = drawn(operation, Check::value, i);
      if (!c || kind_of(c->operands[0]->dtype) != Kind::real || c->operands[0]->dims.count() == 0) continue;
      const std::int64_t taken = instance_of(*c).results[0].dims.count();
      if (taken == 0 || taken == c->operands[0]->dims.count()) continue;  // of no elements and of single ones none is taken
      INFO(operation << " " << i);
      CHECK(have_one_sign(*c->operands[0], sign));
      ++asked;
      for (const std::int64_t extent : c->operands[0]->dims) longest = std::max(longest, extent);
    }
    CHECK(asked >= 1);
    all += asked;
  }
  CHECK(all >= 10);
  CHECK(longest > 16);
}

TEST_CASE("what fills is infinite at some levels", "[parts]") {
  const spec::Definition& d = spec::definition_named("pad");
  std::set<double> infinite;
  for (std::size_t i = 0; i < d.attribute_count; ++i) {
    for (const auto& level : conformance::levels_of(d, d.attributes[i])) {
      if (const auto* x = std::get_if<double>(&level.value); x != nullptr && std::isinf(*x)) infinite.insert(*x);
    }
  }
  CHECK(infinite.size() == 2);
}

TEST_CASE("two calls on one operand differ in an axis where their results have one type", "[parts]") {
  std::size_t asked = 0;
  for (const char* operation : {"sum", "max", "mean", "prod", "cumsum", "any", "softmax", "argmax", "min", "std"}) {
    for (const Case& c : programs_about(operation)) {
      const spec::Program& program = *c.program;
      const auto types = spec::types_of(program);
      const spec::Call& first = call_at(program, 0);
      for (std::size_t k = 1; k < program.steps.size(); ++k) {
        const spec::Call& other = call_at(program, k);
        asked += other.operation == operation && other.operands == first.operands && other.attributes != first.attributes && types.at(other.results[0]) == types.at(first.results[0]);
      }
    }
  }
  CHECK(asked >= 10);
}

TEST_CASE("one call stands twice on the same values, with two cotangents", "[parts]") {
  std::size_t asked = 0;
  for (const char* operation : {"exp", "sin", "mul", "matmul", "softmax", "sum", "tanh", "cumsum"}) {
    const auto c = drawn(operation, Check::program, 1);
    REQUIRE(c);
    CHECK(c->mode == spec::Mode::vjp);
    const spec::Call& first = call_at(*c->program, 0);
    for (std::size_t k = 1; k < c->program->steps.size(); ++k) {
      const spec::Call& other = call_at(*c->program, k);
      if (other.operands != first.operands || other.attributes != first.attributes || other.operation != first.operation) continue;
      asked += is_output(*c->program, first.results[0]) && is_output(*c->program, other.results[0]);
    }
  }
  CHECK(asked >= 8);
}

TEST_CASE("the same move stands before and behind what works along an axis", "[parts]") {
  std::size_t asked = 0;
  std::set<std::string> moves;
  for (const char* operation : {"cumsum", "cumprod", "softmax", "rms_norm", "log_softmax"}) {
    for (const Case& c : programs_about(operation)) {
      for (std::size_t k = 2; k < c.program->steps.size(); ++k) {
        const spec::Call& behind = call_at(*c.program, k);
        if (behind.operands.empty()) continue;
        const spec::Call* inner = maker_of(*c.program, behind.operands.front());
        const spec::Call* before = inner != nullptr && inner->operation == operation && !inner->operands.empty() ? maker_of(*c.program, inner->operands.front()) : nullptr;
        if (before == nullptr || before->operation != behind.operation || before->attributes != behind.attributes || !conformance::is_move(spec::definition_named(behind.operation))) continue;
        ++asked;
        moves.insert(behind.operation);
        CHECK((!is_output(*c.program, before->results[0]) && !is_output(*c.program, inner->results[0])));
      }
    }
  }
  CHECK(asked >= 20);
  CHECK(moves.size() >= 4);
  CHECK(moves.contains("flip"));
}

TEST_CASE("pieces are joined in another order, whichever call gave them", "[parts]") {
  std::set<std::string> givers;
  for (const Case& c : programs_about("concat")) {
    for (std::size_t k = 1; k < c.program->steps.size(); ++k) {
      const spec::Call& joined = call_at(*c.program, k);
      const spec::Call* giver = joined.operands.size() > 1 ? maker_of(*c.program, joined.operands.front()) : nullptr;
      if (giver == nullptr) continue;
      const std::vector<std::optional<std::string>> pieces(giver->results.begin(), giver->results.end());
      if (joined.operands == pieces || !std::is_permutation(pieces.begin(), pieces.end(), joined.operands.begin(), joined.operands.end())) continue;
      givers.insert(giver->operation);
    }
  }
  CHECK(givers == std::set<std::string>{"deinterleave", "split"});
}

TEST_CASE("intervals that an operation has as attributes lie apart where it reads itself", "[parts]") {
  std::size_t apart = 0;
  for (const Case& c : programs_about("clamp")) {
    for (std::size_t k = 1; k < c.program->steps.size(); ++k) {
      const spec::Call& outer = call_at(*c.program, k);
      const spec::Call* inner = outer.operation == "clamp" ? maker_of(*c.program, outer.operands.front()) : nullptr;
      if (inner == nullptr || inner->operation != "clamp") continue;
      const auto end = [](const spec::Call& call, const char* name) {
        const auto* number = std::get_if<double>(&call.attributes.at(name));
        return number != nullptr ? *number : std::numeric_limits<double>::quiet_NaN();
      };
      apart += end(outer, "low") > end(*inner, "high") || end(outer, "high") < end(*inner, "low") ? 1 : 0;
    }
  }
  CHECK(apart >= 2);
}

TEST_CASE("constants of a program end where the type does", "[parts]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    std::set<double> met;
    const auto c = drawn("div", Check::program, 6, dtype);
    REQUIRE(c);
    for (std::size_t k = 1; k < c->program->steps.size(); ++k) {
      const spec::Call& call = call_at(*c->program, k);
      const spec::Call* constant = call.operands.size() == 2 ? maker_of(*c->program, call.operands[1]) : nullptr;
      const auto value = constant == nullptr ? spec::Attributes::const_iterator{} : constant->attributes.find("value");
      if (constant == nullptr || value == constant->attributes.end()) continue;
      if (const auto* x = std::get_if<double>(&value->second)) met.insert(*x);
    }
    const spec::Format f = spec::format_of(dtype);
    CHECK(met.size() >= 12);
    CHECK(std::any_of(met.begin(), met.end(), [&](double x) { return x > 0 && x < std::ldexp(1.0, f.emin); }));
    CHECK(met.contains(std::ldexp(1.0, f.emax)));
  }
}

TEST_CASE("constants of a program come from all that make them", "[parts]") {
  std::map<std::string, std::set<double>> made;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto c = drawn("div", Check::program, 6, dtype);
    REQUIRE(c);
    for (std::size_t k = 0; k < c->program->steps.size(); ++k) {
      const spec::Call& call = call_at(*c->program, k);
      if (!call.operands.empty()) continue;
      const auto value = call.attributes.find("value");
      const auto* x = value == call.attributes.end() ? nullptr : std::get_if<double>(&value->second);
      made[call.operation].insert(x == nullptr ? 1 : std::signbit(*x) ? -1 : 1);
    }
  }
  CHECK(made.size() == 3);
  CHECK(made["full"].size() == 2);
}

TEST_CASE("a value that dies is read in another order, by one call or beside itself", "[parts]") {
  std::size_t alone = 0, joined = 0, beyond_a_tile = 0;
  for (const char* operation : {"neg", "add", "transpose", "flip", "exp", "matmul", "sum"}) {
    for (const Case& c : programs_about(operation)) {
      const auto types = spec::types_of(*c.program);
      for (std::size_t k = 2; k < c.program->steps.size(); ++k) {
        const spec::Call& last = call_at(*c.program, k);
        if (!conformance::is_elementwise(spec::definition_named(last.operation))) continue;
        for (const auto& read : last.operands) {
          const spec::Call* move = maker_of(*c.program, read);
          const spec::Call* maker = move != nullptr && conformance::is_move(spec::definition_named(move->operation)) ? maker_of(*c.program, move->operands.front()) : nullptr;
          if (maker == nullptr || is_output(*c.program, maker->results[0]) || is_output(*c.program, *read) || types.at(*read) != types.at(maker->results[0])) continue;
          const bool both = std::find(last.operands.begin(), last.operands.end(), move->operands.front()) != last.operands.end();
          (both ? joined : alone) += 1;
          beyond_a_tile += types.at(*read).dims.count() > 64;
        }
      }
    }
  }
  CHECK(alone >= 4);
  CHECK(joined >= 4);
  CHECK(beyond_a_tile >= 3);
}

TEST_CASE("a value given twice to a call is read again behind others of its size", "[parts]") {
  std::size_t asked = 0;
  for (const char* operation : {"matmul", "mul", "add", "maximum", "sub", "dot", "mse"}) {
    for (const Case& c : programs_about(operation)) {
      for (std::size_t k = 1; k + 2 < c.program->steps.size(); ++k) {
        const spec::Call& twice = call_at(*c.program, k);
        if (twice.operation != operation || twice.operands[0] != twice.operands[1] || maker_of(*c.program, twice.operands[0]) == nullptr) continue;
        const auto& later = call_at(*c.program, k + 2).operands;
        asked += c.mode == spec::Mode::forward && !is_output(*c.program, *twice.operands[0]) && std::find(later.begin(), later.end(), twice.operands[0]) != later.end();
      }
    }
  }
  CHECK(asked >= 5);
}

TEST_CASE("in some layouts an axis that runs backwards follows one of a single element", "[parts]") {
  std::size_t asked = 0, forward = 0;
  for (const char* operation : {"neg", "add", "sum", "mul", "transpose", "softmax", "matmul"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (std::uint64_t i = 0; i < 9; ++i) {
        const auto c = drawn(operation, Check::layout, i, dtype);
        if (!c) continue;
        const spec::Request request = request_of(*c);
        for (std::size_t k = 0; k < request.inputs.size(); ++k) {
          const auto& place = request.placements.inputs.size() > k ? request.placements.inputs[k] : std::nullopt;
          const Dims& dims = request.inputs[k].dims;
          for (std::size_t axis = 1; place && axis < dims.rank; ++axis) {
            if (dims[axis - 1] != 1 || dims[axis] < 2 || place->strides[axis] >= 0) continue;
            ++asked;
            forward += request.mode == spec::Mode::forward;
          }
        }
      }
    }
  }
  CHECK(asked >= 14);
  CHECK(forward >= 3);
}

TEST_CASE("a function reads what each other function gave of several numbers, some below 0", "[parts]") {
  std::vector<std::string> functions;
  for (const spec::Definition* d : spec::Library().definitions()) {
    const bool of_one = d->operand_count == 1 && d->attribute_count == 0 && d->result_count == 1 && d->operands[0].range != spec::Range::boolean;
    if (of_one && conformance::is_elementwise(*d)) functions.push_back(std::string(d->name));
  }
  REQUIRE(functions.size() > 20);
  std::size_t met = 0, several = 0, below = 0, asked = 0;
  for (std::size_t f = 0; f < functions.size(); f += 6) {
    std::map<std::string, const HostTensor*> read;  // by reader, what the function before it read
    const std::vector<Case> cases = programs_about(functions[f]);
    if (kind_of(instance_of(*drawn(functions[f], Check::value, 1)).results[0].dtype) != Kind::real) continue;
    for (const Case& c : cases) {
      for (std::size_t k = 0; k < c.program->steps.size(); ++k) {
        const spec::Call& reader = call_at(*c.program, k);
        const spec::Call* before = reader.operands.empty() ? nullptr : maker_of(*c.program, reader.operands[0]);
        if (before == nullptr || before->operation != functions[f]) continue;
        const auto input = std::find_if(c.program->inputs.begin(), c.program->inputs.end(), [&](const auto& i) { return i.name == before->operands[0]; });
        if (input == c.program->inputs.end() || kind_of(input->dtype) != Kind::real) continue;
        const HostTensor* t = &*c.operands[static_cast<std::size_t>(input - c.program->inputs.begin())];
        if (!read.contains(reader.operation) || read[reader.operation]->dims.count() < t->dims.count()) read[reader.operation] = t;
      }
    }
    for (const std::string& reader : functions) {
      ++asked;
      if (!read.contains(reader)) continue;
      ++met;
      several += read[reader]->dims.count() >= 5 ? 1 : 0;
      below += have_one_sign(*read[reader], 1) ? 0 : 1;
    }
  }
  INFO(met << " of " << asked << " met, " << several << " on several numbers, " << below << " below 0");
  CHECK(20 * met >= 19 * asked);
  CHECK(10 * several >= 9 * met);
  CHECK(20 * below >= 17 * met);
  CHECK(asked > 0);
}

TEST_CASE("there and back through other element types is asked in reverse, of every real input", "[parts]") {
  std::size_t asked = 0;
  for (const spec::Definition* d : spec::Library().definitions()) {
    const bool names_types = std::any_of(d->attributes, d->attributes + d->attribute_count, [](const auto& a) { return a.kind == spec::AttributeKind::dtype; });
    if (!names_types || !conformance::is_elementwise(*d)) continue;
    for (const Case& c : programs_about(std::string(d->name))) {
      const bool in_reverse = c.mode == spec::Mode::vjp;
      std::size_t back = 0;
      for (std::size_t k = 0; k < c.program->steps.size(); ++k) {
        const spec::Call& call = call_at(*c.program, k);
        const spec::Call* there = call.operands.empty() ? nullptr : maker_of(*c.program, call.operands[0]);
        if (there != nullptr && call.operation == d->name && there->operation == d->name) ++back;
      }
      if (!in_reverse || back < 4) continue;
      ++asked;
      for (std::size_t i = 0; i < c.wrt.size(); ++i) CHECK(c.wrt[i] == (kind_of(c.operands[i]->dtype) == Kind::real));
    }
  }
  CHECK(asked > 0);
}
