/// \file
/// One draw of the choices that fix a call's types: rows, extents, attributes, packs. Whether the call is well-typed is
/// for typing to say; chance and a few rules about constraints make it likely.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "conformance/assignment.hpp"
#include "conformance/attribute_levels.hpp"
#include "conformance/draw.hpp"
#include "conformance/fitting.hpp"
#include "conformance/signature.hpp"
#include "spec/notation/definition.hpp"

namespace etalon::conformance {

/// How big the tensors of a case should be, about this many elements in the largest operand, and what attributes they are for.
struct SizeWish {
  std::int64_t elements = 64;  ///< 1: each tensor has one element, where that can be
  bool edges = false;  ///< prefer extents 0 and 1
  bool empty = false;  ///< a tensor without elements, where there is one
  std::int64_t least = 0;  ///< at least so many elements in the largest tensor, where that can be
  double nodes = 12000;  ///< at most so many nodes of the equations are evaluated, where that can be
  double far_beyond = std::numeric_limits<double>::infinity();  ///< and never more than so many times as many
  std::int64_t longest = 0;  ///< one reduction has more terms than so many, 16 or 1024, and the other axes are short
  /// Scalar attributes have the levels of this turn (attribute_levels.hpp); nothing: all are drawn freely.
  std::optional<std::uint64_t> turn{};
  bool deep = false;  ///< the first row has more axes than loops are written by hand for
  bool defaults = true;  ///< attributes that may be left out are, now and then
  std::optional<Fit> fit{};
  double insistence = 1;  ///< how probably each attribute has the level of the turn; one has it surely, unless this is 0
  std::uint64_t passed_over = 0;  ///< how many attributes that were to have it surely could not
};

/// Whether numbers for axes, steps for one, are to run backwards.
[[nodiscard]] constexpr bool wants_backwards(const SizeWish& wish) { return wish.turn && *wish.turn % 3 == 0; }

/// \param levels what scalar attributes are in the turn that is wished for; unused where none is
[[nodiscard]] Assignment draw_once(const spec::Definition& definition, const Names& names, const TurnLevels& levels, Draw& draw,
                                   const SizeWish& wish);

}  // namespace etalon::conformance
