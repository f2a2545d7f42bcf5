/// \file
/// What a step of a kernel touches: elements of tensors, variables and registers. It knows no machine.
#pragma once

#include <set>
#include <vector>

#include "compiled/ir/nest.hpp"

namespace etalon::compiled::loops {

/// Elements of a tensor that a step reads or writes.
struct Access {
  TensorId tensor = -1;
  std::vector<Expr> place;
  bool write = false;
};

/// Everything that a step touches, in all of its loops.
struct Accesses {
  std::vector<Access> elements;
  std::set<spec::VariableId> uses;     ///< registers and loops' variables that it reads
  std::set<spec::VariableId> defines;  ///< registers that it fills
  bool all = false;                    ///< it is a contraction, or squares in registers: its variables are not listed, its places not in order
};

[[nodiscard]] Accesses accesses_of(const Step& step);

/// Those of an expression, which may be empty.
[[nodiscard]] Accesses accesses_of(const Expr& e);

/// A tensor that a kernel touches.
struct Touched {
  TensorId tensor = -1;
  bool read = false;
  bool written = false;
};

/// The tensors in memory of others that a kernel reads or writes, in the order in which they first occur.
[[nodiscard]] std::vector<Touched> touched(const Nest& nest);

/// The loop in lanes that this step is, if it is just that: alone, or as the only loop of a reduction. Else null.
[[nodiscard]] Loop* lanes_loop(Step& step);
[[nodiscard]] const Loop* lanes_loop(const Step& step);

}  // namespace etalon::compiled::loops
