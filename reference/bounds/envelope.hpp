/// \file
/// Per element, the values that a conforming evaluation of a system may return under a contract, and the verdict on
/// values that a backend did return. It knows no operation by name and no backend.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "spec/contract/contract.hpp"
#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"

namespace etalon::reference {

/// What an element may be besides a number in its interval; the bits of `Envelope::flags`.
enum Admissible : std::uint8_t {
  admits_finite = 1,             ///< a finite number in [lower, upper]
  admits_positive_infinity = 2,
  admits_negative_infinity = 4,
  admits_nan = 8,
  undecided = 16,                ///< the bound says nothing useful here; every value is let pass and counted
  given_up = 32                  ///< with `undecided`: it hangs on more decisions than are tried, and the interval is that of one way
};

/// The flags of an element that another envelope decides: its interval counts, however wide it is, unless it has none.
[[nodiscard]] constexpr std::uint8_t decided(std::uint8_t flags) {
  return (flags & given_up) != 0 ? flags : static_cast<std::uint8_t>(flags & ~undecided);
}

/// One element's admissible values.
struct Admitted {
  double lower = 0;
  double upper = 0;
  std::uint8_t flags = admits_finite;
  double deviation = std::numeric_limits<double>::infinity();  ///< as in Envelope
  std::int64_t exact = 0;                                      ///< of integer and boolean tensors the one value
};

/// Elements whose values hang on decisions that a conforming evaluation may take either way. Branches of the same
/// `component` in different outputs correspond by position; the elements are accepted iff one branch accepts all.
struct Alternatives {
  std::size_t component = 0;
  std::vector<std::size_t> elements;           ///< row-major positions
  std::vector<std::vector<Admitted>> branches; ///< per branch, one interval per element
};

/// The admissible values of one tensor. For f64 the ends are the outermost doubles inside the bound. For integer and
/// boolean tensors `exact` holds the values. An element of `alternatives` has the hull of its branches here.
struct Envelope {
  Dims dims;
  DType dtype = DType::f32;
  std::vector<double> reference;  ///< the exact value, rounded to a double
  std::vector<double> lower, upper;
  /// Statistical: what the root of the mean square error does not exceed when the roundings of long sums are
  /// independent; infinite where that says no more than the interval, empty where it is nowhere known.
  std::vector<double> deviation;
  std::vector<std::uint8_t> flags;
  std::vector<std::int64_t> exact;
  std::vector<Alternatives> alternatives;
};

/// One envelope per output of a system, and how they were found.
struct Envelopes {
  std::vector<Envelope> outputs;
  std::size_t open_decisions = 0;  ///< decisions on computed values that a conforming evaluation may take either way
  std::size_t interval_only = 0;   ///< elements judged by the forward pass alone because the sweep was over budget
  std::size_t nodes = 0;           ///< size of the tape
};

/// Derives the envelopes of a system's outputs on these inputs (its inputs in order): any order of sums and products,
/// FMA or not, higher precision inside, functions as the contract says; see proofs-notes/rounding.md.
/// \throws SpecViolation when the inputs do not fit the system.
/// \param within per input, where there is one, the envelope in which its elements lie instead of being these numbers: all
///        flags say `admits_finite` alone, and the input holds what the envelope's reference rounds to; empty: none has one
[[nodiscard]] Envelopes envelopes(const spec::System& system, std::span<const HostTensor> inputs,
                                  const spec::Contract& contract, std::span<const Envelope* const> within = {});

/// The envelopes of some elements alone, at a cost that follows what these are computed from: output o of the result is a
/// list of the elements of the system's output o at the row-major positions `wanted[o]`, as `envelopes` has them. Only what makes
/// a wide interval say nothing, and the branches that elements have in common, is taken from the wanted ones alone. An error is kept
/// with an element or with what that is computed from, as the tape has them, and is rounded outwards there: ends below the
/// smallest normal double, where that shows, may be the next number.
[[nodiscard]] Envelopes envelopes_of_elements(const spec::System& system, std::span<const HostTensor> inputs,
                                              const spec::Contract& contract, const std::vector<std::vector<std::size_t>>& wanted);

/// The most nodes of an expression that `with_recomputed_elements` computes anew, where its own elements that are computed
/// anew count as what they are computed from, and indices not at all: expressions grow with every reader. The longest
/// derivatives of normalisations have room.
inline constexpr std::size_t longest_recomputed = 160;

/// The system where every reader of an element that is computed from single elements computes it anew, instead of reading
/// what was rounded and stored: another schema of the same equations, whose products are longer, and whose sums may have
/// products of the element as terms. An element that is a sum itself stays one term.
[[nodiscard]] spec::System with_recomputed_elements(const spec::System& system);

/// Errors of many elements over their deviations. A root of the mean square above 1 is unlikely for independent
/// roundings, and proves nothing: it warns, and never fails a backend.
struct Statistic {
  std::size_t elements = 0;
  double squares = 0;  ///< sum of (error / deviation)²
  void add(const Statistic& other) {
    elements += other.elements;
    squares += other.squares;
  }
  [[nodiscard]] double rms() const { return elements == 0 ? 0 : std::sqrt(squares / static_cast<double>(elements)); }
};

/// How values compare with their envelope. `worst_ratio` is the largest error/bound: at most 1 exactly when all
/// decided elements are admissible, infinite where the bound is 0 and the error is not or a special value is wrong.
struct Verdict {
  static constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();
  std::size_t comparisons = 0;  ///< decided elements
  std::size_t undecided = 0;
  std::size_t offenders = 0;
  double worst_ratio = 0;
  std::size_t output = nothing;          ///< of the first offender
  std::size_t first_offender = nothing;  ///< row-major position
  Admitted expected;                     ///< of the first offender
  Statistic statistic;                   ///< over the elements that have a deviation
  std::string message;                   ///< empty, or one line about the first offender or the wrong type
  [[nodiscard]] bool passed() const { return offenders == 0 && message.empty(); }
};

/// Judges one tensor; branches are accepted for this tensor alone.
[[nodiscard]] Verdict judge(const HostTensor& got, const Envelope& envelope);

/// Judges all outputs jointly: a branch must explain all of them.
[[nodiscard]] Verdict judge(std::span<const HostTensor> got, const Envelopes& envelopes);

}  // namespace etalon::reference
