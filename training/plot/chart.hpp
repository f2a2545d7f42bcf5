/// \file
/// Pictures of a training run, as text for a terminal and as SVG: curves, points over a decision map, a confusion
/// matrix. It knows nothing of where the numbers come from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace etalon::training {

/// One labelled curve; values that are not finite are left out.
struct Curve {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<double> values;  ///< at x = 0, 1, 2, …
};

/// The natural logarithm of the positive values of a curve; others become NaN, which a plot leaves out.
[[nodiscard]] Curve logarithm(const Curve& curve);

/// Points of two classes over the sign of a function on a grid (row 0 is the top).
struct DecisionMap {
  std::string title;
  std::array<double, 2> x_range{};
  std::array<double, 2> y_range{};
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::vector<double> values;                  ///< rows × columns, at cell centres
  std::vector<std::array<double, 2>> points;
  std::vector<std::int64_t> labels;            ///< 0 or 1
};

/// counts[truth × classes + answer].
struct ConfusionMatrix {
  std::string title;
  std::int64_t classes = 0;
  std::vector<std::int64_t> counts;
};

/// \param columns of the terminal
[[nodiscard]] std::string as_text(const Curve& curve, std::size_t columns = 84);
[[nodiscard]] std::string as_text(const DecisionMap& map, std::size_t columns = 84);
[[nodiscard]] std::string as_text(const ConfusionMatrix& matrix);

[[nodiscard]] std::string as_svg(const Curve& curve);
[[nodiscard]] std::string as_svg(const DecisionMap& map);
[[nodiscard]] std::string as_svg(const ConfusionMatrix& matrix);

}  // namespace etalon::training
