#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "compiled/memory/check_plan.hpp"
#include "compiled/memory/homes.hpp"
#include "compiled/compile.hpp"
#include "compiled/ir/plan.hpp"
#include "compiled/schedule/neighbours.hpp"
#include "spec/error.hpp"
#include "optimising.hpp"
#include "passes_execution.hpp"

using namespace etalon;
using namespace etalon::spec;
using etalon::compiled::PlanOptions;

namespace {

/// Decisions drawn from a list of bytes, so that RapidCheck can shrink them; all are 0 once the list has ended.
class Tape {
 public:
  explicit Tape(const std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}
  std::uint32_t below(std::uint32_t n) {
    if (at_ == bytes_.size()) return 0;
    return static_cast<std::uint32_t>(bytes_[at_++]) % n;
  }

 private:
  const std::vector<std::uint8_t>& bytes_;
  std::size_t at_ = 0;
};

const Dims shapes[] = {{3, 4}, {4, 3}, {3}, {4}, {}};
constexpr DType dtypes[] = {DType::f32, DType::f64, DType::i64, DType::boolean, DType::i32};

/// A system of random equations over a few small tensors of all kinds.
class Drawing {
 public:
  explicit Drawing(const std::vector<std::uint8_t>& bytes) : tape_(bytes) {}

  System draw() {
    input("x", DType::f32, {3, 4});
    input("p", DType::f32, {3, 4});
    input("w", DType::f64, {4, 3});
    input("v", DType::f32, {4});
    position_ = input("n", DType::i64, {3});
    input("s", DType::f32, {});
    const std::uint32_t equations = 1 + tape_.below(10);
    for (std::uint32_t i = 0; i < equations; ++i) equation("t" + std::to_string(i));
    const std::uint32_t outputs = 1 + tape_.below(4);
    for (std::uint32_t i = 0; i < outputs; ++i) {
      const auto back = tape_.below(static_cast<std::uint32_t>(system_.tensors.size()));
      system_.outputs.push_back(static_cast<TensorId>(system_.tensors.size() - 1 - back));
    }
    return system_;
  }

 private:
  TensorId input(const std::string& name, DType dtype, const Dims& dims) {
    const TensorId t = system_.add_tensor(name, dtype, dims);
    system_.inputs.push_back(t);
    return t;
  }

  void equation(const std::string& name) {
    if (!system_.equations.empty() && tape_.below(4) == 0) {
      repeat(name);
      return;
    }
    const Dims dims = shapes[tape_.below(5)];
    const DType dtype = dtypes[tape_.below(5)];
    // Added when the value is complete, so that nothing reads itself.
    const std::vector<Binder> binders = [&] {
      std::vector<Binder> result;
      for (const std::int64_t n : dims) result.push_back(system_.bind("i", n));
      return result;
    }();
    scope_ = binders;
    const Expr v = value(kind_of(dtype), 3);
    const TensorId t = system_.add_tensor(name, dtype, dims);
    system_.define(t, binders, v);
  }

  /// The same equation again: food for sharing.
  void repeat(const std::string& name) {
    const auto n = static_cast<std::uint32_t>(system_.equations.size());
    const Equation original = system_.equations[tape_.below(n)];
    const TensorInfo tensor = system_[original.target];
    const TensorId t = system_.add_tensor(name, tensor.dtype, tensor.dims);
    const std::vector<Binder> binders = system_.bind_all(t);
    Substitution renamed;
    for (std::size_t b = 0; b < binders.size(); ++b)
      renamed.emplace(original.binders[b].variable, variable(binders[b]));
    system_.define(t, binders, refresh(system_, substitute(original.value, renamed)));
  }

  Expr value(Kind kind, int depth) {
    if (depth == 0 || tape_.below(5) == 0) return leaf(kind);
    if (tape_.below(6) == 0) return reduction(kind, depth);
    if (tape_.below(5) == 0)
      return select(value(Kind::boolean, depth - 1), value(kind, depth - 1), value(kind, depth - 1));
    switch (kind) {
      case Kind::real:
        return real(depth);
      case Kind::integer:
        return integers(depth);
      case Kind::boolean:
        return truth(depth);
    }
    return leaf(kind);
  }

