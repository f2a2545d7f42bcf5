/// \file
/// Definitions tried at small extents before anyone calls them: what is wrong at some of them is said where the text is
/// read. It proves nothing: each call is verified at its own extents.
#pragma once

#include <cstddef>

#include "spec/library/library.hpp"

namespace etalon::spec {

/// Elaborates a definition at small extents of its operands and usual values of its attributes.
/// \throws Unsound for the first of them at which it reads beyond a tensor or does not give each element exactly once
void try_out(const Definition& definition);

/// The same for what was added to the library, in order, from number `first` on. \returns the library
[[nodiscard]] Library tried_out(Library library, std::size_t first = 0);

}  // namespace etalon::spec
