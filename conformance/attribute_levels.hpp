/// \file
/// The values at which a definition's scalar attributes are asked: what its text compares them with, and what numbers are
/// like everywhere. They are read off declarations and conditions; nothing is drawn here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/attribute.hpp"
#include "spec/notation/definition.hpp"

namespace etalon::conformance {

/// One of the values that an attribute takes on purpose, and what it stands for.
struct AttributeLevel {
  std::string name;  ///< `default`, a symbol, `true`, a number's text
  spec::AttributeValue value;
};

/// The levels of one scalar attribute: its default; every symbol, truth value or element type of 32 and 64 bits; of an integer, the numbers from -1 to 3;
/// of a real, 0, 1, -1, 2, 3, 1/2 and 1000; and each constant that the definition compares the attribute with, for reals
/// with one a quarter to either side. Each value stands once, the default first. Where a definition carries state on, reals are
/// not negative, and those whose default lies in [0, 1) stay there. Lists, axes and packs have none.
[[nodiscard]] std::vector<AttributeLevel> levels_of(const spec::Definition& definition, const spec::AttributeText& attribute);

/// Per attribute what it is in a turn; nothing where it is drawn freely.
using TurnLevels = std::vector<std::optional<spec::AttributeValue>>;
[[nodiscard]] TurnLevels levels_in_turn(const spec::Definition& definition, std::uint64_t turn);

/// The position of the level that the attribute has in one turn, or as many as there are levels where it is drawn freely.
/// Of any `turns_of(levels)` consecutive turns between two multiples of `turns_in_step` each level has one; attributes at
/// other places move at other speeds and are shifted at those multiples, so that pairs of levels meet.
[[nodiscard]] std::size_t level_in_turn(std::uint64_t turn, std::size_t place, std::size_t levels);
[[nodiscard]] std::size_t turns_of(std::size_t levels);
inline constexpr std::uint64_t turns_in_step = 64;

}  // namespace etalon::conformance
