/// \file
/// Whether a competitor computed the same thing. It is no verdict on how well: that is what `etalon conform` is for.
#pragma once

#include <span>

#include "tools/bench/competitor.hpp"

namespace etalon::bench {

/// Outputs in f64 and how many roundings at most stand behind each.
struct Truth {
  std::vector<std::vector<double>> outputs;
  std::vector<double> roundings;
};

/// The truth from the bytes of a wide job. \pre as many roundings as outputs
[[nodiscard]] Truth truth_of(const Prepared& wide);

/// The largest over the outputs of ‖y - truth‖ / (roundings · 2^-24 · ‖truth‖) in the Euclidean norm: at most 1 where
/// no more went wrong than one rounding per step, all in the same direction, in a computation where nothing cancels. A
/// norm, not elements: an element near 0, or a unit at its kink, may land elsewhere in any two conforming evaluations.
/// Infinity where outputs are missing, of another size or not finite.
[[nodiscard]] double share_of_allowed_error(const Truth& truth, std::span<const Bytes> outputs);

/// The same of one output in a type with this unit roundoff.
[[nodiscard]] double share_of_allowed_error(std::span<const double> truth, std::span<const double> found, double roundings, double unit_roundoff);

}  // namespace etalon::bench
