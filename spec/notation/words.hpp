/// \file
/// The words of the notation that name no tensor: reductions, functions of extents and rows, keywords.
#pragma once

#include <optional>
#include <string_view>

#include "spec/notation/definition.hpp"

namespace etalon::spec::notation {

/// The reduction of that name, or nothing.
[[nodiscard]] constexpr std::optional<Reduction> reduction_named(std::string_view name) {
  for (const Reduction r : {Reduction::sum, Reduction::prod, Reduction::max, Reduction::min, Reduction::any,
                            Reduction::all, Reduction::argmax, Reduction::argmin}) {
    if (name_of(r) == name) return r;
  }
  return std::nullopt;
}

[[nodiscard]] constexpr std::string_view name_of(Builtin b) {
  constexpr std::string_view names[] = {"size", "flat", "unflat", "keep", "only", "before", "total", "count", "inside",
                                        "rank", "part", "completed"};
  return names[static_cast<std::size_t>(b)];
}

[[nodiscard]] constexpr std::optional<Builtin> builtin_named(std::string_view name) {
  for (const Builtin b : {Builtin::size, Builtin::flat, Builtin::unflat, Builtin::keep, Builtin::only, Builtin::before,
                          Builtin::total, Builtin::count, Builtin::inside, Builtin::rank, Builtin::part,
                          Builtin::completed}) {
    if (name_of(b) == name) return b;
  }
  return std::nullopt;
}

[[nodiscard]] constexpr bool is_keyword(std::string_view name) {
  for (const std::string_view k : {"if", "then", "else", "and", "or", "not", "where", "when", "let", "requires", "true",
                                   "false", "detach", "family", "also", "jvp", "vjp"}) {
    if (name == k) return true;
  }
  return false;
}

}  // namespace etalon::spec::notation
