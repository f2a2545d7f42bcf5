#include "tests/adequacy/number_changes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "conformance/values.hpp"
#include "spec/contract/contract.hpp"
#include "spec/half.hpp"
#include "tests/adequacy/gaps.hpp"
#include "tests/adequacy/lost.hpp"

namespace etalon::adequacy {
namespace {

using spec::Form;
using spec::System;

NumberChange of_reals(double (*change)(double, DType)) {
  return [change](HostTensor& t) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i)
      conformance::set_element(t, i, change(conformance::element(t, i), t.dtype));
  };
}

template <class Through, class Stored>
void integers_through(HostTensor& t) {
  for (Stored& v : t.view<Stored>()) {
    const auto x = static_cast<Through>(v);
    const auto end = static_cast<Through>(std::numeric_limits<Stored>::max());
    v = x >= end ? std::numeric_limits<Stored>::max() : static_cast<Stored>(x);
  }
}

double through_f32(double x, DType) { return rounded_to(x, DType::f32); }
double through_f16(double x, DType) { return rounded_to(x, DType::f16); }
double through_bf16(double x, DType) { return rounded_to(x, DType::bf16); }

double flushed(double x, DType d) {
  return std::fabs(x) < std::ldexp(1.0, spec::format_of(d).emin) ? std::copysign(0.0, x) : x;
}

// Whether the change keeps every number of the reach.
using Keeps = bool (*)(const Reach& reach, DType dtype);

template <DType narrow>
bool has_all(const Reach& r, DType) {
  const double end = std::ldexp(1.0, spec::format_of(narrow).precision);
  return r.whole && r.low >= -end && r.high <= end;
}

bool has_no_subnormal(const Reach& r, DType d) {
  const double normal = std::ldexp(1.0, spec::format_of(d).emin);
  return r.whole || r.low >= normal || r.high <= -normal;
}

class Adding {
 public:
  Adding(const System& system, std::size_t first_output, const std::shared_ptr<Reaches>& reaches, std::vector<Change>& to)
      : system_(system), first_output_(first_output), reaches_(reaches), to_(to) {}

  void tensor(spec::TensorId t) {
    switch (system_[t].dtype) {
      case DType::f64:
        add(t, Sort::through, "through f32", of_reals(through_f32), has_all<DType::f32>);
        [[fallthrough]];
      case DType::f32:
        add(t, Sort::through, "through bf16", of_reals(through_bf16), has_all<DType::bf16>);
        add(t, Sort::through, "through f16", of_reals(through_f16), has_all<DType::f16>);
        break;
      case DType::f16:
        add(t, Sort::through, "through bf16", of_reals(through_bf16), has_all<DType::bf16>);
        break;
      case DType::bf16:
        add(t, Sort::through, "through f16", of_reals(through_f16), has_all<DType::f16>);
        break;
      case DType::i64:
        add(t, Sort::through, "through f64", integers_through<double, std::int64_t>, has_all<DType::f64>);
        add(t, Sort::through, "through f32", integers_through<float, std::int64_t>, has_all<DType::f32>);
        break;
      case DType::i32:
        add(t, Sort::through, "through f32", integers_through<float, std::int32_t>, has_all<DType::f32>);
        break;
      case DType::boolean:
        return;
    }
    if (kind_of(system_[t].dtype) == Kind::real)
      add(t, Sort::flushed, "subnormal numbers are 0", of_reals(flushed), has_no_subnormal);
  }

  void sum(std::size_t equation) {
    const spec::Equation& e = system_.equations[equation];
    if (e.value.form() != Form::reduce || e.value->reduction != spec::Reduction::sum || e.value.kind() != Kind::real)
      return;
    const DType stored = system_[e.target].dtype;
    const auto in = [&](DType type, const char* text) {
      Change change{Sort::accumulation, system_[e.target].name, text};
      change.accumulate.emplace(equation, type);
      to_.push_back(std::move(change));
    };
    if (stored == DType::f64) in(DType::f32, "adds in f32");
    if (stored == DType::f64 || stored == DType::f32) in(DType::bf16, "adds in bf16"), in(DType::f16, "adds in f16");
  }

