/// \file
/// What is known of integers at a place of an equation: the ranges of its index variables, and the conditions on
/// the way there. It decides conditions and bounds index expressions; it rewrites nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "spec/system/affine.hpp"
#include "spec/system/interval.hpp"
#include "spec/system/system.hpp"

namespace etalon::spec {

/// The values that each integer tensor can hold, by promise or by its equations; unbounded for the others.
[[nodiscard]] std::vector<Interval> value_ranges(const System& system);

/// Known facts. Copied when a path forks.
struct Ranges {
  std::unordered_map<VariableId, Interval> variables;
  std::vector<Affine> nonnegative;  ///< forms known to be ≥ 0
  std::vector<Expr> truths;         ///< other conditions known to hold
  std::shared_ptr<const std::vector<Interval>> tensors;
  bool contradictory = false;       ///< the conditions contradict each other: nothing is evaluated here

  void bind(const std::vector<Binder>& binders);
  /// Takes in a condition that holds from here on.
  void assume(const Expr& condition);
  /// Takes in the opposite of a condition.
  void assume_not(const Expr& condition);

 private:
  void assume_nonnegative(const Affine& a);
};

/// The normal form of an integer expression where these facts hold. Integers wrap at 64 bits; a sum or product that may do
/// so, since a tensor's numbers enter it or its extents are huge, is an atom.
[[nodiscard]] Affine affine(const Expr& e, const Ranges& known);
/// That of an expression which is known not to leave 64 bits, such as what stands in a form's atoms.
[[nodiscard]] Affine exact_affine(const Expr& e);

[[nodiscard]] Interval interval(const Affine& a, const Ranges& known);
/// From the ranges of variables and tensors alone: quick, and wider.
[[nodiscard]] Interval interval_of_variables(const Affine& a, const Ranges& known);
[[nodiscard]] Interval interval(const Expr& e, const Ranges& known);

/// Whether the condition always or never holds here; nothing if that is not known.
[[nodiscard]] std::optional<bool> decide(const Expr& condition, const Ranges& known);

/// A comparison of two integers, `difference ⋛ 0`; nothing for other conditions.
struct Comparison {
  Primitive relation = Primitive::eq;  ///< eq, ne or ge
  Affine difference;
};
[[nodiscard]] std::optional<Comparison> as_comparison(const Expr& condition, const Ranges& known);

/// The conjuncts of a condition, left to right.
[[nodiscard]] std::vector<Expr> conjuncts(const Expr& condition);

}  // namespace etalon::spec
