#include "reference/bounds/decisions.hpp"

#include <algorithm>
#include <iterator>

namespace etalon::reference::bounds {

DecisionSet DecisionSets::intern(std::vector<DecisionId> members) {
  if (members.size() > most) return too_many;
  const auto [at, fresh] = known_.try_emplace(members, static_cast<DecisionSet>(sets_.size()));
  if (fresh) sets_.push_back(std::move(members));
  return at->second;
}

DecisionSet DecisionSets::of(DecisionId d) { return intern({d}); }

DecisionSet DecisionSets::unite(DecisionSet a, DecisionSet b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  if (a == too_many || b == too_many) return too_many;
  const std::uint64_t key = (static_cast<std::uint64_t>(std::min(a, b)) << 32U) | std::max(a, b);
  if (const auto found = unions_.find(key); found != unions_.end()) return found->second;
  std::vector<DecisionId> both;
  std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(), std::back_inserter(both));
  return unions_[key] = intern(std::move(both));
}

DecisionId Decisions::meet(std::uint64_t place, std::vector<std::int64_t> answers) {
  const auto [at, fresh] = ids_.try_emplace(place, static_cast<DecisionId>(answers_.size()));
  if (fresh) answers_.push_back(std::move(answers));
  return at->second;
}

}  // namespace etalon::reference::bounds
