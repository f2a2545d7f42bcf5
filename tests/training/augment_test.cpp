// Augmented images against plain loops: four neighbours instead of a sum over all pixels.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "reference/backend.hpp"
#include "spec/philox.hpp"
#include "training/routine.hpp"
#include "training/tasks/augment.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

constexpr std::int64_t n = 3, h = 5, w = 6;
constexpr std::uint64_t seed = 11;
constexpr std::int64_t stream = 70000;

std::vector<float> images() {
  std::vector<float> x;
  for (int i = 0; i < n * h * w; ++i) x.push_back(static_cast<float>(i * 7 % 17) / 16);
  return x;
}

/// What the reference makes of them at a step.
std::vector<float> augmented_images(const Augmentation& by, std::int64_t step) {
  spec::Tracer tracer;
  const Traced x = tracer.input("x", DType::f32, {n, h, w});
  const Noise<Untyped> noise{tracer.input("seed", DType::i64, {}), tracer.input("step", DType::i64, {})};
  tracer.output("y", augmented(x, noise, by, stream));
  const auto reference = reference::make_reference_backend();
  compiled::Store store;
  const auto scalar = [](std::int64_t value) { return HostTensor::of<std::int64_t>({}, {value}); };
  const Outcome outcome = run_once(tracer.finish(), Target::backend(*reference), store,
                                   {{"x", HostTensor::of<float>({n, h, w}, images())}, {"seed", scalar(seed)}, {"step", scalar(step)}});
  const auto y = outcome.output("y").view<float>();
  return {y.begin(), y.end()};
}

double draw(std::int64_t step, std::int64_t of_stream, std::int64_t number) {
  const std::uint32_t word = spec::philox_word(seed, static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(of_stream), static_cast<std::uint64_t>(number));
  return static_cast<double>(word >> 8U) / 16777216;
}

double pixel(const std::vector<float>& x, std::int64_t image, double row, double column) {
  if (row < 0 || row >= h || column < 0 || column >= w) return 0;
  return static_cast<double>(x[static_cast<std::size_t>((image * h + static_cast<std::int64_t>(row)) * w + static_cast<std::int64_t>(column))]);
}

double between_pixels(const std::vector<float>& x, std::int64_t image, double row, double column) {
  const double top = std::floor(row), left = std::floor(column);
  const double down = row - top, right = column - left;
  return (1 - down) * ((1 - right) * pixel(x, image, top, left) + right * pixel(x, image, top, left + 1)) +
         down * ((1 - right) * pixel(x, image, top + 1, left) + right * pixel(x, image, top + 1, left + 1));
}

}  // namespace

TEST_CASE("images_move_and_turn_by_what_was_drawn_for_each", "[augment]") {
  const std::vector<float> x = images();
  for (const std::int64_t step : {0, 9}) {
    const std::vector<float> y = augmented_images({0.5, 0.25, 0}, step);
    REQUIRE(y.size() == x.size());
    std::size_t at = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      std::array<double, 3> d{};
      for (std::size_t k = 0; k < 3; ++k) d[k] = 2 * draw(step, stream + 1, 3 * i + static_cast<std::int64_t>(k)) - 1;
      for (std::int64_t r = 0; r < h; ++r) {
        for (std::int64_t c = 0; c < w; ++c, ++at) {
          const double row = static_cast<double>(r) + 0.5 * d[0] - 0.25 * d[2] * (static_cast<double>(c) - 2.5);
          const double column = static_cast<double>(c) + 0.5 * d[1] + 0.25 * d[2] * (static_cast<double>(r) - 2);
          // Places and weights are exact in binary64, and pixels at most 1; the reference rounds once to binary32.
          CHECK(std::abs(static_cast<double>(y[at]) - between_pixels(x, i, row, column)) <= 0x1p-25 + 0x1p-48);
        }
      }
    }
    CHECK(y != x);
  }
  CHECK(augmented_images({0.5, 0.25, 0}, 0) != augmented_images({0.5, 0.25, 0}, 9));
}

TEST_CASE("an_image_that_is_not_moved_is_itself_with_the_noise_that_was_drawn", "[augment]") {
  const std::vector<float> x = images();
  CHECK(augmented_images({0, 0, 0}, 4) == x);
  const std::vector<float> y = augmented_images({0, 0, 0.25}, 4);
  REQUIRE(y.size() == x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    // Exact in binary64, and rounded once.
    const double grain = 0.5 * draw(4, stream, static_cast<std::int64_t>(i)) - 0.25;
    CHECK(y[i] == static_cast<float>(static_cast<double>(x[i]) + grain));
  }
}