 private:
  void add(spec::TensorId t, Sort sort, const char* text, NumberChange change, Keeps keeps) {
    Change made{sort, system_[t].name, std::string(text) + " (" + std::string(name_of(system_[t].dtype)) + ")"};
    made.numbers.emplace(t, std::move(change));
    made.prove = [reaches = reaches_, t, keeps, sort, first = first_output_, &system = system_]() -> std::string {
      const DType d = system[t].dtype;
      if (keeps(reaches->of(t), d)) return "it keeps every number that there can be";
      const double normal = std::ldexp(1.0, spec::format_of(d).emin);
      if (sort == Sort::flushed && least_unless_zero(system, t) >= normal) return "the numbers never come there";
      const Shift shift{normal, {-normal, normal, false}, true};
      return sort == Sort::flushed && Lost(system, *reaches, first).is_lost(t, shift) ? "lost in a rounding behind it" : "";
    };
    to_.push_back(std::move(made));
  }

  const System& system_;
  const std::size_t first_output_;
  const std::shared_ptr<Reaches>& reaches_;
  std::vector<Change>& to_;
};

// Integers of 32 bits that stop at their ends.
void add_saturating(const System& system, std::size_t equation, const std::shared_ptr<Reaches>& reaches,
                    std::vector<Change>& to) {
  const spec::Equation& e = system.equations[equation];
  if (system[e.target].dtype != DType::i32 || e.value.form() == Form::number || e.value.form() == Form::read) return;
  Change change{Sort::saturating, system[e.target].name, "stops at the ends of 32 bits"};
  const auto low = spec::integer(std::numeric_limits<std::int32_t>::min()),
             high = spec::integer(std::numeric_limits<std::int32_t>::max());
  change.equation.emplace(
      equation, spec::apply(spec::Primitive::minimum, {spec::apply(spec::Primitive::maximum, {e.value, low}), high}));
  change.prove = [&e, reaches]() -> std::string {
    const Reach r = reaches->of(e.value, e.binders, {});
    return r.low >= -0x1p31 && r.high < 0x1p31 ? "the integers stay within 32 bits" : "";
  };
  to.push_back(std::move(change));
}

// Rounding twice differs from once where a wide number that is given becomes a narrow one. What is computed may be so in more
// bits: a contract lets it be rounded to those first.
void add_twice(const System& system, std::vector<Change>& to) {
  const auto source = [&](spec::TensorId t) -> std::optional<DType> {
    for (const spec::Equation& e : system.equations) {
      const spec::Expr of = e.value.is(spec::Primitive::to_real) ? e.value->args[0] : e.value;
      if (e.target != t || of.form() != Form::read || size_of(system[of->tensor].dtype) <= size_of(system[t].dtype)) continue;
      if (std::find(system.inputs.begin(), system.inputs.end(), of->tensor) != system.inputs.end()) return system[of->tensor].dtype;
    }
    return std::nullopt;
  };
  for (const spec::TensorId t : system.outputs) {
    const DType d = system[t].dtype;
    const auto given = source(t);
    if (kind_of(d) != Kind::real || !given) continue;
    const DType first = d == DType::f32 ? DType::f64 : DType::f32;
    Change change{Sort::twice, system[t].name, std::string("rounded to ") + std::string(name_of(first)) + " first"};
    change.numbers.emplace(t, NumberChange{});
    change.prove = [same = *given == first] { return std::string(same ? "it keeps every number that there can be" : ""); };
    to.push_back(std::move(change));
  }
}

}  // namespace

double rounded_to(double value, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return static_cast<double>(static_cast<float>(value));
    case DType::f16:
    case DType::bf16:
      return spec::half_value(spec::nearest_half(value, dtype), dtype);
    default:
      return value;
  }
}

void add_number_changes(const System& system, const std::vector<bool>& chosen, std::size_t first_output,
                        const std::shared_ptr<Reaches>& reaches, std::vector<Change>& to) {
  Adding adding(system, first_output, reaches, to);
  for (const spec::TensorId t : system.inputs) adding.tensor(t);
  std::set<spec::TensorId> given;
  for (std::size_t i = 0; i < system.equations.size(); ++i) {
    if (!chosen[i]) continue;
    if (given.insert(system.equations[i].target).second) adding.tensor(system.equations[i].target);
    adding.sum(i);
    add_saturating(system, i, reaches, to);
  }
  add_twice(system, to);
}

}  // namespace etalon::adequacy
