#include "training/model/parameter.hpp"

#include <cmath>
#include <vector>

#include "training/data/random_streams.hpp"

namespace etalon::training {

namespace {

struct Fans {
  double in = 1;
  double out = 1;
};

Fans fans_of(const Dims& dims) {
  double window = 1;
  for (std::size_t axis = 2; axis < dims.rank; ++axis) window *= static_cast<double>(dims[axis]);
  const double in = dims.rank > 1 ? static_cast<double>(dims[1]) : 1;
  const double out = dims.rank > 0 ? static_cast<double>(dims[0]) : 1;
  return {in * window, out * window};
}

/// The value is low + width · draw.
struct Interval {
  double low = 0;
  double width = 0;
};

Interval interval_of(const Parameter& parameter) {
  const Fans fans = fans_of(parameter.dims);
  const auto symmetric = [](double half) { return Interval{-half, 2 * half}; };
  switch (parameter.initialiser) {
    case Initialiser::zeros: return {0, 0};
    case Initialiser::ones: return {1, 0};
    case Initialiser::unit_uniform: return {0, 1};
    case Initialiser::xavier_uniform: return symmetric(std::sqrt(6 / (fans.in + fans.out)));
    case Initialiser::kaiming_uniform: return symmetric(std::sqrt(6 / fans.in));
  }
  return {};
}

}  // namespace

HostTensor initial_value(const Parameter& parameter, std::uint64_t seed, std::uint32_t position) {
  const Interval interval = interval_of(parameter);
  std::vector<float> values(static_cast<std::size_t>(parameter.dims.count()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(interval.low + interval.width * uniform_draw(seed, position, Stream::initialise, i));
  }
  return HostTensor::of(parameter.dims, values);
}

}  // namespace etalon::training
