/// \file
/// Values that are much larger than what they are made of, such as the scores of every query with every key. It finds them by
/// the form of equations, with those who read them; it changes nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "compiled/ir/schedule.hpp"

namespace etalon::compiled {

/// An equation outside of a family that reads its values, a strip at a time: for a given index of `axis` and of the outer
/// axes it reads no others.
struct WideReader {
  std::size_t equation = 0;
  std::size_t axis = 0;             ///< the long axis of the values that is a loop of this equation
  std::vector<std::size_t> shared;  ///< positions among its binders: of the outer axes, then of `axis`
};

/// Tensors of the same extents that are computed element by element from each other and from small ones. Their places are
/// their binders in order. Axes of a single element do not count here: some have them and some do not.
struct WideFamily {
  Dims dims;
  std::size_t first = 0;               ///< the two long axes: a contraction knows each from one factor alone
  std::size_t second = 0;
  std::vector<std::size_t> outer;      ///< the other axes
  std::vector<std::size_t> members;    ///< equations, ascending
  std::vector<WideReader> readers;     ///< ascending

  [[nodiscard]] std::size_t other(std::size_t axis) const { return axis == first ? second : first; }
};

/// The families of a system whose values need not be stored. A family begins with contractions
/// - that have at most 128 terms, so that computing a value again costs about what it takes to store and read it,
/// - whose matrix, for one index of the outer axes, takes more than a quarter of the second cache,
/// - whose result is at least four times as large as what they read.
/// Everything that reads a value is of the family too, or reads it by strips and is smaller than half of it. Equations of
/// recurrences are in none. `options.always`, or a decision that is given, leaves the sizes aside.
[[nodiscard]] std::vector<WideFamily> wide_families(const spec::System& system, const Machine& machine, const ScheduleOptions& options, Deciding& deciding);

/// Whether an equation takes a few additions or comparisons for each element and no reduction, so that its readers may as
/// well compute it themselves.
[[nodiscard]] bool is_slight(const spec::System& system, const spec::Equation& equation);

/// The axes that have more than one element.
[[nodiscard]] std::vector<std::size_t> counting_axes(const Dims& dims);

/// Of one entry per axis, those of these axes.
template <class T>
[[nodiscard]] std::vector<T> at_axes(const std::vector<T>& all, const std::vector<std::size_t>& axes) {
  std::vector<T> chosen;
  for (const std::size_t a : axes) chosen.push_back(all[a]);
  return chosen;
}

/// The extents without those of 1.
[[nodiscard]] Dims counting_dims(const Dims& dims);

/// Whether target[binders in order] is what the equation writes, all of it.
[[nodiscard]] bool fills_in_order(const spec::System& system, const spec::Equation& equation);

}  // namespace etalon::compiled
