#include <zlib.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
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

TEST_CASE("the_split_puts_every_row_on_one_side", "[data]") {
  const Dataset digits = read_digits(shipped);
  const Split split = split_digits(digits);
  CHECK(split.train.rows() == 1437);
  CHECK(split.test.rows() == 360);
  const auto sum = [](const Dataset& d) { return std::accumulate(d.inputs.begin(), d.inputs.end(), 0.0); };
  CHECK(sum(split.train) + sum(split.test) == sum(digits));  // sixteenths: exact
  CHECK(split.test.labels != std::vector<std::int64_t>(digits.labels.end() - 360, digits.labels.end()));
}

TEST_CASE("a_bad_data_file_is_named_with_what_is_wrong", "[data]") {
  CHECK(message_of("/no/such/digits.csv.gz") == "/no/such/digits.csv.gz: the file cannot be read: No such file or directory");
  const auto path = scratch("digits.csv.gz");
  std::string row;
  for (int i = 0; i < 64; ++i) row += "3,";
  write_gzip(path, row + "4\n" + row + "17\n");
  CHECK(message_of(path) == path.string() + ":2: column 65 is '17', expected a number from 0 to 9");
  write_gzip(path, row + "4\n");
  CHECK(message_of(path) == path.string() + ": truncated: 1 rows, expected 1797");
  write_gzip(path, "3,3\n");
  CHECK(message_of(path) == path.string() + ":1: expected 65 columns");
  std::filesystem::copy_file(shipped, path, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  CHECK(message_of(path).find("damaged or truncated") != std::string::npos);
  std::filesystem::remove(path);
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
