#include "training/guard.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <variant>

#include "spec/error.hpp"
#include "spec/half.hpp"
#include "spec/nearest.hpp"
#include "spec/program/wishes.hpp"

namespace etalon::training {

namespace {

/// The position of the first element that is not finite, with its number.
template <class T, class Number>
std::optional<std::pair<std::size_t, double>> first_of(std::span<const T> values, const Number& number) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = number(values[i]);
    if (!std::isfinite(x)) return std::pair(i, x);
  }
  return std::nullopt;
}

std::optional<std::pair<std::size_t, double>> first_in(const HostTensor& value) {
  if (value.dtype == DType::f32) return first_of(value.view<float>(), [](float x) { return static_cast<double>(x); });
  if (value.dtype == DType::f64) return first_of(value.view<double>(), [](double x) { return x; });
  if (spec::is_half(value.dtype))
    return first_of(value.view<std::uint16_t>(), [&](std::uint16_t x) { return spec::half_value(x, value.dtype); });
  return std::nullopt;
}

const HostTensor* find(const NamedValues& values, const std::string& name) {
  const auto at = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == name; });
  return at == values.end() ? nullptr : &at->second;
}

/// The step, from 1, that makes each value.
std::map<std::string, std::size_t> made_at(const spec::Program& program) {
  std::map<std::string, std::size_t> made;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (const auto* assign = std::get_if<spec::Assign>(&program.steps[i])) {
      made[assign->buffer] = i + 1;
      continue;
    }
    const auto* call = std::get_if<spec::Call>(&program.steps[i]);
    const auto& results = call != nullptr ? call->results : std::get<spec::Differentiate>(program.steps[i]).results;
    for (const std::string& result : results) made[result] = i + 1;
  }
  return made;
}

}  // namespace

std::string to_text(const NotFinite& found) {
  const std::string where = found.element.empty() ? "" : fmt::format(" at [{}]", fmt::join(found.element, ", "));
  return fmt::format("{}`{}` is {}{}", found.updated ? "the new " : "", found.value,
                     std::isnan(found.number) ? "nan"
                     : found.number < 0       ? "-inf"
                                              : "inf",
                     where);
}

std::optional<NotFinite> first_not_finite(const std::string& name, const HostTensor& value) {
  const auto first = first_in(value);
  if (!first) return std::nullopt;
  NotFinite found{name, false, std::vector<std::int64_t>(value.dims.rank), first->second};
  auto rest = static_cast<std::int64_t>(first->first);
  for (std::size_t axis = value.dims.rank; axis-- > 0; rest /= value.dims[axis])
    found.element[axis] = rest % value.dims[axis];
  return found;
}

std::vector<std::string> in_program_order(const spec::Program& program, const std::vector<std::string>& values) {
  std::vector<std::string> known = program.outputs;
  for (const std::string& name : spec::captures(program)) known.push_back(name);
  for (const std::string& name : values) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw SpecViolation(unknown_name("output or capture", name, known));
  }
  std::map<std::string, std::size_t> made = made_at(program);
  std::vector<std::string> ordered;
  for (const std::string& name : values) {
    if (std::find(ordered.begin(), ordered.end(), name) == ordered.end()) ordered.push_back(name);
  }
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](const std::string& a, const std::string& b) { return made[a] < made[b]; });
  return ordered;
}

Guarding::Guarding(const spec::Program& program, const Guard& guard)
    : values_(in_program_order(program, guard.values)), updates_(guard.updates) {
  for (const spec::Update& update : spec::all_updates(program)) parameters_.push_back(update.parameter);
  before_.resize(parameters_.size());
}

void Guarding::remember(const compiled::Store& store) {
  if (!is_on()) return;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    // What has no value is refused by the run, which then writes nothing.
    if (!store.has_value(parameters_[i])) continue;
    before_[i] = store.read(parameters_[i]);
  }
}

std::optional<NotFinite> Guarding::found(const NamedValues& outputs, const NamedValues& captures,
                                         const compiled::Store& store) const {
  for (const std::string& name : values_) {
    const HostTensor* output = find(outputs, name);
    if (auto bad = first_not_finite(name, output != nullptr ? *output : *find(captures, name))) return bad;
  }
  if (!updates_) return std::nullopt;
  for (const std::string& parameter : parameters_) {
    auto bad = first_not_finite(parameter, store.read(parameter));
    if (!bad) continue;
    bad->updated = true;
    return bad;
  }
  return std::nullopt;
}

std::optional<NotFinite> Guarding::check(const NamedValues& outputs, const NamedValues& captures,
                                         compiled::Store& store) const {
  std::optional<NotFinite> bad = is_on() ? found(outputs, captures, store) : std::nullopt;
  if (!bad) return bad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (before_[i]) store.write(parameters_[i], *before_[i]);
  }
  return bad;
}

}  // namespace etalon::training
