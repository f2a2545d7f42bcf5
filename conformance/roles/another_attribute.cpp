#include "conformance/roles/another_attribute.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "conformance/sibling.hpp"

namespace etalon::conformance {
namespace {

bool lists_differ(const spec::Attributes& one, const spec::Attributes& other) {
  using Numbers = std::vector<std::int64_t>;
  return std::any_of(one.begin(), one.end(), [&](const auto& a) {
    const auto b = other.find(a.first);
    const auto *x = std::get_if<Numbers>(&a.second), *y = b == other.end() ? nullptr : std::get_if<Numbers>(&b->second);
    return x != nullptr && y != nullptr && !std::is_permutation(x->begin(), x->end(), y->begin(), y->end());
  });
}

}  // namespace

std::optional<AnotherAttribute> with_another_attribute(const ProgramWish& wish, Draw& draw, const DrawnCall& first) {
  // Of four kinds of siblings two change an attribute, of each place one of them.
  constexpr std::uint64_t kinds = 4, of_attributes = 1;
  constexpr int draws = 12;
  std::optional<AnotherAttribute> found;
  for (int k = 0; k < draws && !(found && found->alike && found->tells); ++k) {
    const std::uint64_t bits = draw.bits(), turn = kinds * (bits % kinds) + of_attributes + bits / kinds % 2;
    auto other = typed(wish, *first.definition, sibling_of(*first.definition, first.assignment, turn, 0, draw, wish.dtype));
    if (!other || other->types.operands != first.types.operands) continue;
    const spec::Instance &one = first.instance, &second = other->instance;
    const bool alike = second.results == one.results && second.attributes != one.attributes;
    const bool tells = lists_differ(one.attributes, second.attributes);
    if (!found || std::pair(alike, tells) > std::pair(found->alike, found->tells)) found = {std::move(*other), alike, tells};
  }
  return found;
}

}  // namespace etalon::conformance
