// The tape of inexact operations: errors that add up, and what is said when there is no room.
#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <vector>

#include "reference/bounds/tape.hpp"

using namespace etalon::reference::bounds;

TEST_CASE("errors reach a result by the derivatives on their way", "[bounds]") {
  Tape tape;
  const NodeId a = tape.open(1), b = tape.open(2), c = tape.open(0.5);
  tape.edge({a, {2, 3}});
  tape.edge({b, {-4, 1}});
  const double bound = tape.error(c, 100).bound;
  CHECK(bound >= 0.5 + 3 * 1 + 4 * 2);
  CHECK(bound <= (0.5 + 3 * 1 + 4 * 2) * 1.001);
}

TEST_CASE("of what had no room for its edges nothing is known", "[bounds]") {
  Tape tape(3);
  const NodeId a = tape.open(1), b = tape.open(2), c = tape.open(0.5);
  tape.edge({a, {1, 1}});
  tape.edge({b, {1, 1}});
  const NodeId d = tape.open(0.5);
  tape.edge({a, {1, 1}});
  tape.edge({b, {1, 1}});
  const NodeId e = tape.open(0.25);
  tape.edge({c, {1, 1}});
  const double bound = tape.error(c, 100).bound;
  CHECK(bound >= 3.5);
  CHECK(bound <= 3.5 * 1.001);
  CHECK(std::isinf(tape.error(d, 100).bound));
  CHECK(std::isinf(tape.error(e, 100).bound));
}

TEST_CASE("what was taken back leaves no trace", "[bounds]") {
  Tape tape(3);
  const NodeId a = tape.open(1), b = tape.open(2);
  tape.edge({a, {1, 1}});
  const std::size_t kept = tape.size();
  for (int again = 0; again < 3; ++again) {
    const NodeId c = tape.open(0.5);
    tape.edge({b, {2, 2}});
    const double bound = tape.error(c, 100).bound;
    CHECK(bound >= 0.5 + 2 * 2 + 2 * 1);
    CHECK(bound <= (0.5 + 2 * 2 + 2 * 1) * 1.001);
    const NodeId d = tape.open(0.5);
    tape.edge({a, {1, 1}});
    tape.edge({b, {1, 1}});  // has no room
    CHECK(std::isinf(tape.error(d, 100).bound));
    tape.shrink(kept);
  }
  const double bound = tape.error(b, 100).bound;
  CHECK(bound >= 3);
  CHECK(bound <= 3 * 1.001);
}

TEST_CASE("operands that pass are taken over, and the bound is that of the whole tape", "[bounds]") {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> number(-2, 2);
  const auto slope = [&] {
    const double a = number(random), b = number(random);
    return random() % 3 == 0 ? Interval{a, a} : Interval{std::min(a, b), std::max(a, b)};
  };
  std::size_t nodes = 0, kept = 0, compared = 0;
  for (int round = 0; round < 200; ++round) {
    Tape whole, folded;
    std::vector<std::pair<NodeId, NodeId>> elements;
    for (int i = 0; i < 4; ++i) elements.emplace_back(whole.open(1), folded.open(1));
    for (int element = 0; element < 12; ++element) {
      folded.begin_passing();
      std::vector<std::pair<NodeId, NodeId>> passing;
      const auto open = [&](std::size_t edges, bool all_that_pass) {
        const double local = std::fabs(number(random));
        const double spread = random() % 2 == 0 ? 0 : local / 2;
        const std::pair<NodeId, NodeId> node{whole.open(local, local / 3, spread), folded.open(local, local / 3, spread)};
        const auto edge = [&](const std::pair<NodeId, NodeId>& operand) {
          const Interval s = slope();
          whole.edge({operand.first, s});
          folded.edge({operand.second, s});
        };
        for (std::size_t e = 0; e < edges; ++e) edge(elements[random() % elements.size()]);
        for (std::size_t e = 0; all_that_pass && e < passing.size(); ++e) edge(passing[e]);
        return node;
      };
      const std::size_t terms = random() % 4;
      std::vector<std::pair<NodeId, NodeId>> made;
      for (std::size_t t = 0; t < terms; ++t) made.push_back(open(random() % 6, false));  // some have too many edges
      passing = made;
      auto last = open(1, true);
      last.second = folded.end_passing(last.second);
      elements.push_back(last);
    }
    nodes += whole.size();
    kept += folded.size();
    for (const auto& [a, b] : elements) {
      const auto expected = whole.error(a, 1000000);
      const auto got = folded.error(b, 1000000);
      CHECK(!(std::fabs(got.bound - expected.bound) > 1e-12 * expected.bound));
      CHECK(!(std::fabs(got.deviation - expected.deviation) > 1e-12 * expected.deviation));
      CHECK(got.bound > 0);
      ++compared;
    }
  }
  CHECK(compared == 200 * 16);
  CHECK(kept < nodes);
}

TEST_CASE("what passed and lacked room leaves its taker unknown", "[bounds]") {
  Tape tape(2);
  const NodeId a = tape.open(1);
  tape.begin_passing();
  const NodeId b = tape.open(1);
  for (int i = 0; i < 3; ++i) tape.edge({a, {1, 1}});
  const NodeId c = tape.open(1);
  tape.edge({b, {1, 1}});
  CHECK(std::isinf(tape.error(tape.end_passing(c), 100).bound));
}
