// The tape of inexact operations: errors that add up, and what is said when there is no room.
#include <catch2/catch.hpp>

#include <cmath>

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
