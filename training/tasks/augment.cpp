#include "training/tasks/augment.hpp"

#include <string_view>
#include <vector>

#include "spec/library/defined.hpp"
#include "spec/library/operations.hpp"

namespace etalon::training {

namespace {

constexpr std::string_view moved_text = R"(-- Each image moved along its axes and turned about its centre by random amounts, 0 where nothing was.
moved(x[n, h, w], seed : int, step : int) {shift : real, turn : real, stream = 0} -> y[n, h, w]
  -- Three draws from [-1, 1) for each image.
  d[i < n, k < 3] = 2*(philox(seed, step, stream, 3*i + k) // 256 / 16777216) - 1
  -- The place between the pixels that the pixel at (r, c) is read from.
  u[i < n, r < h, c < w] = r + shift*d[i, 0] - turn*d[i, 2]*(c - (w - 1)/2)
  v[i < n, r < h, c < w] = c + shift*d[i, 1] + turn*d[i, 2]*(r - (h - 1)/2)
  -- Linear between neighbours.
  y[i, r, c] = sum[a, b] maximum(0, 1 - abs(u[i, r, c] - a)) * maximum(0, 1 - abs(v[i, r, c] - b)) * x[i, a, b]
)";

}  // namespace

Traced augmented(const Traced& images, const Noise<Untyped>& noise, const Augmentation& by, std::int64_t stream) {
  const auto moved = define(moved_text);
  const Dims dims = images.dims();
  const std::vector<std::int64_t> shape(dims.begin(), dims.end());
  const auto uniform = ops::uniform.set("shape", shape).set("stream", stream);
  const Traced grain = uniform.set("low", -by.noise).set("high", by.noise)(noise.seed, noise.step);
  const auto moving = moved.set("shift", by.shift).set("turn", by.turn).set("stream", stream + 1);
  return moving(images + grain, noise.seed, noise.step);
}

}  // namespace etalon::training
