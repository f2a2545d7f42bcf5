#include <algorithm>
#include <functional>
#include <utility>

#include "conformance/roles/fitting_calls.hpp"
#include "conformance/roles/parts.hpp"

namespace etalon::conformance {
namespace {

bool takes_several(const spec::Definition& d) { return d.operand_count == 1 && d.operands[0].pack; }

bool gives_several(const spec::Definition& d) { return d.result_count > 1 || d.results[0].pack; }

/// A call of this definition that reads values of just these types, in any order.
std::optional<DrawnCall> joining(Composition& c, const spec::Definition& d, const std::vector<spec::ValueType>& pieces) {
  const std::vector<std::optional<spec::ValueType>> wanted(pieces.begin(), pieces.end());
  const bool told_apart = std::adjacent_find(pieces.begin(), pieces.end(), std::not_equal_to<>()) != pieces.end();
  const std::int64_t elements = std::max<std::int64_t>(c.wish.elements, 24);
  const SizeWish wish{.elements = elements, .edges = false, .defaults = false, .fit = Fit{0, extents_of(pieces.back())}};
  constexpr int draws = 40;
  for (int k = 0; k < draws; ++k) {
    auto found = drawn(c, d, wish);
    if (!found) continue;
    const auto& read = found->types.operands;
    // In the order in which they were given, joining them changes nothing.
    if (told_apart && read == wanted) continue;
    if (std::is_permutation(read.begin(), read.end(), wanted.begin(), wanted.end())) return found;
  }
  return std::nullopt;
}

/// Who takes apart and who joins; of one of the two only the program's definition, or nothing where it is neither.
struct Partners {
  Definitions givers, takers;
};

Partners partners_of(const Composition& c) {
  const spec::Definition& about = *c.wish.about;
  Partners found;
  std::copy_if(c.catalogue.moves.begin(), c.catalogue.moves.end(), std::back_inserter(found.givers), [](const auto* d) { return gives_several(*d); });
  std::copy_if(c.catalogue.moves.begin(), c.catalogue.moves.end(), std::back_inserter(found.takers), [](const auto* d) { return takes_several(*d); });
  if (takes_several(about)) found.takers = {&about};
  else if (gives_several(about)) found.givers = {&about};
  else return {};
  return found;
}

/// \returns whether the first call was added
bool add_both(Composition& c, const DrawnCall& apart, const DrawnCall& joined) {
  const std::size_t first = c.draft.results().size();
  if (!c.draft.add_hidden(apart)) return false;
  const std::size_t pieces = apart.instance.results.size();
  Taken taken(pieces);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    c.draft.hide(first + piece);
    const Result& given = c.draft.results()[first + piece];
    for (std::size_t place = pieces; place-- > 0;) {
      if (taken[place] || joined.types.operands[place] != given.type) continue;
      taken[place] = given.name;
      break;
    }
  }
  c.draft.add_hidden(joined, std::move(taken));
  return true;
}

}  // namespace

// Compilers give back what was taken apart, and forget that the order must be the same.
void add_rejoined(Composition& c) {
  static const std::vector<Dims> extents{{4, 3}, {6}, {2, 4}, {2, 2}};
  const auto [givers, takers] = partners_of(c);
  if (givers.empty() || takers.empty()) return;
  // Each giver in turn: some of them find who joins their pieces in any draw, others in few.
  constexpr std::size_t draws_of_each = 30;
  const auto first = static_cast<std::size_t>((c.wish.turn + c.ordinal) % givers.size());
  for (std::size_t k = 0; k < draws_of_each * givers.size(); ++k) {
    const spec::Definition& giver = *givers[(first + k / draws_of_each) % givers.size()];
    const auto apart = drawn_on(c, giver, {c.wish.dtype, c.draw.pick(extents)});
    if (!apart || apart->instance.results.size() < 2) continue;
    const auto joined = joining(c, *c.draw.pick(takers), apart->instance.results);
    if (joined && add_both(c, *apart, *joined)) return;
  }
}

}  // namespace etalon::conformance
