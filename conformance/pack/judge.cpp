#include "conformance/pack/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <variant>

#include "conformance/values.hpp"
#include "spec/dims.hpp"

namespace etalon::conformance {
namespace {

[[nodiscard]] bool holds(const Way& way, const HostTensor& got, std::size_t i) {
  const std::uint8_t admits = way.admits[i];
  if ((admits & reference::undecided) != 0) return true;
  if (kind_of(got.dtype) != Kind::real) {
    const std::size_t size = size_of(got.dtype);
    return std::memcmp(got.bytes.data() + i * size, way.lower.bytes.data() + i * size, size) == 0;
  }
  const double x = element(got, i);
  if (std::isnan(x)) return (admits & reference::admits_nan) != 0;
  if (std::isinf(x)) return (admits & (x > 0 ? reference::admits_positive_infinity : reference::admits_negative_infinity)) != 0;
  return (admits & reference::admits_finite) != 0 && element(way.lower, i) <= x && x <= element(way.upper, i);
}

/// The first element that the way does not hold for; the number of elements where it holds for all.
[[nodiscard]] std::size_t first_outside(const Way& way, const HostTensor& got) {
  std::size_t i = 0;
  while (i < way.admits.size() && holds(way, got, i)) ++i;
  return i;
}

[[nodiscard]] bool holds(const Way& way, const HostTensor& got) { return first_outside(way, got) == way.admits.size(); }

/// The tensor of the answer; null where there is none.
[[nodiscard]] const HostTensor* tensor_of(const spec::Numbers& numbers, const PackedResult& result) {
  if (result.list == "outputs") return result.index < numbers.outputs.size() ? &numbers.outputs[result.index] : nullptr;
  const auto& list = result.list == "cotangents" ? numbers.cotangents : numbers.tangents;
  return result.index < list.size() && list[result.index] ? &*list[result.index] : nullptr;
}

[[nodiscard]] std::string name_of(const PackedResult& result) { return fmt::format("{}[{}]", result.list, result.index); }

[[nodiscard]] std::string_view also(std::uint8_t admits, reference::Admissible bit, std::string_view name) { return (admits & bit) != 0 ? name : std::string_view(); }

/// The element that most ways agree is wrong: the one that the longest of them fails at.
[[nodiscard]] Outcome convicted(const PackedResult& result, const HostTensor& got) {
  std::size_t at = 0, best = 0;
  for (std::size_t w = 0; w < result.ways.size(); ++w) {
    const std::size_t i = first_outside(result.ways[w], got);
    if (i >= at && i < result.ways[w].admits.size()) {
      at = i;
      best = w;
    }
  }
  const Way& way = result.ways[best];
  const std::uint8_t admits = way.admits[at];
  std::string expected = (admits & reference::admits_finite) == 0 ? std::string("no number")
                                                                   : fmt::format("[{}, {}]", element(way.lower, at), element(way.upper, at));
  for (const std::string_view name : {also(admits, reference::admits_positive_infinity, "inf"), also(admits, reference::admits_negative_infinity, "-inf"),
                                      also(admits, reference::admits_nan, "nan")}) {
    if (!name.empty()) expected += fmt::format(" or {}", name);
  }
  const std::string others = result.ways.size() > 1 ? fmt::format(", in the nearest of {} ways", result.ways.size()) : "";
  return failed(fmt::format("{}, element {}: expected {}{}, found {}", name_of(result), at, expected, others, element(got, at)));
}

[[nodiscard]] std::size_t undecided_in(const PackedResult& result) {
  const auto& admits = result.ways.front().admits;
  return static_cast<std::size_t>(std::count_if(admits.begin(), admits.end(), [](std::uint8_t a) { return (a & reference::undecided) != 0; }));
}

[[nodiscard]] Outcome judge_rejected(const spec::Answer& answer) {
  const auto* refusal = std::get_if<spec::Refusal>(&answer);
  if (refusal == nullptr) return failed("an ill-typed call was answered with numbers");
  if (refusal->kind == spec::Refusal::Kind::error) return failed("an ill-typed call was not rejected but failed: " + refusal->why);
  if (refusal->kind != spec::Refusal::Kind::rejected) return refused(*refusal);
  Outcome outcome;
  outcome.comparisons = 1;
  return outcome;
}

}  // namespace

Outcome judge(const PackedTest& test, const spec::Answer& answer) {
  if (test.rejected) return judge_rejected(answer);
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) return refused(*refusal);
  const auto& numbers = std::get<spec::Numbers>(answer);
  Outcome outcome;
  std::vector<const HostTensor*> got;
  for (const PackedResult& result : test.results) {
    const HostTensor* tensor = tensor_of(numbers, result);
    if (tensor == nullptr) return failed(fmt::format("{}: expected a tensor, found none", name_of(result)));
    if (tensor->dtype != result.value.dtype || !(tensor->dims == result.value.dims))
      return failed(fmt::format("{}: expected {}{}, found {}{}", name_of(result), etalon::name_of(result.value.dtype), to_string(result.value.dims),
                                etalon::name_of(tensor->dtype), to_string(tensor->dims)));
    got.push_back(tensor);
    outcome.comparisons += result.ways.front().admits.size();
    outcome.undecided += undecided_in(result);
  }
  const auto right = [&](std::size_t r) {
    return std::any_of(test.results[r].ways.begin(), test.results[r].ways.end(), [&](const Way& way) { return holds(way, *got[r]); });
  };
  for (std::size_t r = 0; r < got.size(); ++r) {
    if (!right(r)) return convicted(test.results[r], *got[r]);
  }
  const auto jointly = [&](std::size_t way) {
    for (std::size_t r = 0; r < got.size(); ++r) {
      if (!holds(test.results[r].ways[way], *got[r])) return false;
    }
    return true;
  };
  bool found = !test.joint;
  for (std::size_t way = 0; !found && way < test.results.front().ways.size(); ++way) found = jointly(way);
  if (!found) return failed("each result is right alone, but no way holds for all of them: they decided differently");
  outcome.decide();
  return outcome;
}

}  // namespace etalon::conformance
