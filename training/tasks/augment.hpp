/// \file
/// Images as they might also have been: moved, turned and noisy by random amounts, other ones at each step. It knows no
/// model.
#pragma once

#include "training/task.hpp"

namespace etalon::training {

/// By how much at most.
struct Augmentation {
  double shift = 0;  ///< pixels along each axis
  double turn = 0;   ///< radians about the centre; small, since a pixel moves along the tangent of its circle
  double noise = 0;  ///< added to each pixel
};

/// \param images [n, h, w]
/// \param stream of the noise; the next one is that of the movement
[[nodiscard]] Traced augmented(const Traced& images, const Noise<Untyped>& noise, const Augmentation& by, std::int64_t stream);

}  // namespace etalon::training
