/// \file
/// What the steps of a kernel touch: elements of tensors, variables and registers. It knows no machine.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "compiled/ir/affine.hpp"
#include "compiled/ir/nest.hpp"

namespace etalon::compiled::loops {

/// Elements of a tensor that a step reads or writes.
struct Access {
  TensorId tensor = -1;
  std::vector<Expr> place;
  bool write = false;
};

/// Everything that steps touch, in all of their loops, in the order of the text.
struct Accesses {
  std::vector<Access> elements;
  std::set<spec::VariableId> uses;     ///< registers and loops' variables that are read
  std::set<spec::VariableId> defines;  ///< registers that are filled
  std::vector<Expr> expressions;       ///< whatever is computed
  Extents extents;                     ///< of the loops
  bool in_tiles = false;               ///< among them are contractions, or squares in registers: their loops say less of where they are
};

[[nodiscard]] Accesses accesses_of(const Step& step);
[[nodiscard]] Accesses accesses_of(const std::vector<Step>& steps);

/// Those of an expression, which may be empty.
[[nodiscard]] Accesses accesses_of(const Expr& e);

/// The tensors of memory that others own that a kernel with these steps touches, in the order of the text.
/// \param own tensors in its own memory
/// \param zeroed tensors that are full of zeros when it starts
[[nodiscard]] std::vector<Buffer> arguments_of(const std::vector<Step>& steps, const std::vector<Buffer>& own, const std::vector<TensorId>& zeroed);

/// An element that is written at one value of a variable, and touched at another.
struct Meeting {
  Access written;
  Access touched;
};

/// Where values of the variable may meet. Nothing where they never do: wherever a tensor, or one that shares memory with it, is written at one
/// place and touched at another, the two have on some axis values that never meet, by their ranges or by what they leave divided by the steps of their loops, or c·v + r
/// both, where r takes fewer than |c| values.
/// \param is_own of tensors that each thread has for itself
/// \param share whether two tensors have bytes in common
[[nodiscard]] std::optional<Meeting> meeting(const spec::System& system, const Accesses& accesses, spec::VariableId v,
                                             const std::function<bool(TensorId)>& is_own, const std::function<bool(TensorId, TensorId)>& share);

/// The loop in lanes that this step is, if it is just that: alone, or as the only loop of a reduction. Else null.
[[nodiscard]] Loop* lanes_loop(Step& step);
[[nodiscard]] const Loop* lanes_loop(const Step& step);

}  // namespace etalon::compiled::loops
