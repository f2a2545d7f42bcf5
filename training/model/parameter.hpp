/// \file
/// What a model declares of one parameter: its shape, how it starts, whether weight decay applies.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spec/attribute.hpp"
#include "spec/dims.hpp"
#include "spec/host_tensor.hpp"

namespace etalon::training {

/// How a parameter's first value is made: an operation of the library with a `shape` attribute, and its other
/// attributes. One with operands takes a seed and a step.
struct Initialiser {
  std::string operation = "zeros";
  spec::Attributes attributes = {};
};

struct Parameter {
  Dims dims;
  Initialiser initialiser = {};
  bool decays = false;  ///< weights do; biases and norms do not
};

/// The first values (f32) of a model's parameters, in their order. What is drawn comes from the words of (seed,
/// position in the model, Stream::initialise): parameters at different positions never share a draw.
[[nodiscard]] std::vector<HostTensor> initial_values(std::span<const std::pair<std::string, Parameter>> parameters,
                                                     std::uint64_t seed);

}  // namespace etalon::training
