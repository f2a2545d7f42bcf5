#include <algorithm>

#include "compiled/lower/lowering.hpp"

namespace etalon::compiled::loops {

void Lowering::lower_scatter(const Kernel& kernel) {
  const Equation& e = system_.equations.at(kernel.statements.front().equation);
  start(e);
  std::vector<Binder> outer;
  std::vector<Expr> place = e.place;
  Expr guard = kernel.scatter.guard;
  const Expr& precondition = kernel.scatter.precondition;
  for (std::size_t i = 0; i < e.binders.size(); ++i) {
    const auto hit = std::find_if(kernel.scatter.hits.begin(), kernel.scatter.hits.end(),
                                  [&](const Scatter::Hit& h) { return h.binder == i; });
    if (hit == kernel.scatter.hits.end()) {
      outer.push_back(e.binders[i]);
      continue;
    }
    for (Expr& p : place) p = substitute(p, {{e.binders[i].variable, hit->index}});
    const Expr inside = apply(Primitive::le, {spec::integer(0), hit->index}) &&
                        apply(Primitive::lt, {hit->index, spec::integer(e.binders[i].extent)});
    guard = both(inside, guard);
  }
  std::vector<Candidate> candidates;
  for (const Binder& b : outer) candidates.push_back({b, nullptr});
  const LaneChoice by_cost = choose_lanes(system_, {{e.target, place, kernel.scatter.body}}, candidates, vectors_for(e));
  // A grid's threads have an element each, or several, whose terms come one after the other.
  if (!machine_.is_grid()) lanes_ = decisions_.follow(kernel.statements.front().equation, by_cost, candidates);
  std::vector<Binder> order = e.value->binders;
  if (lanes_.variable >= 0) {
    order.insert(order.end(), outer.begin(), outer.end());
  } else {
    order.insert(order.begin(), outer.begin(), outer.end());
  }
  in_lanes_last(order);
  for (const Binder& b : order) open(b);
  if (precondition.valid()) guard = both(precondition, guard);
  Store store;
  store.tensor = e.target;
  store.add = true;
  store.guard = strip(guard, {});
  for (const Expr& p : place) store.place.push_back(strip(p, guard));
  store.value = strip(kernel.scatter.body, store.guard);
  append(open_.size() - 1, step(std::move(store)));
  for (std::size_t i = 0; i < order.size(); ++i) close();
  count_work(order, kernel.scatter.body);
}

}  // namespace etalon::compiled::loops
