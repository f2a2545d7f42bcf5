/// \file
/// What may be inserted where a tensor is read: its definition, if no bit depends on it. It decides nothing: what is
/// worth inserting is the passes' business.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::compiled {

/// A tensor's definition as a reader sees it.
struct LocalDefinition {
  std::string why_not = "nothing writes it";  ///< why it must stay a tensor; empty where it need not
  std::size_t size = 0;                       ///< nodes of its value
  DType arithmetic = DType::f32;
  bool has_reals = false;              ///< its bits depend on the type of the arithmetic
  bool reads_only_arithmetic = false;  ///< there are real reads, all of that type
  bool copies = false;                 ///< its value is one read
  bool rounded = false;                ///< its value is computed in double precision, and single when it is stored
  std::vector<spec::VariableId> axes;  ///< the variable that stands at each axis of its place
};

/// Of a tensor that this equation alone writes and that does not depend on itself.
[[nodiscard]] LocalDefinition definition_in(const spec::System& system, const spec::Equation& equation);

/// What the bits of an inserted definition depend on.
struct Reader {
  DType arithmetic = DType::f32;
  bool real_target = true;
  bool rounds_result = false;  ///< what it stores is rounded to single precision
};
[[nodiscard]] Reader reader_of(const spec::System& system, const spec::Equation& equation);

/// Whether the definition has the same bits there: the type is that in which its own equation computes it, and where
/// the target is not real the inserted reads leave the type of the target's arithmetic as it is.
/// \param rounds whether what stands in the place is rounded to single precision whatever it is, see `rounds_operand`
[[nodiscard]] bool keeps_bits(const LocalDefinition& local, const Reader& reader, bool rounds = false);

/// Whether operand `i` of an expression with these operands is rounded to single precision, whatever it is, because another
/// operand has it.
[[nodiscard]] bool rounds_operand(const spec::System& system, const Reader& reader, const spec::Expr& e, const std::vector<spec::Expr>& operands,
                                  std::size_t i);

/// The value of the equation for the indices of this read of its target.
[[nodiscard]] spec::Expr value_at(const spec::Equation& equation, const LocalDefinition& local, const spec::Expr& read);

}  // namespace etalon::compiled
