// Rows of symbols, by hand.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "spec/error.hpp"
#include "training/data/sequences.hpp"

namespace etalon::training {

TEST_CASE("windows_follow_one_another_and_each_character_has_the_next_for_a_label", "[data]") {
  const Dataset data = windows_of("abcdefgh", 3, "text");
  CHECK(data.rows() == 2);
  CHECK(data.inputs == std::vector<float>{'a', 'b', 'c', 'd', 'e', 'f'});
  CHECK(data.labels == std::vector<std::int64_t>{'b', 'c', 'd', 'e', 'f', 'g'});
  require_sound(data, "text");
  CHECK(select_rows(data, {1}).labels == std::vector<std::int64_t>{'e', 'f', 'g'});
  CHECK_THROWS_WITH(windows_of("abc", 3, "t.txt"), "t.txt: 3 characters, expected at least 4");
  CHECK_THROWS_WITH(windows_of("", 3, "t.txt"), "t.txt: 0 characters, expected at least 4");
  CHECK_THROWS_WITH(windows_of("ab\nc\xc3\xa4", 3, "t.txt"), "t.txt: line 2, column 2 has the byte 195, expected ASCII characters");
}

TEST_CASE("a_name_is_its_letters_and_an_end", "[data]") {
  const Dataset data = letters_of("Ab\n\n1-z", 2, "names");
  CHECK(data.inputs == std::vector<float>{0, 0, 0, 1, 1, 2, 0, 0, 0, 26});
  CHECK(data.labels == std::vector<std::int64_t>{1, 2, 0, 26, 0});
  CHECK(data.rows() == 5);
  require_sound(data, "names");
  CHECK_THROWS_WITH(letters_of("12\n", 2, "n.txt"), "n.txt: no letter, expected a name in each line");
}

TEST_CASE("a_register_holds_what_was_written_last", "[data]") {
  const Dataset data = register_strings(50, 12, 3, 5);
  REQUIRE(data.rows() == 50);
  require_sound(data, "register");
  std::size_t kept = 0, written = 0;
  for (std::size_t row = 0; row < 50; ++row) {
    std::int64_t now = 0;
    for (std::size_t place = row * 12; place < (row + 1) * 12; ++place) {
      const auto symbol = static_cast<std::int64_t>(data.inputs[place]);
      ++(symbol == 3 ? kept : written);
      if (symbol != 3) now = symbol;
      REQUIRE(data.labels[place] == now);
    }
  }
  // A quarter of 600 symbols keep: within five standard deviations.
  CHECK(std::abs(static_cast<double>(kept) - 150) < 5 * std::sqrt(600 * 0.25 * 0.75));
  CHECK(kept + written == 600);
}

TEST_CASE("a_bigram_is_surprised_by_the_counts_of_pairs_with_one_added", "[data]") {
  Dataset train{1, 2, {0, 0, 0, 1}};
  train.labels = {1, 1, 0, 0};
  Dataset test{1, 2, {0, 1}};
  test.labels = {1, 0};
  // After 0 came 1 twice and 0 once: 3 of 5; after 1 came 0 once: 2 of 3.
  const double expected = 1 / std::sqrt(3.0 / 5 * 2 / 3);
  // Two quotients, two logarithms below 1, their sum, a mean and an exponential, each within an ulp, and as many here.
  CHECK(!(std::abs(bigram_perplexity(train, test) - expected) > 14 * 0x1p-53 * expected));
}

TEST_CASE("labels_that_do_not_fill_their_rows_are_refused", "[data]") {
  Dataset data = windows_of("abcdefgh", 3, "text");
  data.labels.pop_back();
  CHECK_THROWS_WITH(require_sound(data, "text"), "text: 5 labels, expected 3 for each row");
}

}  // namespace etalon::training
