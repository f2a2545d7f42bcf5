#include "conformance/random_program.hpp"

#include <algorithm>

#include "conformance/roles/parts.hpp"

namespace etalon::conformance {
namespace {

/// \returns whether the program may go on
bool play(Composition& c, const RoleRow& row) {
  // Most draws of any definition do not fit what is there.
  constexpr std::size_t patience = 60;
  const std::size_t attempts = row.optional ? 1 : patience, before = c.draft.calls().size();
  const auto is_added = [&] { return c.draft.calls().size() > before; };
  for (std::size_t attempt = 0; attempt < attempts && !is_added(); ++attempt) {
    c.draft.insist(attempt < patience / 2);
    row.part(c);
  }
  return row.optional || is_added();
}

}  // namespace

std::optional<RandomProgram> random_program(std::span<const spec::Definition* const> definitions,
                                            const ProgramWish& wish, Draw& draw, const Admission& admits) {
  Composition c(definitions, wish, draw, admits);
  for (auto role = wish.roles.begin(); role != wish.roles.end(); ++role) {
    c.ordinal = static_cast<std::uint64_t>(std::count(wish.roles.begin(), role, *role));
    if (!play(c, role_rows.at(static_cast<std::size_t>(*role)))) return std::nullopt;
  }
  return c.draft.empty() ? std::nullopt : std::optional(c.draft.finished());
}

}  // namespace etalon::conformance
