#include "tools/bench/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace etalon::bench {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double unit_of_f32 = 0x1p-24;

template <class T>
std::vector<double> numbers(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return {values.begin(), values.end()};
}

}  // namespace

double share_of_allowed_error(std::span<const double> truth, std::span<const double> found, double roundings, double unit_roundoff) {
  if (truth.size() != found.size()) return infinity;
  double error = 0, size = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    error += (found[i] - truth[i]) * (found[i] - truth[i]);
    size += truth[i] * truth[i];
  }
  if (!std::isfinite(error)) return infinity;
  if (error == 0) return 0;
  // The result itself is rounded where nothing else is.
  const double allowed = std::max(1.0, roundings) * unit_roundoff * std::sqrt(size);
  return allowed > 0 ? std::sqrt(error) / allowed : infinity;
}

Truth truth_of(const Prepared& wide) {
  Truth truth;
  for (const Bytes& output : wide.outputs) truth.outputs.push_back(numbers<double>(output));
  truth.roundings = wide.roundings;
  return truth;
}

double share_of_allowed_error(const Truth& truth, std::span<const Bytes> outputs) {
  if (outputs.size() != truth.outputs.size()) return infinity;
  double largest = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    largest = std::max(largest, share_of_allowed_error(truth.outputs[i], numbers<float>(outputs[i]), truth.roundings.at(i), unit_of_f32));
  }
  return largest;
}

}  // namespace etalon::bench
