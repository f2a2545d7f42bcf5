#include "conformance/interchange/stablehlo/choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "conformance/interchange/program_writer.hpp"

namespace etalon::conformance::stablehlo {
namespace {

using interchange::Refused, interchange::refuse;

constexpr std::string_view other_form =
    "a region is offered that compares its arguments and chooses one of two elements or pairs";
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A number of a region while it is tried: which argument's kind it has, so that only the like are compared.
struct Tried {
  double number = 0;
  std::size_t kind = 0;
};
constexpr std::size_t truth = 99;

using Known = std::map<std::string, Tried, std::less<>>;

[[nodiscard]] std::string word_of(const Operation& op, std::string_view attribute, std::size_t position) {
  const auto at = op.attributes.find(attribute);
  if (at == op.attributes.end()) return position < op.words.size() ? op.words[position] : "";
  const auto* word = std::get_if<std::string>(&at->second.value);
  return word == nullptr ? "" : *word;
}

[[nodiscard]] bool compared(std::string_view direction, double a, double b) {
  if (direction == "EQ") return a == b;
  if (direction == "NE") return a != b;
  if (direction == "LT") return a < b;
  if (direction == "LE") return a <= b;
  if (direction == "GT") return a > b;
  refuse(direction != "GE", std::string(other_form));
  return a >= b;
}

/// An extremum of StableHLO's, through which NaN comes.
[[nodiscard]] double extremum(bool is_max, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return nan;
  return is_max ? std::max(a, b) : std::min(a, b);
}

[[nodiscard]] Tried answer(const Operation& op, const std::vector<Tried>& x) {
  const auto are_alike = [&](std::size_t i, std::size_t k) { refuse(x[i].kind != x[k].kind, std::string(other_form)); };
  const auto are = [&](std::size_t number) { refuse(x.size() != number, std::string(other_form)); };
  if (op.name == "stablehlo.compare") {
    are(2), are_alike(0, 1);
    refuse(word_of(op, "compare_type", 1) == "TOTALORDER", "the total order of reals is not offered");
    return {compared(word_of(op, "comparison_direction", 0), x[0].number, x[1].number) ? 1.0 : 0.0, truth};
  }
  if (op.name == "stablehlo.select") {
    are(3), are_alike(1, 2);
    refuse(x[0].kind != truth, std::string(other_form));
    return x[0].number != 0 ? x[1] : x[2];
  }
  if (op.name == "stablehlo.not") {
    are(1);
    refuse(x[0].kind != truth, std::string(other_form));
    return {1 - x[0].number, truth};
  }
  are(2), are_alike(0, 1);
  const bool is_max = op.name == "stablehlo.maximum", is_min = op.name == "stablehlo.minimum";
  if (is_max || is_min) return {extremum(is_max, x[0].number, x[1].number), x[0].kind};
  const bool is_or = op.name == "stablehlo.or", is_and = op.name == "stablehlo.and";
  refuse(x[0].kind != truth || (!is_or && !is_and), std::string(other_form));
  return {extremum(is_or, x[0].number, x[1].number), truth};
}

/// What the region returns for these numbers. Its arguments are so many kinds, and as many again.
[[nodiscard]] std::vector<Tried> tried(const Block& region, const std::vector<double>& numbers) {
  refuse(region.arguments.size() != numbers.size() || region.operations.empty(), std::string(other_form));
  Known known;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    known[region.arguments[i].first] = {numbers[i], i % (numbers.size() / 2)};
  for (const Operation& op : region.operations) {
    std::vector<Tried> operands;
    for (const std::string& name : op.operands) {
      const auto at = known.find(name);
      refuse(at == known.end(), std::string(other_form));
      operands.push_back(at->second);
    }
    if (op.name == "stablehlo.return") return operands;
    refuse(op.results.size() != 1, std::string(other_form));
    known[op.results.front()] = answer(op, operands);
  }
  throw Refused(std::string(other_form));
}

/// What is kept of two elements: the first, the second, or neither of them alone.
struct Kept {
  bool first = false, second = false;
};

/// Of a and b, with companions i and j, which differ.
[[nodiscard]] Kept kept_pair(const Block& region, double a, double b, double i, double j) {
  const std::vector<Tried> found = tried(region, {a, i, b, j});
  refuse(found.size() != 2 || found[0].kind != 0 || found[1].kind != 1, std::string(other_form));
  const auto is = [](double found_number, double number) {
    return found_number == number || (std::isnan(found_number) && std::isnan(number));
  };
  const Kept kept{is(found[0].number, a) && found[1].number == i, is(found[0].number, b) && found[1].number == j};
  refuse(!kept.first && !kept.second, "a region that keeps parts of both pairs");
  return kept;
}

[[nodiscard]] bool stays(const Block& region, double a, double b) {
  const std::vector<Tried> found = tried(region, {a, b});
  refuse(found.size() != 1 || found[0].kind != truth, std::string(other_form));
  return found[0].number != 0;
}

/// Whether the first of two, the other of which is larger or smaller, says that the largest is kept.
[[nodiscard]] bool is_largest(bool keeps_larger, bool keeps_smaller) {
  refuse(keeps_larger == keeps_smaller, "a region that keeps neither the largest nor the smallest");
  return keeps_larger;
}

}  // namespace

Choice choice_of_pairs(const Block& region) {
  constexpr std::array<std::array<double, 2>, 3> companions{{{0, 1}, {1, 0}, {0, 0}}};
  Choice choice{is_largest(kept_pair(region, 1, 0, 0, 1).first, kept_pair(region, 0, 1, 0, 1).first),
                Choice::Tie::first};
  for (const auto& [i, j] : companions) {
    refuse(kept_pair(region, 1, 0, i, j).first != choice.is_largest, "a region that chooses by the second of a pair");
    refuse(kept_pair(region, 0, 1, i, j).second != choice.is_largest, "a region that chooses by the second of a pair");
    const bool drops_nan =
        !std::isnan(tried(region, {nan, i, 0, j})[0].number) && !std::isnan(tried(region, {0, i, nan, j})[0].number);
    refuse(drops_nan, "a region that passes NaN over");
  }
  const bool smaller_first = kept_pair(region, 0, 0, 0, 1).first, larger_first = kept_pair(region, 0, 0, 1, 0).first;
  refuse(!smaller_first && larger_first, "a region that keeps, of equal elements, that of the larger companion");
  choice.tie = !smaller_first ? Choice::Tie::last : larger_first ? Choice::Tie::first : Choice::Tie::least_companion;
  return choice;
}

Choice choice_of_selection(const Block& region) {
  Choice choice{is_largest(stays(region, 1, 0), stays(region, 0, 1)), Choice::Tie::first};
  refuse(!stays(region, nan, 0) && stays(region, 0, nan), "a region that passes NaN over");
  if (!stays(region, 0, 0)) choice.tie = Choice::Tie::last;
  return choice;
}

}  // namespace etalon::conformance::stablehlo
