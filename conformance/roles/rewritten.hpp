/// \file
/// Elementwise functions of elementwise functions, which compilers rewrite. It knows no operation by name.
#pragma once

#include "conformance/roles/composition.hpp"

namespace etalon::conformance {

/// An elementwise function of what the last call gave: of the ways to read that, and what that read, one which gives back
/// something simpler among ordinary numbers, where there is one.
/// \returns whether anything was added
bool add_rewritten(Composition& c, const spec::Definition& d);

}  // namespace etalon::conformance
