/// \file
/// Who plays which role of a random program, and what they work with. A new role is a line of Role, a row here, and a file.
#pragma once

#include <algorithm>
#include <array>
#include <deque>

#include "conformance/roles/draft.hpp"

namespace etalon::conformance {

/// What there is to call, the draft so far, and whose turn it is.
struct Composition {
  Composition(std::span<const spec::Definition* const> definitions, const ProgramWish& wished, Draw& drawing, const Admission& admits)
      : wish(wished), draw(drawing), catalogue(catalogue_of(definitions, wish.about)), draft(wish, draw, calls, admits) {}
  Composition(const Composition&) = delete;

  const ProgramWish& wish;
  Draw& draw;
  const Catalogue catalogue;
  Calls calls{wish, draw, catalogue};
  Draft draft;
  std::uint64_t turn = wish.turn;  ///< of those that take turns
  std::uint64_t ordinal = 0;       ///< how often the role came before
  std::deque<const spec::Definition*> passed{};  ///< readers whose turn was lost
  struct View {
    std::size_t call, result;
  };
  std::optional<View> view{};  ///< the first move and the first that it gave, by their places among calls and results
};

/// Adds the calls of a role, which random_program.hpp describes, or nothing where that cannot be.
using Part = void(Composition& c);

Part add_about, add_same, add_any, add_elementwise, add_move, add_fed, add_on_view, add_beside;
Part add_anew, add_feeder, add_sharing, add_consumer, add_reader, add_with_constant;
Part add_again, add_exchanged, add_once_more, add_nearly, add_other_view;
Part add_between_moves, add_rejoined, add_there_and_back, add_epilogue, add_surrounded, add_over_itself, add_read_twice;

struct RoleRow {
  Role role;
  bool optional;  ///< a program may lack it without harm
  Part* part;
};

/// In the order of the roles.
inline constexpr auto role_rows = std::to_array<RoleRow>({
    {Role::about, false, add_about},
    {Role::sharing, true, add_sharing},
    {Role::again, false, add_again},
    {Role::same, false, add_same},
    {Role::exchanged, true, add_exchanged},
    {Role::any, false, add_any},
    {Role::elementwise, false, add_elementwise},
    {Role::consumer, true, add_consumer},
    {Role::move, false, add_move},
    {Role::anew, false, add_anew},
    {Role::reader, true, add_reader},
    {Role::feeder, false, add_feeder},
    {Role::fed, true, add_fed},
    {Role::nearly, true, add_nearly},
    {Role::on_view, false, add_on_view},
    {Role::other_view, true, add_other_view},
    {Role::beside, true, add_beside},
    {Role::with_constant, true, add_with_constant},
    {Role::once_more, true, add_once_more},
    {Role::between_moves, true, add_between_moves},
    {Role::over_itself, true, add_over_itself},
    {Role::read_twice, true, add_read_twice},
    {Role::epilogue, true, add_epilogue},
    {Role::rejoined, true, add_rejoined},
    {Role::surrounded, true, add_surrounded},
    {Role::there_and_back, true, add_there_and_back},
});

static_assert([] {
  std::size_t row = 0;
  return std::all_of(role_rows.begin(), role_rows.end(), [&](const RoleRow& r) { return static_cast<std::size_t>(r.role) == row++; });
}());

}  // namespace etalon::conformance
