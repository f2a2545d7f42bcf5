#include "conformance/known_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <set>
#include <utility>
#include <vector>

#include "conformance/admissible.hpp"
#include "conformance/number_text.hpp"
#include "conformance/values.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

std::size_t count_of(const HostTensor& t) { return static_cast<std::size_t>(t.dims.count()); }

bool fits(const HostTensor& t, const reference::Envelope& expected) { return reference::judge(t, expected).passed(); }

/// Some element is a number other than 0: else signs, factors and orders explain nothing.
bool says_something(const HostTensor& t) {
  for (std::size_t i = 0; i < count_of(t); ++i) {
    const double value = element(t, i);
    if (std::isfinite(value) && value != 0) return true;
  }
  return false;
}

HostTensor negated(const HostTensor& t) {
  HostTensor other = t;
  for (std::size_t i = 0; i < count_of(t); ++i) set_element(other, i, -element(t, i));
  return other;
}

std::string sign(const HostTensor& got, const reference::Envelope& expected) {
  return fits(negated(got), expected) ? "the sign is wrong" : "";
}

/// Counts that an equation may divide by, or forget to: 2, the extents, how many elements an operand has, one less.
std::set<std::int64_t> counts_in(const Case& c) {
  std::set<std::int64_t> counts{2};
  for (const auto& t : c.operands) {
    if (!t) continue;
    for (const std::int64_t n : {t->dims.count(), t->dims.count() - 1}) counts.insert(n);
    for (std::size_t axis = 0; axis < t->dims.rank; ++axis) counts.insert({t->dims[axis], t->dims[axis] - 1});
  }
  return {counts.upper_bound(1), counts.end()};
}

/// Whether every element times this lies in its interval, but for the rounding that the backend's own multiplication
/// makes.
bool fits_times(const HostTensor& got, const reference::Envelope& expected, double numerator, double denominator) {
  for (std::size_t i = 0; i < count_of(got); ++i) {
    const double value = element(got, i) * numerator / denominator;
    const double nearest = std::clamp(value, expected.lower[i], expected.upper[i]);
    const auto beyond = ulps(value, nearest, got.dtype);
    if (!beyond || !(*beyond <= 1)) return false;
  }
  return true;
}

std::string factor(const Case& c, const HostTensor& got, const reference::Envelope& expected) {
  for (const std::int64_t n : counts_in(c)) {
    const auto by = static_cast<double>(n);
    if (fits_times(got, expected, 1, by)) return fmt::format("{} times too much", n);
    if (fits_times(got, expected, by, 1)) return fmt::format("{} times too little", n);
  }
  return "";
}

/// The elements in the order in which they would stand were these two axes exchanged.
HostTensor exchanged(const HostTensor& t, std::size_t a, std::size_t b) {
  HostTensor moved = t;
  Dims dims = t.dims;
  std::swap(dims[a], dims[b]);
  std::vector<std::int64_t> index(t.dims.rank, 0);  // of an element of `moved`, read as if it had these extents
  for (std::size_t i = 0; i < count_of(t); ++i) {
    std::vector<std::int64_t> from = index;
    std::swap(from[a], from[b]);
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < t.dims.rank; ++axis) place = place * t.dims[axis] + from[axis];
    set_element(moved, static_cast<std::size_t>(place), element(t, i));
    for (std::size_t axis = t.dims.rank; axis-- > 0;) {
      if (++index[axis] < dims[axis]) break;
      index[axis] = 0;
    }
  }
  return moved;
}

std::string order(const HostTensor& got, const reference::Envelope& expected) {
  for (std::size_t a = 0; a < got.dims.rank; ++a) {
    for (std::size_t b = a + 1; b < got.dims.rank; ++b) {
      if (got.dims[a] > 1 && got.dims[b] > 1 && fits(exchanged(got, a, b), expected))
        return fmt::format("axes {} and {} are exchanged", a, b);
    }
  }
  HostTensor turned = got;
  for (std::size_t i = 0; i < count_of(got); ++i) set_element(turned, i, element(got, count_of(got) - 1 - i));
  return count_of(got) > 1 && fits(turned, expected) ? "the elements stand in reversed order" : "";
}

