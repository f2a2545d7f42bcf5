#include <cmath>
#include <numbers>

#include "training/data/dataset.hpp"
#include "training/data/random_streams.hpp"

namespace etalon::training {

Dataset half_moons(std::int64_t per_class, double noise, std::uint64_t seed) {
  Dataset data;
  data.features = 2;
  data.classes = 2;
  // All draws of the first class come before those of the second, so that a class alone is reproducible.
  const auto moved = [&](std::int64_t label, std::int64_t row, std::int64_t coordinate) {
    const auto n = static_cast<std::uint64_t>((label * per_class + row) * 2 + coordinate);
    return noise * (2 * uniform_draw(seed, 0, Stream::data, n) - 1);
  };
  for (std::int64_t row = 0; row < per_class; ++row) {
    const double v = static_cast<double>(row) * std::numbers::pi / static_cast<double>(per_class);
    for (const std::int64_t label : {0, 1}) {
      const double x = label == 0 ? std::cos(v) : 1 - std::cos(v);
      const double y = label == 0 ? std::sin(v) : 0.5 - std::sin(v);
      data.inputs.push_back(static_cast<float>(x + moved(label, row, 0)));
      data.inputs.push_back(static_cast<float>(y + moved(label, row, 1)));
      data.labels.push_back(label);
    }
  }
  return data;
}

}  // namespace etalon::training
