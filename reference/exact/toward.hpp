/// \file
/// Which neighbour of a real number is wanted.
#pragma once

#include <cstdint>

namespace etalon::reference {

enum class Toward : std::uint8_t { nearest, down, up };

}  // namespace etalon::reference
