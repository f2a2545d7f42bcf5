// What is drawn beside single calls on dense tensors: subsets of operands, second derivatives, layouts, programs, sizes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/case_file.hpp"
#include "conformance/plan.hpp"
#include "conformance/program_case.hpp"
#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"
#include "conformance/smaller_program.hpp"
#include "conformance/values.hpp"
#include "spec/library/library.hpp"
#include "spec/program/analysis.hpp"
#include "spec/protocol/message.hpp"

using namespace etalon;
using conformance::Case;
using conformance::Check;
using conformance::ConformOptions;
using conformance::Tier;

namespace {

std::optional<Case> drawn(const std::string& operation, Check check, std::uint64_t index, DType dtype = DType::f32) {
  return conformance::make_case({operation, check, dtype, index, 1});
}

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

TEST_CASE("a program is a function of its key, feeds calls from calls and is written and read back", "[cases]") {
  std::size_t found = 0, derivatives = 0;
  std::set<std::size_t> sizes;
  for (const char* operation : {"exp", "matmul", "max", "softmax", "gather", "sum"}) {
    for (std::uint64_t i = 0; i < 8; ++i) {
      const auto c = drawn(operation, Check::program, i);
      if (!c) continue;
      ++found;
      const auto again = drawn(operation, Check::program, i);
      REQUIRE(again);
      CHECK(spec::encode(request_of(*again)) == spec::encode(request_of(*c)));
      const std::vector<std::string> called = conformance::operations_of(*c->program);
      CHECK(std::count(called.begin(), called.end(), operation) > 0);
      const std::size_t calls = c->program->steps.size();
      sizes.insert(calls);
      CHECK(calls >= (i == 0 ? 1U : 2U));  // one call with one value for two operands
      CHECK(c->assignments.size() == calls);
      REQUIRE_NOTHROW(spec::verify(*c->program));
      derivatives += c->mode == spec::Mode::forward ? 0 : 1;
      const Case back = conformance::case_from_json(conformance::to_json(*c));
      CHECK(spec::encode(request_of(back)) == spec::encode(request_of(*c)));
    }
  }
  CHECK(found >= 40);
  CHECK(derivatives >= 10);
  CHECK(sizes.size() >= 3);
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

TEST_CASE("in a fan each call around a result is an output, and fans of one operation differ", "[cases]") {
  std::set<std::string> consumers;
  std::size_t shared = 0;
  for (const std::uint64_t i : {2U, 14U, 26U, 38U}) {
    const auto c = drawn("softmax", Check::program, i, DType::f64);
    REQUIRE(c);
    const std::vector<std::string> called = conformance::operations_of(*c->program);
    REQUIRE(called.size() >= 6);
    CHECK(called[1] == "softmax");
    const auto& before = std::get<spec::Call>(c->program->steps[0]);
    const auto& about = std::get<spec::Call>(c->program->steps[1]);
    shared += about.operands[0] == before.operands[0];
    for (std::size_t k = 0; k < c->wrt.size(); ++k) CHECK(c->wrt[k] == (kind_of(c->operands[k]->dtype) == Kind::real));
    CHECK(c->program->outputs.size() >= called.size());
    consumers.insert(called.begin() + 2, called.end());
  }
  CHECK(consumers.size() >= 13);
  CHECK(shared >= 3);
}

namespace {

/// Who reads a value of a program.
std::vector<const spec::Call*> readers_of(const spec::Program& program, const std::string& name) {
  std::vector<const spec::Call*> readers;
  for (const auto& step : program.steps) {
    const auto& call = std::get<spec::Call>(step);
    const std::vector<std::string> read = spec::values_read(call);
    if (std::find(read.begin(), read.end(), name) != read.end()) readers.push_back(&call);
  }
  return readers;
}

}  // namespace

TEST_CASE("in pairs each result is read by one call and seen by nobody, and a few cases meet nearly all who may read it", "[cases]") {
  std::set<std::string> readers;
  std::size_t pairs = 0, special = 0;
  for (const auto& [dtype, i] : {std::pair{DType::f32, 2U}, std::pair{DType::f32, 3U}, std::pair{DType::f64, 2U}}) {
    const auto c = drawn("neg", Check::program, i, dtype);
    REQUIRE(c);
    const std::set<std::string> outputs(c->program->outputs.begin(), c->program->outputs.end());
    for (const auto& step : c->program->steps) {
      const auto& call = std::get<spec::Call>(step);
      if (call.operation != "neg" || outputs.contains(call.results.front())) continue;
      const auto reading = readers_of(*c->program, call.results.front());
      REQUIRE(reading.size() == 1);
      readers.insert(reading.front()->operation);
      ++pairs;
    }
    for (const auto& t : c->operands) {
      bool any = false;
      for (std::size_t e = 0; kind_of(t->dtype) == Kind::real && e < static_cast<std::size_t>(t->dims.count()); ++e) any = any || std::isnan(conformance::element(*t, e));
      special += any;
    }
  }
  CHECK(pairs >= 60);
  CHECK(readers.size() >= 50);
  CHECK(special >= 20);
}

TEST_CASE("a pair that gives back what it read among ordinary numbers is asked for", "[cases]") {
  // Of the ways to read a difference and what it is the difference of, sums that add again.
  std::size_t back = 0, joined = 0;
  for (const char* operation : {"sub", "div", "exp", "log", "sqrt", "square", "mul", "add"}) {
    for (const auto& [dtype, i] : {std::pair{DType::f32, 2U}, std::pair{DType::f32, 3U}, std::pair{DType::f64, 2U}}) {
      const auto c = drawn(operation, Check::program, i, dtype);
      REQUIRE(c);
      std::map<std::string, const spec::Call*> makers;
      for (const auto& step : c->program->steps) makers[std::get<spec::Call>(step).results.front()] = &std::get<spec::Call>(step);
      for (const auto& step : c->program->steps) {
        const auto& call = std::get<spec::Call>(step);
        std::size_t made = 0;
        for (const auto& name : call.operands) {
          const auto maker = makers.find(name.value_or(""));
          if (maker == makers.end()) continue;
          ++made;
          for (const auto& other : call.operands) back += other != name && std::count(maker->second->operands.begin(), maker->second->operands.end(), other) > 0;
        }
        joined += made == 2 && call.operands[0] != call.operands[1];
      }
    }
  }
  CHECK(back >= 60);
  CHECK(joined >= 12);
}

TEST_CASE("what reductions read is made by moves, and what they give is moved, by calls that nobody else reads", "[cases]") {
  std::set<std::string> before, behind;
  for (const char* operation : {"sum", "matmul", "max", "mean", "cumsum", "prod"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto c = drawn(operation, Check::program, 2, dtype);
      REQUIRE(c);
      std::map<std::string, const spec::Call*> makers;
      for (const auto& step : c->program->steps) {
        const auto& call = std::get<spec::Call>(step);
        for (const std::string& name : spec::values_read(call)) {
          const auto maker = makers.find(name);
          if (maker == makers.end()) continue;
          if (call.operation == operation) before.insert(maker->second->operation);
          if (maker->second->operation == operation) behind.insert(call.operation);
        }
        for (const std::string& name : call.results) makers[name] = &call;
      }
    }
  }
  CHECK(before.size() >= 20);
  CHECK(behind.size() >= 20);
}

TEST_CASE("two views of one value are read by calls that are alike but for them", "[cases]") {
  std::size_t asked = 0, other = 0, beside = 0;
  for (const char* operation : {"matmul", "sum", "softmax", "linear", "max", "layer_norm", "neg", "exp", "mul", "log_softmax", "cumsum", "mean", "outer", "prod", "std", "logsumexp", "var", "flip", "tanh", "sigmoid", "min", "norm", "dot", "square"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto c = drawn(operation, Check::program, 3, dtype);
      if (!c) continue;
      std::map<std::string, std::string> base;  // of views
      const spec::Call* earlier = nullptr;
      bool views = false;
      for (const auto& step : c->program->steps) {
        const auto& call = std::get<spec::Call>(step);
        if (conformance::is_move(spec::definition_named(call.operation))) base[call.results.front()] = call.operands.front().value_or("");
        const bool reads_view = std::any_of(call.operands.begin(), call.operands.end(), [&](const auto& name) { return name && base.contains(*name); });
        const bool reads_base = std::any_of(call.operands.begin(), call.operands.end(), [&](const auto& name) {
          return name && std::any_of(base.begin(), base.end(), [&](const auto& b) { return b.second == *name; });
        });
        views = views || (call.operation == operation && reads_view);
        if (call.operation == operation && earlier != nullptr && (reads_view || reads_base) && call.operands != earlier->operands && call.attributes == earlier->attributes) ++other;
        if (call.operation == operation) earlier = &call;
        else if (reads_base && !base.contains(call.results.front())) ++beside;
      }
      asked += views;
    }
  }
  CHECK(asked >= 15);
  CHECK(other >= 4);
  CHECK(beside >= 5);
}

TEST_CASE("a chain comes once more on other numbers", "[cases]") {
  for (const char* operation : {"leaky_relu", "layer_norm", "matmul", "neg", "transpose"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto c = drawn(operation, Check::program, 5, dtype), again = drawn(operation, Check::program, 7, dtype);
      REQUIRE(c);
      REQUIRE(again);
      CHECK(*c->program == *again->program);
      REQUIRE(c->operands.size() == again->operands.size());
      CHECK(c->operands != again->operands);
      CHECK(c->mode == again->mode);
      CHECK(std::count(c->wrt.begin(), c->wrt.end(), true) == std::count(again->wrt.begin(), again->wrt.end(), true));
    }
  }
}

TEST_CASE("a call stands beside one that differs in the last digits of an attribute, or in one attribute", "[cases]") {
  std::size_t asked = 0, digits = 0;
  for (const char* operation : {"leaky_relu", "elu", "scale", "layer_norm", "clamp", "softmax", "cumsum", "conv1d", "max_pool1d", "huber"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto c = drawn(operation, Check::program, 1, dtype);
      if (!c) continue;
      const auto& first = std::get<spec::Call>(c->program->steps.front());
      const auto& last = std::get<spec::Call>(c->program->steps.back());
      asked += last.operands == first.operands && last.attributes != first.attributes;
      for (const auto& [name, value] : last.attributes) {
        const auto* x = std::get_if<double>(&value);
        const auto* y = first.attributes.contains(name) ? std::get_if<double>(&first.attributes.at(name)) : nullptr;
        digits += x != nullptr && y != nullptr && *x != *y && std::abs(*x - *y) <= 0x1p-19 * std::abs(*y);
      }
    }
  }
  CHECK(asked >= 12);
  CHECK(digits >= 5);
}

TEST_CASE("operands are constants of the program, zeros of both signs and powers of two among them", "[cases]") {
  std::set<double> numbers;
  std::set<std::size_t> places;
  bool negative_zero = false;
  for (const char* operation : {"mul", "div", "remainder", "pow"}) {
    const auto c = drawn(operation, Check::program, 6);
    REQUIRE(c);
    std::set<std::string> constants;
    for (const auto& step : c->program->steps) {
      const auto& call = std::get<spec::Call>(step);
      if (call.operands.empty()) {
        constants.insert(call.results.begin(), call.results.end());
        for (const auto& [name, value] : call.attributes) {
          const auto* x = std::get_if<double>(&value);
          if (x != nullptr) numbers.insert(*x);
          negative_zero = negative_zero || (x != nullptr && *x == 0 && std::signbit(*x));
          if (const auto* n = std::get_if<std::int64_t>(&value)) numbers.insert(static_cast<double>(*n));
        }
      }
      for (std::size_t k = 0; k < call.operands.size(); ++k) {
        if (call.operands[k] && constants.contains(*call.operands[k])) places.insert(k);
      }
    }
  }
  CHECK(numbers.size() >= 8);
  CHECK(numbers.contains(0));
  CHECK(numbers.contains(std::numeric_limits<double>::infinity()));
  CHECK(negative_zero);
  CHECK(places == std::set<std::size_t>{0, 1});
}

TEST_CASE("operations read what was moved before", "[cases]") {
  std::size_t moved = 0, asked = 0;
  for (const char* operation : {"group_norm", "matmul", "softmax", "sum", "conv1d", "layer_norm", "mean", "linear", "max", "outer"}) {
    for (const std::uint64_t i : {3U, 10U}) {
      const auto c = drawn(operation, Check::program, i);
      if (!c) continue;
      ++asked;
      std::set<std::string> given;
      for (const auto& step : c->program->steps) {
        const auto& call = std::get<spec::Call>(step);
        const bool reads = std::any_of(call.operands.begin(), call.operands.end(), [&](const auto& name) { return name && given.contains(*name); });
        if (call.operation == operation && reads) ++moved;
        if (conformance::is_move(spec::definition_named(call.operation))) given.insert(call.results.begin(), call.results.end());
      }
    }
  }
  CHECK(asked >= 18);
  CHECK(moved >= 12);
}

TEST_CASE("operations read their own results under other attributes", "[cases]") {
  std::size_t composed = 0, differ = 0;
  for (const char* operation : {"slice", "transpose", "pad", "flip", "softmax", "triu", "cumsum", "roll"}) {
    for (const auto& [i, dtype] : {std::pair{0U, DType::f32}, std::pair{4U, DType::f32}, std::pair{6U, DType::f32}, std::pair{0U, DType::f64}, std::pair{6U, DType::f64}}) {
      const auto c = drawn(operation, Check::program, i, dtype);
      if (!c) continue;
      std::set<std::string> given;
      const spec::Attributes& attributes = std::get<spec::Call>(c->program->steps.front()).attributes;
      bool others = false;
      for (const auto& step : c->program->steps) {
        const auto& call = std::get<spec::Call>(step);
        const std::vector<std::string> read = spec::values_read(call);
        const bool own = std::any_of(read.begin(), read.end(), [&](const auto& name) { return given.contains(name); });
        if (call.operation == operation && own) ++composed;
        given.insert(call.results.begin(), call.results.end());
        others = others || call.attributes != attributes;
      }
      differ += others;
    }
  }
  CHECK(composed >= 40);
  CHECK(differ >= 20);
}

TEST_CASE("attributes that are numbers run as scalars of the program", "[cases]") {
  std::size_t scalars = 0;
  for (const char* operation : {"leaky_relu", "elu", "huber", "layer_norm", "clamp", "adam"}) {
    for (const std::uint64_t i : {5U, 17U, 29U, 41U}) {
      const auto c = drawn(operation, Check::program, i);
      if (!c) continue;
      REQUIRE(c->operands.size() == c->program->inputs.size());
      for (const auto& step : c->program->steps) scalars += spec::runtime_attributes(std::get<spec::Call>(step)).size();
      for (const Case& smaller : conformance::smaller_programs(*c)) {
        REQUIRE_NOTHROW(spec::verify(*smaller.program));
        CHECK(smaller.operands.size() == smaller.program->inputs.size());
      }
    }
  }
  CHECK(scalars >= 12);
}

TEST_CASE("an attribute that runs twice has two values, which no f32 holds", "[cases]") {
  std::size_t twice = 0;
  for (const char* operation : {"leaky_relu", "elu", "scale", "clamp", "layer_norm", "huber", "smooth_abs", "power", "batch_norm", "group_norm"}) {
    const auto c = drawn(operation, Check::program, 5, DType::f64);
    REQUIRE(c);
    std::map<std::string, std::set<double>> values;
    std::map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < c->program->inputs.size(); ++i) place[c->program->inputs[i].name] = i;
    for (const auto& step : c->program->steps) {
      const auto& call = std::get<spec::Call>(step);
      for (const auto& [name, value] : call.attributes) {
        const auto* run = std::get_if<spec::ValueName>(&value);
        if (run == nullptr || call.operation != operation) continue;
        const double x = conformance::element(*c->operands[place.at(run->name)], 0);
        values[name].insert(x);
        CHECK((x == 0 || std::isinf(x) || x != static_cast<double>(static_cast<float>(x))));
      }
    }
    for (const auto& [name, of] : values) twice += of.size() >= 2;
  }
  CHECK(twice >= 3);
}

TEST_CASE("a call stands beside the one with its operands exchanged", "[cases]") {
  std::size_t exchanged = 0;
  for (const char* operation : {"sub", "div", "pow", "matmul", "atan2", "outer"}) {
    const auto c = drawn(operation, Check::program, 1);
    if (!c) continue;
    const auto& first = std::get<spec::Call>(c->program->steps.front());
    const auto exchanges = [&](const auto& step) {
      const auto& call = std::get<spec::Call>(step);
      return call.operation == operation && call.operands.size() == 2 && call.operands[0] == first.operands[1] && call.operands[1] == first.operands[0];
    };
    exchanged += first.operands[0] != first.operands[1] && std::any_of(c->program->steps.begin(), c->program->steps.end(), exchanges);
  }
  CHECK(exchanged >= 3);
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

TEST_CASE("smaller programs are well-typed and ask for something", "[cases]") {
  std::size_t offered = 0;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const auto c = drawn("exp", Check::program, i);
    if (!c) continue;
    for (const Case& smaller : conformance::smaller_programs(*c)) {
      REQUIRE_NOTHROW(spec::verify(*smaller.program));
      CHECK(smaller.program->steps.size() + smaller.program->outputs.size() < c->program->steps.size() + c->program->outputs.size());
      CHECK(smaller.operands.size() == smaller.program->inputs.size());
      if (smaller.mode != spec::Mode::forward) CHECK(smaller.wrt.size() == smaller.operands.size());
      ++offered;
    }
  }
  CHECK(offered >= 12);
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
