/// \file
/// What a model declares of one parameter: its shape, how it starts, whether weight decay applies.
#pragma once

#include <cstdint>

#include "spec/dims.hpp"
#include "spec/host_tensor.hpp"

namespace etalon::training {

/// How a parameter's first value is drawn. Xavier is uniform in ±sqrt(6/(fan_in + fan_out)) (Glorot and Bengio 2010),
/// Kaiming uniform in ±sqrt(6/fan_in) (He et al. 2015); for a weight [out, in, window…] fan_in = in · window and
/// fan_out = out · window.
enum class Initialiser : std::uint8_t { zeros, ones, unit_uniform, xavier_uniform, kaiming_uniform };

struct Parameter {
  Dims dims;
  Initialiser initialiser = Initialiser::zeros;
  bool decays = false;  ///< weights do; biases and norms do not
};

/// The first value (f32) of a parameter, from words of (seed, position, Stream::initialise): parameters at different
/// positions of a model never share a draw.
[[nodiscard]] HostTensor initial_value(const Parameter& parameter, std::uint64_t seed, std::uint32_t position);

}  // namespace etalon::training
