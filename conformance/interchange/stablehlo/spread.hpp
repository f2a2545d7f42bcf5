/// \file
/// Tensors whose axes are index variables of equations: how they are brought side by side. It knows no expression.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "conformance/interchange/stablehlo/instructions.hpp"
#include "spec/system/expr.hpp"

namespace etalon::conformance::stablehlo {

/// A value for each value of some index variables: one axis per variable, outer variables first.
struct Spread {
  Tensor tensor;
  std::vector<spec::VariableId> over;
};

/// The index variables that are bound at a place of an equation, from the outermost on.
class Scope {
 public:
  void enter(std::span<const spec::Binder> binders) { bound_.insert(bound_.end(), binders.begin(), binders.end()); }
  void leave(std::size_t number) { bound_.resize(bound_.size() - number); }

  [[nodiscard]] std::int64_t extent(spec::VariableId variable) const { return bound_[depth(variable)].extent; }
  /// The variables of all these, outer ones first.
  [[nodiscard]] std::vector<spec::VariableId> joined(std::span<const Spread> spreads) const;
  /// The axes that these variables are among those.
  [[nodiscard]] static Extents positions(std::span<const spec::VariableId> of, std::span<const spec::VariableId> among);
  [[nodiscard]] Extents extents(std::span<const spec::VariableId> variables) const;

  /// The value repeated over these variables, of which its own are some.
  [[nodiscard]] Tensor spread(Instructions& out, const Spread& value, std::span<const spec::VariableId> over) const;
  /// A tensor whose axes are these variables in any order.
  [[nodiscard]] Spread ordered(Instructions& out, const Tensor& tensor, std::vector<spec::VariableId> over) const;

 private:
  [[nodiscard]] std::size_t depth(spec::VariableId variable) const;

  std::vector<spec::Binder> bound_;
};

}  // namespace etalon::conformance::stablehlo
