#include <zlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numbers>
#include <numeric>
#include <set>
#include <string>

#include "spec/error.hpp"
#include "training/data/dataset.hpp"
#include "training/data/random_streams.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

const std::filesystem::path shipped = std::filesystem::path(ETALON_SOURCE_DIR) / "training/data/digits.csv.gz";

std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::temp_directory_path() / ("etalon-" + name);
}

void write_gzip(const std::filesystem::path& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  gzclose(file);
}

std::string message_of(const std::filesystem::path& path) {
  try {
    (void)read_digits(path);
  } catch (const IoError& error) {
    return error.what();
  }
  return "read";
}

std::string message_of_lines(const std::string& lines) {
  try {
    (void)digits_of(lines, "own.csv");
  } catch (const IoError& error) {
    return error.what();
  }
  return "read";
}

/// So many pixels of brightness 3, each followed by a comma.
std::string pixels(int count) {
  std::string row;
  for (int i = 0; i < count; ++i) row += "3,";
  return row;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  REQUIRE(file.flush());
}

}  // namespace

TEST_CASE("the_shipped_digits_are_1797_images_of_ten_classes", "[data]") {
  const Dataset digits = read_digits(shipped);
  REQUIRE(digits.rows() == 1797);
  CHECK(digits.inputs.size() == 1797U * 64U);
  // The first image of the UCI file: row 0 is 0 0 5 13 9 1 0 0, its label 0.
  const float first[] = {0, 0, 5.0F / 16, 13.0F / 16, 9.0F / 16, 1.0F / 16, 0, 0};
  CHECK(std::equal(std::begin(first), std::end(first), digits.inputs.begin()));
  CHECK(digits.labels[0] == 0);
  std::vector<int> count(10);
  for (const std::int64_t label : digits.labels) ++count[static_cast<std::size_t>(label)];
  CHECK(count == std::vector<int>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180});  // counts of the data set's description
}

TEST_CASE("no_row_of_the_digits_is_in_two_parts", "[data]") {
  const Split split = split_of_digits();
  CHECK(split.train.size() == 1280);
  CHECK(split.validation.size() == 157);
  CHECK(split.test.size() == 360);
  std::set<std::int64_t> all;
  for (const auto* part : {&split.train, &split.validation, &split.test}) all.insert(part->begin(), part->end());
  CHECK(all.size() == 1797);
  CHECK(*all.begin() == 0);
  CHECK(*all.rbegin() == 1796);
}

TEST_CASE("the_test_rows_of_the_digits_are_these", "[data]") {
  // Of Philox in NumPy: the last 360 of the permutation with seed 7, by its first positions and two sums.
  const std::vector<std::int64_t> test = split_of_digits().test;
  REQUIRE(test.size() == 360);
  CHECK(std::vector<std::int64_t>(test.begin(), test.begin() + 5) == std::vector<std::int64_t>{1252, 10, 1057, 605, 1555});
  CHECK(std::accumulate(test.begin(), test.end(), std::int64_t{0}) == 345934);
  CHECK(std::inner_product(test.begin(), test.end(), test.begin(), std::int64_t{0}) == 426922234);
}

