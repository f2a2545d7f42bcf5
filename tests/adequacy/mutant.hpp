/// \file
/// What a mechanical mutant is: one change of the equations that answer a question, or of numbers on their way through
/// them. It knows forms and types, and no operation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"

namespace etalon::adequacy {

/// What is wrong about a mutant. Up to `broadcast` equations are, behind it arithmetic.
enum class Sort : std::uint8_t {
  index,         ///< an index one too large or too small
  axes,          ///< two axes of equal extent exchanged
  operands,      ///< operands of a primitive that does not commute exchanged
  comparison,    ///< `<` for `<=`, or its opposite
  arm,           ///< the arms of a choice exchanged, or one of them always taken
  guard,         ///< a condition left out
  part,          ///< a term, a factor or a sign left out
  constant,      ///< another constant
  attribute,     ///< an attribute that is ignored, or taken for another value
  reduction,     ///< another reduction, an identity that takes part, the first or last element left out
  detach,        ///< a derivative through what has none
  state,         ///< new state for old, or old for new
  broadcast,     ///< one summand of a cotangent for their sum
  through,       ///< numbers of one tensor pass through a narrower type
  saturating,    ///< integers that stop at the ends of their type instead of wrapping, or the other way round
  flushed,       ///< subnormal numbers of one tensor are zero
  threshold,     ///< a function or a comparison that gives up too early
  twice,         ///< results rounded to a wider type first
  accumulation,  ///< a sum whose additions are rounded to fewer bits
};
inline constexpr std::array<std::string_view, 19> sort_names{
    "index",      "axes",      "operands",  "comparison", "arm",         "guard",     "part",
    "constant",   "attribute", "reduction", "detach",     "state",       "broadcast", "through",
    "saturating", "flushed",   "threshold", "twice",      "accumulation"};

[[nodiscard]] inline std::string_view name_of(Sort sort) { return sort_names[static_cast<std::size_t>(sort)]; }

/// How the numbers of one tensor change before anyone reads them.
using NumberChange = std::function<void(HostTensor&)>;

/// A mutant of one system. `place` and `text` do not depend on extents, so that the same change of another instance of
/// the definition has the same ones.
struct Change {
  Sort sort = Sort::index;
  std::string place;  ///< the equation and the way from its right side to the changed part
  std::string text;   ///< what is done there

  // One of these says what the mutant is.
  std::optional<std::pair<std::size_t, spec::Expr>> equation{};  ///< another right side for this equation
  std::optional<spec::System> system{};                          ///< another system with the same inputs and outputs
  std::optional<std::pair<spec::TensorId, NumberChange>> numbers{};
  std::optional<std::pair<std::size_t, DType>> accumulate{};  ///< the equation, which is a sum, adds in this type

  std::function<std::string()> show{};   ///< before and after, as this system has them
  std::function<std::string()> prove{};  ///< why it is the same function here; nothing where that is not proved
};

/// The system of the change, where it changes equations.
[[nodiscard]] spec::System applied(const Change& change, const spec::System& to);

}  // namespace etalon::adequacy
