#include "conformance/collapse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>

#include "reference/evaluate.hpp"
#include "reference/host.hpp"

namespace etalon::conformance {
namespace {

using Array = reference::Array<double>;

// Where most laws hold: positive numbers between the whole ones, and small whole ones.
enum class Ordinary : std::uint8_t { between, whole };

/// \param nth of the operands: no two hold the same numbers
[[nodiscard]] Array ordinary(const spec::TensorInfo& info, Ordinary kind, std::size_t nth) {
  Array numbers(kind_of(info.dtype), info.dims);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto whole = static_cast<std::int64_t>((7 * i + 5 * nth) % 11 + 2);
    if (numbers.kind == Kind::real) numbers.real[i] = static_cast<double>(whole) / (kind == Ordinary::whole ? 1.0 : 5.5 + static_cast<double>(nth));
    else numbers.integer[i] = numbers.kind == Kind::boolean ? (whole >> (nth % 3)) % 2 : whole;
  }
  return numbers;
}

[[nodiscard]] bool near(double a, double b) { return std::abs(a - b) <= 0x1p-40 * std::max(std::abs(a), std::abs(b)); }

[[nodiscard]] bool equal(const Array& a, const Array& b) {
  return a.kind == b.kind && a.dims == b.dims && a.integer == b.integer && std::equal(a.real.begin(), a.real.end(), b.real.begin(), b.real.end(), near);
}

[[nodiscard]] bool is_constant(const Array& a) {
  const auto differs = [](double x, double y) { return !near(x, y); };
  return std::adjacent_find(a.real.begin(), a.real.end(), differs) == a.real.end() && std::adjacent_find(a.integer.begin(), a.integer.end(), std::not_equal_to<>()) == a.integer.end();
}

[[nodiscard]] std::vector<Array> operands_of(const spec::Instance& instance, Ordinary kind, std::size_t nth) {
  std::vector<Array> operands;
  for (const spec::TensorId id : instance.system.inputs) operands.push_back(ordinary(instance.system[id], kind, nth++));
  return operands;
}

[[nodiscard]] bool collapses(const spec::Instance& first, const spec::Instance& second, const std::vector<Link>& links, Ordinary kind) {
  const std::vector<Array> before = operands_of(first, kind, 0);
  const Array between = reference::evaluate<double>(first.system, before).front();
  // What is the same for all numbers already is nobody's rewriting.
  if (between.size() < 2 || is_constant(between)) return false;
  std::vector<Array> read = operands_of(second, kind, before.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (links[i].to == Link::To::result) read[i] = between;
    if (links[i].to == Link::To::operand) read[i] = before[links[i].place];
  }
  const Array after = reference::evaluate<double>(second.system, read).front();
  const auto is_after = [&](const Array& a) { return equal(a, after) && !equal(a, between); };
  return is_constant(after) || std::any_of(before.begin(), before.end(), is_after) || std::any_of(read.begin(), read.end(), is_after);
}

}  // namespace

std::vector<std::vector<Link>> ways_to_read(const std::vector<std::optional<spec::ValueType>>& operands,
                                            const std::vector<std::optional<spec::ValueType>>& first_operands, const spec::ValueType& result) {
  std::vector<std::vector<Link>> ways{{}};
  for (const auto& type : operands) {
    std::vector<Link> links{{}};
    if (type == result) links.push_back({Link::To::result, 0});
    for (std::size_t k = 0; k < first_operands.size(); ++k) {
      if (type && type == first_operands[k]) links.push_back({Link::To::operand, k});
    }
    std::vector<std::vector<Link>> longer;
    for (const auto& way : ways) {
      for (const Link& link : links) {
        longer.push_back(way);
        longer.back().push_back(link);
      }
    }
    ways = std::move(longer);
  }
  std::erase_if(ways, [](const auto& way) { return std::none_of(way.begin(), way.end(), [](const Link& l) { return l.to == Link::To::result; }); });
  return ways;
}

bool collapses(const spec::Instance& first, const spec::Instance& second, const std::vector<Link>& links) {
  const auto among = [&](Ordinary kind) {
    try {
      return collapses(first, second, links, kind);
    } catch (const std::exception&) {
      return false;  // an integer divided by zero, say
    }
  };
  return among(Ordinary::between) || among(Ordinary::whole);
}

}  // namespace etalon::conformance
