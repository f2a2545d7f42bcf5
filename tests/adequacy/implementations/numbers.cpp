// Numbers and attributes at the door.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "spec/half.hpp"
#include "tests/adequacy/implementations/tensors.hpp"
#include "tests/adequacy/number_changes.hpp"
#include "tests/mutants/answers.hpp"

namespace etalon::adequacy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

OfTensor integers(std::int64_t (*change)(std::int64_t)) {
  return [change](HostTensor& t) {
    if (t.dtype == DType::i64) {
      for (auto& v : t.view<std::int64_t>()) v = change(v);
    } else if (t.dtype == DType::i32) {
      for (auto& v : t.view<std::int32_t>()) v = static_cast<std::int32_t>(change(v));
    }
  };
}

OfTensor counters(std::int64_t (*change)(std::int64_t)) {
  return [all = integers(change)](HostTensor& t) {
    if (t.dims.rank == 0) all(t);
  };
}

OfTensor reals(double (*change)(double, DType)) {
  return [change](HostTensor& t) { mutants::change_reals(t, change); };
}

template <class T>
std::int64_t through_real(std::int64_t v) {
  const T x = static_cast<T>(v);
  return x >= static_cast<T>(std::numeric_limits<std::int64_t>::max()) ? std::numeric_limits<std::int64_t>::max()
                                                                       : static_cast<std::int64_t>(x);
}

double smallest_normal(DType d) { return std::ldexp(1.0, spec::format_of(d).emin); }
double largest(DType d) {
  const auto f = spec::format_of(d);
  return std::ldexp(2 - std::ldexp(1.0, 1 - f.precision), f.emax);
}

double flush(double x, DType d) { return std::fabs(x) < smallest_normal(d) ? std::copysign(0.0, x) : x; }
double without_nan(double x, DType) { return std::isnan(x) ? 0 : x; }
double nan_is_infinite(double x, DType) { return std::isnan(x) ? infinity : x; }
double nan_where_infinite(double x, DType) { return std::isinf(x) ? std::nan("") : x; }
double clamped(double x, DType d) { return std::isinf(x) ? std::copysign(largest(d), x) : x; }
double through_f32(double x, DType d) { return d == DType::f64 ? rounded_to(x, DType::f32) : x; }
double squared_in_range(double x, DType d) {
  return std::isfinite(x) && std::fabs(x) > std::sqrt(largest(d)) ? std::copysign(infinity, x) : x;
}

void add_numbers(std::vector<Defect>& to) {
  struct Door {
    const char* what;
    OfTensor change;
  };
  const Door doors[] = {
      {"integers pass through f64", integers(through_real<double>)},
      {"integers pass through f32", integers(through_real<float>)},
      {"integers pass through 32 bits",
       integers([](std::int64_t v) -> std::int64_t { return static_cast<std::int32_t>(v); })},
      {"integers pass through 16 bits",
       integers([](std::int64_t v) -> std::int64_t { return static_cast<std::int16_t>(v); })},
      {"subnormal numbers are 0", reals(flush)},
      {"NaN is 0", reals(without_nan)},
      {"NaN is infinite", reals(nan_is_infinite)},
      {"infinities are NaN", reals(nan_where_infinite)},
      {"infinities are the largest number", reals(clamped)},
      {"f64 passes through f32", reals(through_f32)},
      {"what overflows when squared is infinite", reals(squared_in_range)},
  };
  for (const Door& d : doors) {
    to.push_back(of_inputs("numbers", std::string("of operands, ") + d.what, d.change));
    to.push_back(of_answers("numbers", std::string("of results, ") + d.what, d.change));
  }
}

void add_counters(std::vector<Defect>& to) {
  const auto scalar = [&](const char* what, std::int64_t (*change)(std::int64_t)) {
    to.push_back(of_inputs("counters", what, counters(change)));
  };
  scalar("integer scalars stop at 1000", [](std::int64_t v) { return std::min<std::int64_t>(v, 1000); });
  scalar("integer scalars have 8 bits", [](std::int64_t v) { return v & 0xff; });
  scalar("integer scalars have 16 bits", [](std::int64_t v) { return v & 0xffff; });
  scalar("integer scalars have 32 bits", [](std::int64_t v) { return v & 0xffffffff; });
}

double printed(double x, const char* format) {
  char text[64];
  std::snprintf(text, sizeof text, format, x);
  return std::strtod(text, nullptr);
}

// A failing program is booked on the call that failed: calls of other operations keep theirs.
Defect of_attributes(const std::string& operation, std::string what, std::function<void(spec::AttributeValue&)> change) {
  return of_requests("attributes", std::move(what), [operation, change = std::move(change)](spec::Request& r) {
    for (auto& step : r.program.steps) {
      auto* call = std::get_if<spec::Call>(&step);
      if (call == nullptr || call->operation != operation) continue;
      for (auto& [name, value] : call->attributes) change(value);
    }
  });
}

std::function<void(spec::AttributeValue&)> reals_of_attributes(double (*change)(double)) {
  return [change](spec::AttributeValue& value) {
    if (auto* x = std::get_if<double>(&value)) *x = change(*x);
    if (auto* list = std::get_if<std::vector<double>>(&value)) {
      for (double& x : *list) x = change(x);
    }
  };
}

void invert_permutation(spec::AttributeValue& value) {
  auto* list = std::get_if<std::vector<std::int64_t>>(&value);
  if (list == nullptr) return;
  const auto n = static_cast<std::int64_t>(list->size());
  std::vector<std::int64_t> inverse(list->size(), -1);
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t at = (*list)[static_cast<std::size_t>(k)] + ((*list)[static_cast<std::size_t>(k)] < 0 ? n : 0);
    if (at < 0 || at >= n || inverse[static_cast<std::size_t>(at)] >= 0) return;
    inverse[static_cast<std::size_t>(at)] = k;
  }
  *list = inverse;
}

void add_attributes(const std::string& operation, std::vector<Defect>& to) {
  const auto add = [&](const char* what, std::function<void(spec::AttributeValue&)> change) { to.push_back(of_attributes(operation, what, std::move(change))); };
  const auto reals = [&](const char* what, double (*change)(double)) { add(what, reals_of_attributes(change)); };
  add("a permutation is taken for its inverse", invert_permutation);
  reals("real attributes have 2 digits", [](double x) { return printed(x, "%.2g"); });
  reals("real attributes have 6 digits", [](double x) { return printed(x, "%g"); });
  reals("real attributes have 6 places", [](double x) { return printed(x, "%f"); });
  reals("real attributes are f32", [](double x) { return rounded_to(x, DType::f32); });
  reals("real attributes are f16", [](double x) { return rounded_to(x, DType::f16); });
  reals("real attributes are integers", [](double x) { return std::nearbyint(x); });
}

}  // namespace

std::vector<Defect> defects_of_numbers(const std::string& operation) {
  std::vector<Defect> all;
  add_numbers(all);
  add_counters(all);
  add_attributes(operation, all);
  return all;
}

}  // namespace etalon::adequacy