TEST_CASE("a line of digits is refused by line and column, with what was expected and found", "[data][sound]") {
  const std::string good = pixels(64) + "4\n";
  for (const char* found : {"-1", "10", "17", "3.5", "4.0", "nan", "inf", "-inf", "", "4x", "1e1", " 4", "+4", "99999999999999999999"}) {
    CHECK(message_of_lines(good + pixels(64) + found + "\n" + good) ==
          std::string("own.csv:2: column 65, the class, is '") + found + "', expected a whole number from 0 to 9");
  }
  for (const char* found : {"-1", "17", "2.5", "nan", "inf", "", "0x1"}) {
    CHECK(message_of_lines(good + good + pixels(9) + found + "," + pixels(54) + "4\r\n") ==
          std::string("own.csv:3: column 10, the brightness of a pixel, is '") + found + "', expected a whole number from 0 to 16");
  }
  CHECK(message_of_lines(good + pixels(63) + "4\n") == "own.csv:2: 64 columns, expected 65");
  CHECK(message_of_lines(good + pixels(65) + "4\n") == "own.csv:2: 66 columns, expected 65");
  CHECK(message_of_lines(good + "\n" + good) == "own.csv:2: 0 columns, expected 65");
  CHECK(message_of_lines("") == "own.csv: the file is empty, expected 1797 rows of 65 columns");
  CHECK(message_of_lines(good + good) == "own.csv: 2 rows, expected 1797");
  const std::string junk = message_of_lines(pixels(64) + std::string(100'000, '\x1b'));
  CHECK(junk.size() < 200);
  CHECK(std::none_of(junk.begin(), junk.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }));
}

TEST_CASE("a file of digits that cannot be read is refused with the reason", "[data][sound]") {
  CHECK(message_of("/no/such/digits.csv.gz") == "/no/such/digits.csv.gz: the file cannot be read: No such file or directory");
  CHECK(message_of("/dev/null/digits.csv.gz") == "/dev/null/digits.csv.gz: the file cannot be read: Not a directory");
  CHECK(message_of("/") == "/: a folder, expected a file");
  const auto path = scratch("digits.csv.gz");
  write_gzip(path, "");
  CHECK(message_of(path) == path.string() + ": the file is empty, expected 1797 rows of 65 columns");
  write_bytes(path, "");
  CHECK(message_of(path) == path.string() + ": the file is empty, expected 1797 rows of 65 columns");

  const std::string whole = bytes_of(shipped);
  REQUIRE(whole.size() > 10'000);
  int refused = 0;
  for (const std::size_t kept : {std::size_t{1}, std::size_t{2}, std::size_t{10}, whole.size() / 2, whole.size() - 8, whole.size() - 1}) {
    write_bytes(path, whole.substr(0, kept));
    const std::string message = message_of(path);
    CHECK(message.starts_with(path.string() + ":"));
    refused += message != "read" ? 1 : 0;
    if (kept >= 2) CHECK(message.ends_with("bytes of text: unexpected end of file"));
  }
  CHECK(refused == 6);
  // A checksum stands at the end: no changed byte after the header passes.
  for (int k = 0; k < 20; ++k) {
    std::string damaged = whole;
    damaged[100 + static_cast<std::size_t>(k) * (whole.size() - 100) / 20] ^= 0x10;
    write_bytes(path, damaged);
    refused += message_of(path).starts_with(path.string() + ":") ? 1 : 0;
  }
  CHECK(refused == 26);
  write_bytes(path, whole + "x");
  CHECK(message_of(path) == path.string() + ": 1 bytes behind the last member of gzip, expected none");
  std::filesystem::remove(path);
}

TEST_CASE("rows in memory are refused by row and column, with what was expected and found", "[data][sound]") {
  const Dataset good{2, 3, {0, 1, 2, 3, 4, 5}, {0, 1, 2}};
  CHECK_NOTHROW(require_sound(good, "rows"));
  const auto message = [&](const auto& change) -> std::string {
    Dataset data = good;
    change(data);
    try {
      require_sound(data, "rows");
    } catch (const SpecViolation& error) {
      return error.what();
    }
    return "taken";
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(message([](Dataset& d) { d.labels[1] = -1; }) == "rows: row 1 has the label -1, expected a class from 0 to 2");
  CHECK(message([](Dataset& d) { d.labels[2] = 3; }) == "rows: row 2 has the label 3, expected a class from 0 to 2");
  CHECK(message([](Dataset& d) { d.labels[0] = -100; }) == "rows: row 0 has the label -100, expected a class from 0 to 2");
  CHECK(message([](Dataset& d) { d.inputs[3] = std::nanf(""); }) == "rows: row 1, column 1 is nan, expected a finite number");
  CHECK(message([](Dataset& d) { d.inputs[4] = -infinity; }) == "rows: row 2, column 0 is -inf, expected a finite number");
  CHECK(message([](Dataset& d) { d.labels.pop_back(); }) == "rows: 6 inputs, expected 2 for each of 2 rows");
  CHECK(message([](Dataset& d) { d.inputs.pop_back(); }) == "rows: 5 inputs, expected 2 for each of 3 rows");
  CHECK(message([](Dataset& d) { d.labels.clear(); }) == "rows: 6 inputs, expected 2 for each of 0 rows");
  CHECK(message([](Dataset& d) { d.features = 0; }) == "rows: 0 features, expected at least 1");
  CHECK(message([](Dataset& d) { d.classes = 0; }) == "rows: 0 classes, expected at least 1");
  CHECK(message([](Dataset& d) { d.numbers = {1, 2, 3}; }) == "rows: 3 labels and 3 numbers, expected one of the two");
  CHECK(message([](Dataset& d) { d.labels.clear(), d.numbers = {1, infinity, 3}; }) == "rows: row 1 has the number inf, expected a finite one");
  CHECK(message([](Dataset& d) { d.labels.clear(), d.numbers = {1, 2, 3}; }) == "taken");

  CHECK(select_rows(good, {2, 0}).inputs == std::vector<float>{4, 5, 0, 1});
  CHECK_THROWS_WITH(select_rows(good, {0, 3}), "rows: 3 is no row, expected 0 to 2");
  CHECK_THROWS_WITH(select_rows(good, {-1}), "rows: -1 is no row, expected 0 to 2");
  CHECK_THROWS_WITH(select_rows(Dataset{2, 3, {0, 1}, {0, 1}}, {1}), "rows: 2 inputs, expected 2 for each of 2 rows");
}

TEST_CASE("a_permutation_holds_every_position_once_and_streams_differ", "[data]") {
  const auto a = permutation(100, 7, 0, Stream::split);
  CHECK(std::set<std::int64_t>(a.begin(), a.end()).size() == 100);
  CHECK(*std::min_element(a.begin(), a.end()) == 0);
  CHECK(*std::max_element(a.begin(), a.end()) == 99);
  CHECK(a == permutation(100, 7, 0, Stream::split));
  CHECK(a != permutation(100, 7, 1, Stream::split));
  CHECK(a != permutation(100, 7, 0, Stream::shuffle));
  CHECK(a != permutation(100, 8, 0, Stream::split));
}

TEST_CASE("the_half_moons_lie_on_their_circles_up_to_the_noise", "[data]") {
  const Dataset moons = half_moons(50, 0.1, 3);
  REQUIRE(moons.rows() == 100);
  for (std::int64_t i = 0; i < 100; ++i) {
    const double v = static_cast<double>(i / 2) * std::numbers::pi / 50;
    const bool first = i % 2 == 0;
    CHECK(moons.labels[static_cast<std::size_t>(i)] == (first ? 0 : 1));
    const double x = static_cast<double>(moons.inputs[static_cast<std::size_t>(2 * i)]);
    const double y = static_cast<double>(moons.inputs[static_cast<std::size_t>(2 * i + 1)]);
    // Coordinates are rounded to binary32, from doubles that carry a few roundings.
    const auto off = [](double found, double circle) { return std::abs(found - circle) - std::ldexp(1.0, std::ilogb(found) - 24); };
    CHECK(off(x, first ? std::cos(v) : 1 - std::cos(v)) <= 0.1 + 0x1p-50);
    CHECK(off(y, first ? std::sin(v) : 0.5 - std::sin(v)) <= 0.1 + 0x1p-50);
  }
  CHECK(moons.inputs != half_moons(50, 0.1, 4).inputs);
}
