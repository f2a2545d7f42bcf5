/// \file
/// The table of rewrites that keep every bit: what may look simpler but rounds otherwise is not in it.
#pragma once

#include <span>

#include "compiled/rewrite/rewriting.hpp"

namespace etalon::compiled {

/// The rules of the pass `simplify`, in the order in which they are tried. Each makes the expression smaller.
[[nodiscard]] std::span<const Rule> simplification_rules();

}  // namespace etalon::compiled