  Expr real(int depth) {
    const auto a = [&] { return value(Kind::real, depth - 1); };
    switch (tape_.below(11)) {
      case 0:
        return a() + a();
      case 1:
        return a() - a();
      case 2:
        return a() * a();
      case 3:
        return a() / a();
      case 4:
        return -a();
      case 5:
        return apply(Primitive::exp, {a()});
      case 6:
        return apply(Primitive::maximum, {a(), a()});
      case 7:
        return detach(a());
      case 8:
        return a() * decimal(1);
      case 9:
        return a() + decimal(0);
      default:
        return as_real(value(Kind::integer, depth - 1));
    }
  }

  Expr integers(int depth) {
    const auto a = [&] { return value(Kind::integer, depth - 1); };
    switch (tape_.below(6)) {
      case 0:
        return a() + a();
      case 1:
        return a() - a();
      case 2:
        return a() * a();
      case 3:
        return apply(Primitive::floor_div, {a(), integer(1 + tape_.below(4))});
      case 4:
        return apply(Primitive::modulo, {a(), integer(1 + tape_.below(4))});
      default:
        return apply(Primitive::to_integer, {value(Kind::boolean, depth - 1)});
    }
  }

  Expr truth(int depth) {
    const Kind of = tape_.below(2) == 0 ? Kind::real : Kind::integer;
    switch (tape_.below(5)) {
      case 0:
        return value(Kind::boolean, depth - 1) && value(Kind::boolean, depth - 1);
      case 1:
        return apply(Primitive::logical_or, {value(Kind::boolean, depth - 1), value(Kind::boolean, depth - 1)});
      case 2:
        return apply(Primitive::logical_not, {value(Kind::boolean, depth - 1)});
      case 3:
        return apply(Primitive::lt, {value(of, depth - 1), value(of, depth - 1)});
      default:
        return apply(Primitive::eq, {value(of, depth - 1), value(of, depth - 1)});
    }
  }

  Expr reduction(Kind kind, int depth) {
    const Binder k = system_.bind("k", 3 + tape_.below(2));
    scope_.push_back(k);
    Expr guard = boolean(true);
    const std::uint32_t guarded = tape_.below(3);
    if (guarded == 1) guard = value(Kind::boolean, 1);
    if (guarded == 2 && k.extent == 3) {
      const Binder outer = scope_[tape_.below(static_cast<std::uint32_t>(scope_.size()))];
      guard = apply(Primitive::eq, {system_.at(position_, {variable(k)}), variable(outer)});
    }
    Expr result;
    if (kind == Kind::boolean) {
      result = reduce(tape_.below(2) == 0 ? Reduction::any : Reduction::all, {k}, guard, value(kind, depth - 1));
    } else if (kind == Kind::integer && tape_.below(2) == 0) {
      result = reduce(Reduction::argmax, {k}, guard, value(Kind::real, depth - 1), integer(-1));
    } else {
      constexpr Reduction choice[] = {Reduction::sum, Reduction::sum, Reduction::prod, Reduction::max};
      const Reduction r = choice[tape_.below(4)];
      const Expr zero = kind == Kind::real ? decimal(0) : integer(0);
      result = reduce(r, {k}, guard, value(kind, depth - 1), r == Reduction::max ? zero : Expr{});
    }
    scope_.pop_back();
    return result;
  }

  Expr leaf(Kind kind) {
    if (tape_.below(6) == 0) return constant(kind);
    std::vector<TensorId> fitting;
    for (std::size_t t = 0; t < system_.tensors.size(); ++t) {
      if (kind_of(system_.tensors[t].dtype) == kind) fitting.push_back(static_cast<TensorId>(t));
    }
    if (fitting.empty()) return constant(kind);
    // Later tensors first, so that chains grow.
    const std::size_t back = std::min<std::size_t>(tape_.below(8), fitting.size() - 1);
    return read(fitting[fitting.size() - 1 - back]);
  }