/// Whether all elements that are wrong have so few digits, while what was expected has not.
std::string precision(const HostTensor& got, const reference::Envelope& expected) {
  for (const DType narrow : {DType::bf16, DType::f16, DType::f32}) {
    if (kind_of(got.dtype) != Kind::real || spec::format_of(narrow).precision >= spec::format_of(got.dtype).precision)
      continue;
    const auto kept = [&](double value) {
      HostTensor one(narrow, {});
      set_element(one, 0, value);
      return element(one, 0);
    };
    bool all = true, near = true;
    for (std::size_t i = 0; i < count_of(got) && all && near; ++i) {
      const double value = element(got, i);
      all = kept(value) == value;
      // Another wrong number with few digits is no rounding of the right one.
      near = kept(expected.reference[i]) == value;
    }
    if (all && near)
      return fmt::format("the exact values rounded to {}: computed or stored in {}?", name_of(narrow), name_of(narrow));
  }
  return "";
}

std::string wrapped(const HostTensor& got, const reference::Envelope& expected) {
  if (got.dtype != DType::i64 || expected.exact.size() != count_of(got)) return "";
  for (std::size_t i = 0; i < count_of(got); ++i) {
    const auto low =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(expected.exact[i])));
    if (static_cast<double>(low) != element(got, i)) return "";
  }
  return "the exact integers wrapped to 32 bits";
}

/// Whether the answer is what would be expected if the call were this one, whose results may be as large as no memory is.
bool explains(const Case& other, const HostTensor& got, std::size_t output, const spec::Contract& contract) {
  try {
    const spec::Request request = request_of(other);
    const Admissible admissible(request, contract);
    const spec::System& system = admissible.question().system;
    const spec::TensorInfo& asked = system[system.outputs.at(output)];
    return asked.dtype == got.dtype && asked.dims == got.dims && fits(got, admissible.meaning().outputs.at(output));
  } catch (const std::exception&) {  // the other call is ill-typed
    return false;
  }
}

std::string operands(const Case& c, const HostTensor& got, std::size_t output, const spec::Contract& contract) {
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    for (std::size_t j = i + 1; j < c.operands.size(); ++j) {
      if (!c.operands[i] || !c.operands[j] || c.operands[i]->dtype != c.operands[j]->dtype) continue;
      Case other = c;
      std::swap(other.operands[i], other.operands[j]);
      std::swap(other.call.operands[i], other.call.operands[j]);
      if (explains(other, got, output, contract)) return fmt::format("operands {} and {} are exchanged", i, j);
    }
  }
  return "";
}

std::string attributes(const Case& c, const HostTensor& got, std::size_t output, const spec::Contract& contract) {
  for (const auto& [name, value] : instance_of(c).attributes) {
    Case other = c;
    other.call.attributes.erase(name);
    if (explains(other, got, output, contract)) return fmt::format("as if {} had its default", name);
    if (const auto* truth = std::get_if<bool>(&value)) {
      other.call.attributes[name] = !*truth;
      if (explains(other, got, output, contract)) return fmt::format("as if {} were {}", name, !*truth);
    }
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      for (const std::int64_t near : {*integer - 1, *integer + 1, std::int64_t{0}}) {
        other.call.attributes[name] = near;
        if (near != *integer && explains(other, got, output, contract))
          return fmt::format("as if {} were {}", name, near);
      }
    }
  }
  return "";
}

}  // namespace

std::string known_cause(const Case& c, const HostTensor& got, const reference::Envelope& expected, std::size_t output,
                        const spec::Contract& contract) {
  if (std::string found = wrapped(got, expected); !found.empty()) return found;
  if (kind_of(got.dtype) == Kind::real && says_something(got)) {
    for (std::string found :
         {sign(got, expected), order(got, expected), precision(got, expected), factor(c, got, expected)}) {
      if (!found.empty()) return found;
    }
  }
  if (std::string found = operands(c, got, output, contract); !found.empty()) return found;
  return attributes(c, got, output, contract);
}

}  // namespace etalon::conformance
