/// \file
/// A system as compact arrays, so that evaluating an element is a walk over indices instead of shared pointers. Nothing
/// is rewritten: the same forms in the same order, except that affine indices are kept as coefficients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::reference {

/// coefficient · value of the variable in `slot`.
struct AffineTerm {
  std::int32_t slot;
  std::int64_t coefficient;
};

/// A loop: the variable's place in the evaluator's array of variables, and its extent.
struct Loop {
  std::int32_t slot;
  std::int64_t extent;
};

/// A part of a reduction's guard, to be tested as soon as the first `depth` binders have values.
struct GuardPart {
  std::int32_t depth;
  std::int32_t node;
};

/// A slice of one of the arrays of Flat.
struct Range {
  std::int32_t first = 0;
  std::int32_t count = 0;
};

/// `affine` stands for variables and every integer expression that is linear in them.
enum class Step : std::uint8_t { number, affine, read, apply, select, reduce, detach };

struct FlatNode {
  Step step = Step::number;
  Kind kind = Kind::real;
  spec::Primitive primitive = spec::Primitive::add;
  spec::Reduction reduction = spec::Reduction::sum;
  Range args;                ///< into Flat::args; of a reduction: body and, when there is one, the value over nothing
  std::int32_t payload = 0;  ///< number: into numbers; read: the tensor
  std::int64_t constant = 0; ///< number of kind integer or boolean; constant part of an affine
  Range terms;               ///< affine: into terms
  Range loops;               ///< reduce: into loops
  Range guards;              ///< reduce: into guards
};

struct FlatEquation {
  spec::TensorId target = -1;
  Range loops;
  Range place;  ///< into args
  std::int32_t value = 0;
};

struct Flat {
  std::vector<FlatNode> nodes;
  std::vector<std::int32_t> args;
  std::vector<AffineTerm> terms;
  std::vector<Loop> loops;
  std::vector<GuardPart> guards;
  std::vector<spec::Number> numbers;  ///< real constants
  std::vector<FlatEquation> equations;
  std::size_t slots = 0;

  template <class T>
  [[nodiscard]] static std::span<const T> slice(const std::vector<T>& all, Range r) {
    return {all.data() + r.first, static_cast<std::size_t>(r.count)};
  }
};

[[nodiscard]] Flat flatten(const spec::System& system);

}  // namespace etalon::reference
