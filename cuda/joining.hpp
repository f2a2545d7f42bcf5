/// \file
/// Partial sums of one chain, joined as their blocks would be, in CUDA C++.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compiled/emit/text/scalars.hpp"
#include "cuda/split.hpp"

namespace etalon::cuda {

/// Which partial sums are joined: those from `first` on, at most `count`, a power of two.
struct Stretch {
  std::string first;
  std::int64_t count = 1;
  std::string index = "int";  ///< the type of their numbers
};

/// Writes what joins them.
/// \param at a partial sum by its number
/// \returns the sum's identifier
[[nodiscard]] std::string joined_sum(compiled::source::Scalars& scalars, compiled::source::Text& text, compiled::loops::Type type, const Parts& parts, const Stretch& stretch,
                                     const std::function<std::string(const std::string& number)>& at);

}  // namespace etalon::cuda
