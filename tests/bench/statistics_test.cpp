#include "tools/bench/statistics.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "tools/bench/bench.hpp"
#include "tools/bench/quantity_text.hpp"

using namespace etalon::bench;

TEST_CASE("a_median_is_the_middle_or_between_the_two_in_the_middle", "[statistics]") {
  const Summary odd = summary_of(std::vector<double>{5, 1, 9});
  CHECK(odd.median == 5);
  CHECK(odd.best == 1);
  CHECK(odd.worst == 9);
  CHECK(odd.samples == 3);
  CHECK(summary_of(std::vector<double>{4, 1, 2, 100}).median == 3);
  CHECK(summary_of(std::vector<double>{7}).median == 7);
  // One burst of a neighbour moves neither.
  CHECK(summary_of(std::vector<double>{2, 2, 2, 2, 1000}).median == 2);
}

TEST_CASE("a_geometric_mean_of_a_ratio_and_its_inverse_is_one", "[statistics]") {
  // exp and log err by an ulp or so each
  CHECK(std::abs(geometric_mean(std::vector<double>{4, 0.25}) - 1) <= 0x1p-50);
  CHECK(std::abs(geometric_mean(std::vector<double>{2, 8}) - 4) <= 0x1p-48);
}

TEST_CASE("each_round_takes_everybody_once_and_begins_one_later", "[statistics]") {
  CHECK(order_of_round(3, 0) == std::vector<std::size_t>{0, 1, 2});
  CHECK(order_of_round(3, 1) == std::vector<std::size_t>{1, 2, 0});
  CHECK(order_of_round(3, 5) == std::vector<std::size_t>{2, 0, 1});
  CHECK(order_of_round(0, 4).empty());
}

TEST_CASE("samples_of_short_runs_are_many_runs_and_of_long_ones_few", "[statistics]") {
  const Pace brief = pace_of(1e-6, 4);
  CHECK(brief.runs == 5000);
  CHECK(brief.warm);
  CHECK(brief.least == 3);
  const Pace medium = pace_of(0.1, 4);
  CHECK(medium.runs == 1);
  CHECK(medium.least == 3);
  const Pace lasting = pace_of(3, 4);
  CHECK(lasting.runs == 1);
  CHECK_FALSE(lasting.warm);
  CHECK(lasting.least == 1);
  CHECK(pace_of(0, 4).runs == 5000000);  // a clock's tick is no run of no time
}

TEST_CASE("quantities_have_three_digits", "[statistics]") {
  CHECK(time_text(4.314e-6) == "4.31 µs");
  CHECK(time_text(74.34e-9) == "74.3 ns");
  CHECK(time_text(0.99996) == "1.00 s");
  CHECK(time_text(0.148) == "148 ms");
  CHECK(ratio_text(0.0694) == "0.069");
  CHECK(ratio_text(0.7) == "0.70");
  CHECK(ratio_text(98.04) == "98.0");
  CHECK(ratio_text(311.2) == "311");
  CHECK(memory_text(3 << 20) == "3.0 MiB");
}
