/// \file
/// Definitions by what programs want of them, as their form says. It draws nothing, and knows no operation by name.
#pragma once

#include <span>
#include <vector>

#include "spec/notation/definition.hpp"

namespace etalon::conformance {

using Definitions = std::vector<const spec::Definition*>;

struct Catalogue {
  Definitions all, elementwise, moves;
  /// Elementwise functions of what is elementwise; after moves moves again, and what reads one operand or two; after others
  /// what moves or changes each element; after reductions also these of one operand.
  Definitions consumers;
  Definitions feeders;      ///< give operands that are rewritten with who reads them
  Definitions constants;    ///< make tensors of one number
  Definitions surrounding;  ///< moves that put a number where they read nothing
};

/// \param about whose consumers and feeders they are; without it there are none
[[nodiscard]] Catalogue catalogue_of(std::span<const spec::Definition* const> definitions, const spec::Definition* about);

}  // namespace etalon::conformance
