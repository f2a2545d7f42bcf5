/// \file
/// Calls that read what a program computed already: which results fit, and which of them are taken. It knows no operation by name.
#pragma once

#include "conformance/roles/parts.hpp"

namespace etalon::conformance {

/// How a call is to read.
struct ReadingWish {
  Window window{};      ///< the results that it may read
  bool around = false;  ///< of them only what calls of the program's definition gave, and what those read
  bool defaults = true;  ///< attributes may be left out where the program allows that
  bool returns = false;  ///< element types that attributes name are mostly the program's
};

/// A call of this definition that reads a result, unless it is the first of all.
/// \param d nothing where there is none to call \returns whether it was added
bool add_reading(Composition& c, const spec::Definition* d, const ReadingWish& wish = {});

/// Per operand a result of its type that may be read, or nothing; a result may serve twice.
[[nodiscard]] Taken results_for(Composition& c, const DrawnCall& call, const Window& window, double taking);

}  // namespace etalon::conformance
