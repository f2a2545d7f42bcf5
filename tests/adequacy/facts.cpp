#include "tests/adequacy/facts.hpp"

#include <algorithm>

namespace etalon::adequacy {

using spec::Expr;
using spec::Primitive;

namespace {

bool is_among(const std::vector<Expr>& all, const Expr& e) { return std::find(all.begin(), all.end(), e) != all.end(); }

}  // namespace

// What one condition says of its parts may depend on the others: again until nothing new is said.
Facts::Facts(const std::vector<Expr>& conditions) {
  bool more = true;
  while (more && !contradict_) {
    more = false;
    for (const Expr& c : conditions) more = note(c, true) || more;
  }
}

bool Facts::note(const Expr& c, bool holds) {
  if (c.is(Primitive::logical_not)) return note(c->args[0], !holds);
  std::vector<Expr>& known = holds ? true_ : false_;
  bool added = !is_among(known, c);
  if (added) known.push_back(c);
  contradict_ = contradict_ || is_among(holds ? false_ : true_, c) || c == spec::boolean(!holds);
  const bool all = c.is(Primitive::logical_and);
  if (!all && !c.is(Primitive::logical_or)) return added;
  for (const std::size_t k : {0U, 1U}) {
    const bool alone = all == holds || this->holds(c->args[1 - k]) == all;
    if (alone) added = note(c->args[k], holds) || added;
  }
  return added;
}

std::optional<bool> Facts::holds(const Expr& c) const {
  if (c == spec::boolean(true) || is_among(true_, c)) return true;
  if (c == spec::boolean(false) || is_among(false_, c)) return false;
  if (c.is(Primitive::logical_not)) {
    const auto inner = holds(c->args[0]);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  const bool all = c.is(Primitive::logical_and);
  if (!all && !c.is(Primitive::logical_or)) return std::nullopt;
  const auto a = holds(c->args[0]), b = holds(c->args[1]);
  if (a == !all || b == !all) return !all;
  return a && b ? std::optional(all) : std::nullopt;
}

}  // namespace etalon::adequacy
