#include "training/routine_cache.hpp"

#include <algorithm>

#include "spec/error.hpp"

namespace etalon::training {

RoutineCache::RoutineCache(std::function<spec::Program(const Types&)> make, Target target, compiled::Store& store, std::size_t limit)
    : make_(std::move(make)), target_(std::move(target)), store_(&store), limit_(limit) {
  if (limit == 0) throw SpecViolation("routines: a cache of 0 routines keeps none, expected a limit of 1 or more");
}

Routine& RoutineCache::at(const Types& types) {
  const auto found = std::find_if(routines_.begin(), routines_.end(), [&](const auto& r) { return r.first == types; });
  if (found != routines_.end()) {
    routines_.splice(routines_.begin(), routines_, found);
    return routines_.front().second;
  }
  Routine made(make_(types), target_, *store_);
  if (routines_.size() == limit_) routines_.pop_back();
  routines_.emplace_front(types, std::move(made));
  ++made_;
  return routines_.front().second;
}

RoutineCache::Types RoutineCache::types_of(const Named& given) {
  Types types;
  for (const auto& [name, value] : given) types.emplace(name, spec::ValueType{value.dtype, value.dims});
  return types;
}

}  // namespace etalon::training