  Expr constant(Kind kind) {
    if (kind == Kind::boolean) return boolean(tape_.below(2) == 0);
    if (kind == Kind::integer) return integer(static_cast<std::int64_t>(tape_.below(7)) - 3);
    return decimal(static_cast<std::int64_t>(tape_.below(7)) - 3, -static_cast<std::int32_t>(tape_.below(2)));
  }

  Expr read(TensorId t) {
    const Dims dims = system_[t].dims;
    std::vector<Expr> indices;
    for (const std::int64_t n : dims) indices.push_back(index(n));
    return system_.at(t, std::move(indices));
  }

  Expr index(std::int64_t n) {
    std::vector<Binder> fitting;
    for (const Binder& b : scope_) {
      if (b.extent == n) fitting.push_back(b);
    }
    if (fitting.empty()) return integer(tape_.below(static_cast<std::uint32_t>(n)));
    const Expr i = variable(fitting[tape_.below(static_cast<std::uint32_t>(fitting.size()))]);
    switch (tape_.below(8)) {
      case 1:
        return integer(n - 1) - i;
      case 2:
        return apply(Primitive::modulo, {i + integer(1), integer(n)});
      case 3:
        return integer(tape_.below(static_cast<std::uint32_t>(n)));
      default:
        return i;
    }
  }

  Tape tape_;
  System system_;
  std::vector<Binder> scope_;
  TensorId position_ = -1;
};

/// Long enough for the largest system that is drawn; shrinking makes decisions 0.
std::vector<std::uint8_t> draw_bytes() {
  return *rc::gen::container<std::vector<std::uint8_t>>(400, rc::gen::arbitrary<std::uint8_t>());
}

/// Updates of inputs by outputs of the same type, as many as there are.
PlanOptions draw_options(const System& system, std::uint32_t seed) {
  PlanOptions options;
  options.fuse = seed % 5 != 0;
  options.reuse = seed % 7 != 0;
  options.in_place = seed % 11 != 0;
  std::vector<bool> taken(system.outputs.size());
  for (std::size_t i = 0; i < system.inputs.size(); ++i) {
    for (std::size_t o = 0; o < system.outputs.size(); ++o) {
      const TensorInfo& from = system[system.outputs[o]];
      const TensorInfo& to = system[system.inputs[i]];
      if (taken[o] || from.dtype != to.dtype || !(from.dims == to.dims)) continue;
      taken[o] = true;
      options.updates.push_back({i, o});
      break;
    }
  }
  return options;
}

/// Whether all outputs keep their bits, executed one after the other and through a plan.
bool keeps_values(const System& before, const System& after, std::uint32_t seed) {
  const std::vector<HostTensor> inputs = test::draw_inputs(before, seed);
  const std::vector<HostTensor> expected = test::execute(before, inputs);
  if (!test::same_bits(expected, test::execute(after, inputs))) return false;
  const PlanOptions options = draw_options(after, seed);
  const compiled::Plan plan = compiled::plan(after, options);
  compiled::check_plan(after, plan, options);
  const test::Outcome outcome = test::execute(after, plan, inputs, seed);
  std::vector<HostTensor> outputs = outcome.outputs;
  for (const auto& u : options.updates) outputs[u.output] = outcome.inputs[u.input];
  return test::same_bits(expected, outputs);
}

/// The decisions that a plan shows.
std::set<std::string> decisions_of(const compiled::Plan& plan) {
  std::set<std::string> found;
  for (const auto& r : plan.residences) {
    if (r.home == compiled::Home::in_place) found.insert("in place");
    if (r.home == compiled::Home::in_register) found.insert("in register");
    if (r.home == compiled::Home::arena) found.insert("arena");
  }
  for (const auto& k : plan.kernels) {
    if (k.kind == compiled::KernelKind::scatter) found.insert("scatter");
    if (k.statements.size() > 1) found.insert("fused");
  }
  if (!plan.commits.empty()) found.insert("commit");
  return found;
}

}  // namespace

