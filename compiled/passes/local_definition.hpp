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
  std::vector<spec::VariableId> axes;  ///< the variable that stands at each axis of its place
};

/// Of a tensor that this equation alone writes and that does not depend on itself.
[[nodiscard]] LocalDefinition definition_in(const spec::System& system, const spec::Equation& equation);

/// What the bits of an inserted definition depend on.
struct Reader {
  DType arithmetic = DType::f32;
  bool real_target = true;
};
[[nodiscard]] Reader reader_of(const spec::System& system, const spec::Equation& equation);

/// Whether the definition has the same bits there: the type is that in which its own equation computes it, and where
/// the target is not real the inserted reads leave the type of the target's arithmetic as it is.
[[nodiscard]] bool keeps_bits(const LocalDefinition& local, const Reader& reader);

/// The value of the equation for the indices of this read of its target.
[[nodiscard]] spec::Expr value_at(const spec::Equation& equation, const LocalDefinition& local, const spec::Expr& read);

}  // namespace etalon::compiled
