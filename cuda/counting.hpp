/// \file
/// Loops that count from zero, in CUDA C++.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "compiled/emit/text/text.hpp"

namespace etalon::cuda {

/// \param end a number, or the text of one
template <class End>
[[nodiscard]] std::string counting(std::string_view name, const End& end) {
  return fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", name, end);
}

/// Opens such a loop, each of whose turns is code of its own.
template <class End>
void open_unrolled(compiled::source::Text& text, std::string_view name, const End& end) {
  text.raw("#pragma unroll");
  text.open(counting(name, end));
}

}  // namespace etalon::cuda
