/// \file
/// What a role of a random program works with: the draft so far, what there is to call, and whose turn it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "conformance/roles/catalogue.hpp"
#include "conformance/roles/draft.hpp"

namespace etalon::conformance {

/// What the first move gave.
struct View {
  std::size_t result = 0;
  std::size_t call = 0;
};

struct Composition {
  const ProgramWish& wish;
  Draw& draw;
  Catalogue catalogue;
  Draft draft;
  std::uint64_t turn = 0;     ///< of those that take turns: see ProgramWish
  std::uint64_t ordinal = 0;  ///< how often the role came before
  std::deque<const spec::Definition*> passed{};  ///< readers whose turn was lost
  std::optional<View> view{};
};

}  // namespace etalon::conformance
