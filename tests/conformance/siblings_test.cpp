// Calls that differ in one thing, and rows that broadcast as they are told.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "conformance/broadcasting.hpp"
#include "conformance/drawing.hpp"
#include "conformance/shapes.hpp"
#include "conformance/sibling.hpp"
#include "spec/notation/attributes.hpp"
#include "spec/library/library.hpp"

using namespace etalon;
using conformance::Draw;
using conformance::Repeats;

TEST_CASE("a sibling is another call of the same definition, which differs in one attribute, in an operand left out or in the order of extents", "[siblings]") {
  std::size_t of_attributes = 0, of_operands = 0, of_shapes = 0;
  for (const spec::Definition* d : spec::Library().definitions()) {
    Draw draw(std::string(d->name) + " siblings");
    for (std::uint64_t turn = 0; turn < 8; ++turn) {
      const auto first = conformance::draw_assignment(*d, draw, {.elements = 60, .turn = turn}, DType::f32);
      if (!first) continue;
      const auto second = conformance::sibling_of(*d, *first, turn, turn, draw, DType::f32);
      if (!second) continue;
      INFO(std::string(d->name) << " in turn " << turn);
      const auto a = conformance::call_of(*d, *first, DType::f32), b = conformance::call_of(*d, *second, DType::f32);
      REQUIRE(a);
      REQUIRE(b);
      const spec::Attributes one = spec::to_attributes(*d, spec::bind_attributes(*d, a->attributes));
      const spec::Attributes other = spec::to_attributes(*d, spec::bind_attributes(*d, b->attributes));
      std::size_t differ = 0;
      for (const auto& [name, value] : one) differ += other.at(name) == value ? 0 : 1;
      if (first->absent != second->absent) {
        CHECK(differ == 0);
        CHECK(first->rows == second->rows);
        ++of_operands;
      } else if (first->rows == second->rows) {
        CHECK(differ == 1);
        ++of_attributes;
      } else {
        CHECK(differ == 0);
        for (const auto& [row, extents] : first->rows) {
          const std::vector<std::int64_t>& now = second->rows.at(row);
          CHECK((now == extents || std::equal(now.begin(), now.end(), extents.rbegin(), extents.rend())));
        }
        ++of_shapes;
      }
    }
  }
  CHECK(of_attributes > 400);
  CHECK(of_operands > 40);
  CHECK(of_shapes > 100);
}

TEST_CASE("rows have the pattern that they are given", "[siblings]") {
  for (std::size_t p = 0; p < conformance::repeats_count; ++p) {
    const auto pattern = static_cast<Repeats>(p);
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      INFO("pattern " << p << ", seed " << seed);
      Draw draw(seed);
      const auto [m, n] = conformance::draw_ranks(pattern, draw);
      std::vector<std::int64_t> x(m, 5), y(n, 5);
      conformance::repeat(pattern, x, y, draw);
      const auto ones = [](const std::vector<std::int64_t>& row) { return std::count(row.begin(), row.end(), 1); };
      const auto left = ones(x), right = ones(y);
      const bool shorter = pattern == Repeats::shorter || pattern == Repeats::shorter_and_repeated;
      CHECK((m == n) == !shorter);
      switch (pattern) {
        case Repeats::first: CHECK((left == 1 && right == 0)); break;
        case Repeats::second: CHECK((left == 0 && right == 1)); break;
        case Repeats::both: CHECK((left == 1 && right == 1)); break;
        case Repeats::several: CHECK(((left == 2 && right == 0) || (left == 0 && right == 2))); break;
        case Repeats::shorter: CHECK(left + right == 0); break;
        case Repeats::shorter_and_repeated: CHECK((m < n ? left == 1 && right == 0 : left == 0 && right == 1)); break;
      }
    }
  }
  std::set<std::pair<std::size_t, Repeats>> met;
  for (std::uint64_t turn = 0; turn < 100; ++turn) {
    const auto found = conformance::broadcast_in_turn(turn, 3);
    if (found) met.emplace(found->pair, found->repeats);
  }
  CHECK(met.size() == 3 * conformance::repeats_count);
  CHECK_FALSE(conformance::broadcast_in_turn(1, 0));
}
