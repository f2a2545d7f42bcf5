#include "tests/adequacy/number_changes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "conformance/values.hpp"
#include "spec/contract/contract.hpp"
#include "spec/half.hpp"

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

class Adding {
 public:
  Adding(const System& system, std::vector<Change>& to) : system_(system), to_(to) {}

  void tensor(spec::TensorId t) {
    switch (system_[t].dtype) {
      case DType::f64:
        add(t, Sort::through, "through f32", of_reals(through_f32));
        [[fallthrough]];
      case DType::f32:
        add(t, Sort::through, "through bf16", of_reals(through_bf16));
        add(t, Sort::through, "through f16", of_reals(through_f16));
        break;
      case DType::f16:
        add(t, Sort::through, "through bf16", of_reals(through_bf16));
        break;
      case DType::bf16:
        add(t, Sort::through, "through f16", of_reals(through_f16));
        break;
      case DType::i64:
        add(t, Sort::through, "through f64", integers_through<double, std::int64_t>);
        add(t, Sort::through, "through f32", integers_through<float, std::int64_t>);
        break;
      case DType::i32:
        add(t, Sort::through, "through f32", integers_through<float, std::int32_t>);
        break;
      case DType::boolean:
        return;
    }
    if (kind_of(system_[t].dtype) == Kind::real) add(t, Sort::flushed, "subnormal numbers are 0", of_reals(flushed));
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
  void add(spec::TensorId t, Sort sort, const char* text, NumberChange change) {
    Change made{sort, system_[t].name, std::string(text) + " (" + std::string(name_of(system_[t].dtype)) + ")"};
    made.numbers.emplace(t, std::move(change));
    to_.push_back(std::move(made));
  }

  const System& system_;
  std::vector<Change>& to_;
};

// Integers of 32 bits that stop at their ends.
void add_saturating(const System& system, std::size_t equation, std::vector<Change>& to) {
  const spec::Equation& e = system.equations[equation];
  if (system[e.target].dtype != DType::i32 || e.value.form() == Form::number || e.value.form() == Form::read) return;
  Change change{Sort::saturating, system[e.target].name, "stops at the ends of 32 bits"};
  const auto low = spec::integer(std::numeric_limits<std::int32_t>::min()),
             high = spec::integer(std::numeric_limits<std::int32_t>::max());
  change.equation.emplace(
      equation, spec::apply(spec::Primitive::minimum, {spec::apply(spec::Primitive::maximum, {e.value, low}), high}));
  to.push_back(std::move(change));
}

// Rounding twice differs from once where wide numbers meet a narrow type.
void add_twice(const System& system, std::vector<Change>& to) {
  const bool wide = std::any_of(system.inputs.begin(), system.inputs.end(), [&](spec::TensorId t) {
    return system[t].dtype == DType::i64 || system[t].dtype == DType::f64;
  });
  for (const spec::TensorId t : system.outputs) {
    const DType d = system[t].dtype;
    const bool narrow = spec::is_half(d) || (d == DType::f32 && wide);
    if (!narrow) continue;
    Change change{Sort::twice, system[t].name,
                  std::string("rounded to ") + (d == DType::f32 ? "f64" : "f32") + " first"};
    change.numbers.emplace(t, NumberChange{});
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

void add_number_changes(const System& system, const std::vector<bool>& chosen, std::vector<Change>& to) {
  Adding adding(system, to);
  for (const spec::TensorId t : system.inputs) adding.tensor(t);
  std::set<spec::TensorId> given;
  for (std::size_t i = 0; i < system.equations.size(); ++i) {
    if (!chosen[i]) continue;
    if (given.insert(system.equations[i].target).second) adding.tensor(system.equations[i].target);
    adding.sum(i);
    add_saturating(system, i, to);
  }
  add_twice(system, to);
}

}  // namespace etalon::adequacy
