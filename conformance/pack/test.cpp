#include "conformance/pack/test.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "conformance/admissible.hpp"
#include "conformance/steps.hpp"

namespace etalon::conformance {
namespace {

[[nodiscard]] bool any_admits(const std::vector<PackedResult>& results, unsigned bits) {
  return std::any_of(results.begin(), results.end(), [&](const PackedResult& r) {
    return std::any_of(r.ways.begin(), r.ways.end(), [&](const Way& way) {
      return std::any_of(way.admits.begin(), way.admits.end(), [&](std::uint8_t admits) { return (admits & bits) != 0; });
    });
  });
}

/// What the bounds show that the numbers provoke.
void add_provoked(PackedTest& test, bool open) {
  const auto add = [&](const char* flag, bool is_so) {
    if (is_so) test.flags.emplace_back(flag);
  };
  add("kink", open);
  add("overflow", any_admits(test.results, reference::admits_positive_infinity | reference::admits_negative_infinity));
  add("nan", any_admits(test.results, reference::admits_nan));
  add("undecided", any_admits(test.results, reference::undecided));
}

[[nodiscard]] PackedTest test_of(const Case& c) {
  PackedTest test;
  test.request = request_of(c);
  test.flags = c.classes;
  std::sort(test.flags.begin(), test.flags.end());
  test.flags.erase(std::unique(test.flags.begin(), test.flags.end()), test.flags.end());
  return test;
}

/// The results of the test, with all their ways; false where there are too many.
[[nodiscard]] bool bound(PackedTest& test, const spec::Contract& contract, std::vector<HostTensor>& meant) {
  const Admissible admissible(test.request, contract);
  std::optional<Ways> ways = admissible.ways();
  if (!ways) return false;
  meant = std::move(ways->meant);
  test.joint = ways->joint;
  for (const AnswerList& list : admissible.question().lists) {
    std::size_t next = list.first;
    for (std::size_t i = 0; i < list.present.size(); ++i) {
      if (!list.present[i]) continue;
      test.results.push_back({list.name, i, meant.at(next), std::move(ways->of_tensor.at(next))});
      ++next;
    }
  }
  add_provoked(test, ways->open);
  return true;
}

}  // namespace

std::vector<PackedTest> tests_of(const Case& c, const spec::Contract& contract, std::size_t& left_out) {
  std::vector<PackedTest> tests;
  Case now = c;
  for (int step = 1; step <= c.steps; ++step) {
    PackedTest test = test_of(now);
    test.rejected = c.key.check == Check::rejection;
    if (step > 1) test.request.id += "#" + std::to_string(step);
    std::vector<HostTensor> meant;
    if (!test.rejected && !bound(test, contract, meant)) {
      ++left_out;
      break;
    }
    tests.push_back(std::move(test));
    if (step < c.steps) advance(now, meant);
  }
  return tests;
}

}  // namespace etalon::conformance
