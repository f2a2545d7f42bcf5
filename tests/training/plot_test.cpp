#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "training/plot/chart.hpp"
#include "training/plot/page.hpp"

using namespace etalon::training;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("a_falling_curve_falls_in_the_terminal", "[plot]") {
  Curve curve{"loss", "step", "loss", {}};
  for (int i = 0; i < 720; ++i) curve.values.push_back(720 - i);
  const auto lines = lines_of(as_text(curve));
  CHECK(lines.front() == "loss");
  std::size_t previous = 0;
  int rows = 0;
  for (const std::string& line : lines) {
    const std::size_t star = line.find('*');
    if (star == std::string::npos) continue;
    CHECK(star > previous);
    previous = star;
    ++rows;
  }
  CHECK(rows == 16);
}

TEST_CASE("a_curve_leaves_out_what_is_not_finite", "[plot]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Curve curve{"a < b", "x", "y", {1, nan, 3}};
  const std::string svg = as_svg(curve);
  const std::size_t at = svg.find("points=\"");
  const std::string points = svg.substr(at, svg.find('"', at + 8) - at);
  CHECK(std::count(points.begin(), points.end(), ',') == 2);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("a &lt; b") != std::string::npos);
  const Curve logs = logarithm(Curve{"loss", "x", "loss", {1, 0, std::exp(2.0)}});
  CHECK(logs.values[0] == 0);
  CHECK(std::isnan(logs.values[1]));
  // exp and log err by an ulp each: 2^-52 of e², and the spacing of the doubles from 2 on.
  CHECK(std::abs(logs.values[2] - 2) <= 0x1p-52 + 0x1p-51);
  CHECK(logs.title == "log loss");
}

TEST_CASE("a_decision_map_puts_points_where_they_are", "[plot]") {
  DecisionMap map{"map", {0, 4}, {0, 2}, 4, 2, {1, -1, 1, -1, -1, 1, -1, 1}, {{0.5, 0.5}, {3.5, 1.5}}, {0, 1}};
  const auto lines = lines_of(as_text(map));
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] == "  *.*%");
  CHECK(lines[2] == "  #*.*");
  CHECK(as_svg(map).find("<circle") != std::string::npos);
}

TEST_CASE("a_confusion_matrix_shows_its_counts_by_row_of_truth", "[plot]") {
  const ConfusionMatrix matrix{"m", 2, {7, 1, 0, 12}};
  const auto lines = lines_of(as_text(matrix));
  REQUIRE(lines.size() == 4);
  CHECK(lines[2] == "            0    7    1");
  CHECK(lines[3] == "            1    .   12");
}

TEST_CASE("texts_of_a_page_stay_texts", "[plot]") {
  const std::string evil = "</style><script>x</script>\n&";
  const std::string html = as_html({evil, {{evil, evil}}, {}, class_rows({"m", 2, {7, 1, 0, 12}}, {evil, "b"})});
  CHECK(html.find("<script") == std::string::npos);
  std::size_t found = 0;
  for (std::size_t at = html.find("&lt;script&gt;"); at != std::string::npos; at = html.find("&lt;script&gt;", at + 1)) ++found;
  CHECK(found == 5);  // title, heading, a fact and what it is, a class
  CHECK(html.find("<th scope=\"row\">b</th><td>12</td><td>0.9231</td><td>1.0000</td><td>0.9600</td>") != std::string::npos);
}
