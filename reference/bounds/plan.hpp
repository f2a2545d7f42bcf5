/// \file
/// A system's expressions flattened for fast repeated evaluation: indices folded into affine offsets where they are
/// affine, closed real subexpressions marked, locals that are used once per element put where they are used. It knows
/// no values.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/system/recurrence.hpp"
#include "spec/system/system.hpp"

namespace etalon::reference::bounds {

using OperationId = std::int32_t;

/// base + sum of coefficient · variable.
struct Affine {
  std::int64_t base = 0;
  std::vector<std::pair<spec::VariableId, std::int64_t>> terms;
};

/// One node of an expression.
struct Operation {
  spec::Form form = spec::Form::number;
  Kind kind = Kind::real;
  spec::Primitive primitive = spec::Primitive::add;
  spec::Reduction reduction = spec::Reduction::sum;
  std::int32_t tensor = -1;
  spec::VariableId variable = -1;
  std::int64_t integer = 0;       ///< of an integer or boolean constant
  std::int32_t constant = -1;     ///< position in Plan::constants of a closed real expression
  std::int32_t affine = -1;       ///< of an integer expression, or the element offset of a read
  OperationId scaled = -1;        ///< the child that is multiplied by ± 2^exponent
  int exponent = 0;
  bool negative = false;
  bool converts = false;          ///< a read of reals that are first made numbers of the type in which the equation computes
  std::vector<OperationId> args;
  std::vector<spec::Binder> binders;
};

struct PlannedEquation {
  spec::TensorId target = -1;
  std::vector<spec::Binder> binders;
  std::vector<OperationId> place;
  std::int32_t affine = -1;  ///< of the place's offset
  OperationId value = -1;
  bool narrows = false;           ///< reads reals of a wider type than its target's
  DType arithmetic = DType::f32;  ///< the narrowest of f32 and f64 that its real operands and its target allow
};

struct Plan {
  std::vector<Operation> operations;
  std::vector<Affine> affines;
  std::vector<spec::Expr> constants;
  std::vector<PlannedEquation> equations;     ///< one per equation of the system
  std::vector<spec::Recurrence> recurrences;  ///< by position among them
  std::vector<std::uint8_t> is_read;  ///< per tensor: whether some equation reads it
  std::size_t variables = 0;
};

[[nodiscard]] Plan plan(const spec::System& system);

/// The system without the locals that are read at one place and once per element: their equations stand there instead,
/// so that sums and products are as long as a conforming evaluation may make them.
[[nodiscard]] spec::System inline_single_uses(const spec::System& system);

/// Whether the equation defines its whole target at its own binders.
[[nodiscard]] bool covers(const spec::System& system, const spec::Equation& equation);

/// Row-major strides.
[[nodiscard]] std::vector<std::int64_t> strides_of(const Dims& dims);

}  // namespace etalon::reference::bounds
