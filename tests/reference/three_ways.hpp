/// \file
/// Three answers to one question about derivatives: dual numbers, symbolic equations at 50 digits, and central
/// differences at 100 digits; and the transpose by definition against the symbolic one. It knows no operation.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "reference/array.hpp"
#include "spec/system/system.hpp"

namespace etalon::test {

using Point = std::vector<reference::Array<double>>;  ///< one value per input; exact in every number type

/// How many finite elements were compared, and the first that disagrees.
struct Agreement {
  std::size_t compared = 0;
  std::string disagreement;
  void join(const Agreement& other);
};

/// A random real array with elements in (low, high); odd multiples of 2^-30, so that no two sums of a few of them meet
/// at a kink by accident of being round.
[[nodiscard]] reference::Array<double> random_reals(const Dims& dims, double low, double high, std::mt19937_64& engine);

/// Tangents of all real outputs along random directions of the `wrt` inputs. Criterion: |a - b| <= 1e-40 · Σ|terms|.
/// \param differences false at kinks, where the central difference is not the stated derivative
[[nodiscard]] Agreement tangents_agree(const spec::System& system, const Point& point,
                                       const std::vector<std::size_t>& wrt, std::mt19937_64& engine, bool differences);

/// Cotangents of the `wrt` inputs for random cotangents of all real outputs.
[[nodiscard]] Agreement cotangents_agree(const spec::System& system, const Point& point,
                                         const std::vector<std::size_t>& wrt, std::mt19937_64& engine);

/// Tangents of the cotangents: the VJP's own equations put to `tangents_agree`, along directions of the `wrt` inputs and
/// of the cotangents.
[[nodiscard]] Agreement second_derivatives_agree(const spec::System& system, const Point& point,
                                                 const std::vector<std::size_t>& wrt, std::mt19937_64& engine,
                                                 bool differences);

}  // namespace etalon::test
