#include "conformance/program_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>
#include <variant>

#include "reference/evaluate.hpp"
#include "reference/host.hpp"

namespace etalon::conformance {
namespace {

/// A computed index stays inside; beyond the ends libraries do as they like.
[[nodiscard]] bool is_in_range(const reference::Array<double>& value, const IntegerRole& role) {
  if (value.kind != Kind::integer || !role.extent) return true;
  return std::all_of(value.integer.begin(), value.integer.end(),
                     [&](std::int64_t i) { return i >= 0 && i < *role.extent; });
}

}  // namespace

ProgramNumbers::ProgramNumbers(DType dtype, Numerals numerals, Draw& draw)
    : largest_(dtype == DType::f16 ? 0x1p6 : 0x1p12), numerals_(numerals), draw_(draw) {}

bool ProgramNumbers::take(const spec::Program& program, const spec::Instance& instance) {
  const std::size_t before = inputs_.size();
  const auto& call = std::get<spec::Call>(program.steps.back());
  const bool taken = fits(program, call, instance);
  if (taken) return true;
  for (std::size_t i = before; i < inputs_.size(); ++i) values_.erase(program.inputs[i].name);
  inputs_.resize(before);
  return false;
}

bool ProgramNumbers::fits(const spec::Program& program, const spec::Call& call, const spec::Instance& instance) {
  const auto roles = integer_roles(instance.system);
  const std::optional<double> constant = constant_among(call);
  std::vector<Array> operands;
  for (const auto& name : call.operands) {
    if (!name) continue;
    const IntegerRole& role = roles[operands.size()];
    if (const auto found = values_.find(*name); found != values_.end()) {
      if (!is_in_range(found->second, role)) return false;
      operands.push_back(found->second);
    } else {
      inputs_.push_back(drawn(program.inputs[inputs_.size()], role));
      HostTensor& t = inputs_.back();
      // Slopes differ where both are equal.
      for (int k = 0; k < 2 && constant && kind_of(t.dtype) == Kind::real && t.dims.count() > 0; ++k) set_element(t, static_cast<std::size_t>(draw_.integer(0, t.dims.count() - 1)), *constant);
      operands.push_back(reference::from_host<double>(inputs_.back()));
      values_[*name] = operands.back();  // other operands may read it
    }
  }
  try {
    return keeps(call, instance, reference::evaluate<double>(instance.system, operands));
  } catch (const std::exception&) {
    return false;  // an integer divided by zero, say: such calls have cases of their own
  }
}

std::optional<double> ProgramNumbers::constant_among(const spec::Call& call) const {
  for (const auto& name : call.operands) {
    const auto found = name ? values_.find(*name) : values_.end();
    if (found == values_.end() || found->second.kind != Kind::real || found->second.real.size() < 2) continue;
    const std::vector<double>& all = found->second.real;
    if (std::all_of(all.begin(), all.end(), [&](double x) { return x == all.front(); })) return all.front();
  }
  return std::nullopt;
}

HostTensor ProgramNumbers::drawn(const spec::Input& input, const IntegerRole& role) {
  static const std::vector<Family> moderate{Family::normal, Family::normal, Family::unit, Family::positive, Family::signs};
  static const std::vector<Family> any{Family::large, Family::tiny,   Family::mixed,      Family::ties,
                                       Family::zeros, Family::special, Family::cancelling, Family::offset};
  static const std::vector<Family> special{Family::special};
  switch (kind_of(input.dtype)) {
    case Kind::real: break;
    case Kind::integer: return draw_integer(draw_, role, input.dtype, input.dims);
    case Kind::boolean: return draw_boolean(draw_, input.dims);
  }
  static const std::vector<const std::vector<Family>*> either{&moderate, &any, &special}, rather_special{&moderate, &any, &special, &special};
  switch (numerals_) {
    case Numerals::moderate: return real(draw_.pick(moderate), input);
    case Numerals::any: return real(draw_.pick(any), input);
    case Numerals::mixed: return real(draw_.pick(*draw_.pick(either)), input);
    case Numerals::mostly_special: {
      HostTensor t = real(draw_.pick(*draw_.pick(rather_special)), input);
      // Of a pair that is met once every class of numbers is to be among its elements.
      const HostTensor beside = real(Family::special, input);
      const bool both = draw_.chance(0.7);
      for (std::size_t i = 1; both && i < static_cast<std::size_t>(t.dims.count()); i += 2) set_element(t, i, element(beside, i));
      return t;
    }
    case Numerals::special: break;
  }
  return real(Family::special, input);
}

HostTensor ProgramNumbers::real(Family family, const spec::Input& input) {
  HostTensor t = draw_real(draw_, family, input.dtype, input.dims);
  // Few elements hold few extremes by chance; what is compared with itself is NaN for sure.
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double> sure{inf, -inf, std::numeric_limits<double>::quiet_NaN()};
  if (family != Family::special) sure.clear();
  for (const double x : sure) {
    if (t.dims.count() > 0) set_element(t, static_cast<std::size_t>(draw_.integer(0, t.dims.count() - 1)), x);
  }
  return t;
}

bool ProgramNumbers::keeps(const spec::Call& call, const spec::Instance& instance, std::vector<Array> results) {
  for (std::size_t r = 0; r < results.size(); ++r) {
    // As a backend would store it: half precision overflows where doubles do not.
    results[r] = reference::from_host<double>(reference::to_host(results[r], instance.results[r].dtype));
    const auto wanted = [&](double x) { return std::isfinite(x) && std::abs(x) <= largest_; };
    if (numerals_ == Numerals::moderate && !std::all_of(results[r].real.begin(), results[r].real.end(), wanted)) return false;
  }
  for (std::size_t r = 0; r < results.size(); ++r) values_[call.results[r]] = std::move(results[r]);
  return true;
}

}  // namespace etalon::conformance
