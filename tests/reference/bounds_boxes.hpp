/// \file
/// Boxes about inputs, and points in them.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "reference/bounds/ranges.hpp"
#include "spec/host_tensor.hpp"

namespace etalon::bounds_test {

using reference::Box;
using reference::Combination;
using reference::OutputRange;
using reference::bounds::Narrowing;

inline constexpr Narrowing narrowings[] = {Narrowing::intervals, Narrowing::sweep, Narrowing::lines, Narrowing::both};

struct Boxes {
  std::vector<HostTensor> centres;
  std::vector<std::optional<Box>> boxes;
};

inline double number_at(const HostTensor& t, std::size_t i) { return t.dtype == DType::f32 ? t.view<float>()[i] : t.view<double>()[i]; }

/// Boxes about the inputs of finite reals, of that relative and absolute half width.
inline Boxes boxes_about(const std::vector<HostTensor>& centres, double relative, double absolute) {
  Boxes all{centres, {}};
  for (const HostTensor& t : centres) {
    if (t.dtype != DType::f32 && t.dtype != DType::f64) {
      all.boxes.emplace_back();
      continue;
    }
    Box box;
    for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
      const double x = number_at(t, i);
      const double half = std::abs(x) * relative + absolute;
      box.lower.push_back(x - half);
      box.upper.push_back(x + half);
    }
    const auto finite = [](double end) { return std::isfinite(end); };
    const bool bounded = std::all_of(box.lower.begin(), box.lower.end(), finite) && std::all_of(box.upper.begin(), box.upper.end(), finite);
    all.boxes.push_back(bounded ? std::optional(std::move(box)) : std::nullopt);
  }
  return all;
}

template <class T>
void fill_within(std::span<T> values, const Box& box, std::mt19937& random) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double share = random() % 3 == 0 ? static_cast<double>(random() % 1025) / 1024 : static_cast<double>(random() % 2);
    const auto x = static_cast<T>(box.lower[i] + share * (box.upper[i] - box.lower[i]));
    if (x >= box.lower[i] && x <= box.upper[i]) values[i] = x;
  }
}

/// A point of the boxes, mostly on their edges, where extremes are.
inline std::vector<HostTensor> point_in(const Boxes& in, std::mt19937& random) {
  std::vector<HostTensor> point = in.centres;
  for (std::size_t input = 0; input < point.size(); ++input) {
    if (!in.boxes[input]) continue;
    if (point[input].dtype == DType::f32) fill_within(point[input].view<float>(), *in.boxes[input], random);
    if (point[input].dtype == DType::f64) fill_within(point[input].view<double>(), *in.boxes[input], random);
  }
  return point;
}

/// What points in boxes came to.
struct Tally {
  std::size_t points = 0, comparisons = 0, outside = 0, open = 0;

  /// Holds what an evaluation answered to the ranges. Where nothing is known it says nothing.
  void hold(const std::vector<Combination>& combinations, const std::vector<OutputRange>& found, const std::vector<HostTensor>& got) {
    ++points;
    for (std::size_t c = 0; c < combinations.size(); ++c) {
      if (!std::isfinite(found[c].lower) || !std::isfinite(found[c].upper)) {
        ++open;
        continue;
      }
      long double sum = 0;
      for (const auto& t : combinations[c]) sum += t.factor * static_cast<long double>(number_at(got[t.output], t.element));
      ++comparisons;
      if (!(sum >= found[c].lower && sum <= found[c].upper)) ++outside;
    }
  }
};

/// Elements of every real output on their own, so many at most, and the differences of neighbours.
inline std::vector<Combination> combinations_of(const spec::System& system, std::size_t most) {
  std::vector<Combination> all;
  for (std::size_t o = 0; o < system.outputs.size(); ++o) {
    const spec::TensorInfo& output = system[system.outputs[o]];
    if (kind_of(output.dtype) != Kind::real) continue;
    const std::size_t count = std::min(most, static_cast<std::size_t>(output.dims.count()));
    for (std::size_t i = 0; i < count; ++i) all.push_back({{o, i, 1}});
    for (std::size_t i = 1; i < count; ++i) all.push_back({{o, i - 1, 1}, {o, i, -1}});
  }
  return all;
}

}  // namespace etalon::bounds_test