TEST_CASE("random_systems_keep_every_bit_through_the_pipeline_and_the_plan", "[passes][plan]") {
  const bool held = rc::check([] {
    const std::vector<std::uint8_t> bytes = draw_bytes();
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    const System before = Drawing(bytes).draw();
    System after = before;
    test::optimise(after);
    if (!keeps_values(before, after, seed)) RC_FAIL(spec::to_text(before) + "becomes\n" + spec::to_text(after));
  });
  CHECK(held);
}

TEST_CASE("a_fixed_list_of_systems_meets_every_decision_of_the_planner", "[passes][plan]") {
  std::map<std::string, int> met;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(400);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    const System before = Drawing(bytes).draw();
    System after = before;
    test::optimise(after);
    INFO("seed " << seed);
    CHECK(keeps_values(before, after, seed));
    for (const std::string& decision : decisions_of(compiled::plan(after, draw_options(after, seed)))) ++met[decision];
  }
  for (const char* decision : {"arena", "commit", "fused", "in place", "in register", "scatter"}) {
    INFO(decision);
    CHECK(met[decision] > 0);
  }
}

TEST_CASE("random_systems_follow_their_schedules_and_those_beside_them", "[passes][schedules]") {
  const auto planned = [](const System& system, std::vector<compiled::DecisionLine> decisions) {
    compiled::CompileOptions options;
    options.off = {"contractions", "passing"};  // they add in another order
    options.decisions = std::move(decisions);
    options.verify = true;
    return compiled::lower_to_loops(system, {}, options, compiled::Machine{8, 16});
  };
  const auto text_of = [](const compiled::Compilation& c) {
    std::string text = to_text(c.system, c.plan);
    for (const compiled::loops::Nest& nest : c.nests) text += to_text(c.system, nest);
    return text;
  };
  std::map<std::string, int> followed;
  int refused = 0;
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(400);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    const System system = Drawing(bytes).draw();
    INFO("seed " << seed << "\n" << spec::to_text(system));
    const std::vector<HostTensor> inputs = test::draw_inputs(system, seed);
    const std::vector<HostTensor> expected = test::execute(system, inputs);
    const compiled::Compilation first = planned(system, {});
    const std::vector<compiled::DecisionLine> lines = first.deciding.taken();
    CHECK(text_of(planned(system, compiled::decisions_in(compiled::to_text(lines), "s"))) == text_of(first));
    for (const compiled::DecisionLine& line : lines) {
      std::vector<compiled::DecisionLine> beside = compiled::neighbours(line, first.machine, lines, true);
      std::shuffle(beside.begin(), beside.end(), random);
      for (std::size_t i = 0; i < beside.size() && i < 3; ++i) {
        INFO(to_text(beside[i]));
        std::optional<compiled::Compilation> other;
        try {
          other = planned(system, {beside[i]});
        } catch (const SpecViolation&) {
          ++refused;
          continue;
        }
        ++followed[line.kind];
        CHECK(test::same_bits(expected, test::execute(other->system, other->plan, inputs, seed).outputs));
      }
    }
  }
  CHECK(followed["join"] > 30);
  CHECK(refused > 100);
}

TEST_CASE("random_systems_keep_every_bit_with_any_pass_switched_off", "[passes]") {
  const bool held = rc::check([] {
    const std::vector<std::uint8_t> bytes = draw_bytes();
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    const System before = Drawing(bytes).draw();
    compiled::CompileOptions options;
    std::uint32_t bit = 0;
    for (const compiled::Stage& stage : compiled::stages()) {
      if (!test::is_optimising(stage)) continue;
      if (!stage.required && (seed >> bit & 1U) != 0) options.off.emplace(stage.name);
      ++bit;
    }
    System after = before;
    test::optimise(after, options);
    RC_ASSERT(keeps_values(before, after, seed));
  });
  CHECK(held);
}
