#include "compiled/ir/lanes.hpp"

#include <algorithm>
#include <cstdlib>

#include "compiled/ir/access.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/machine/thresholds.hpp"
#include "spec/functions.hpp"

namespace etalon::compiled::loops {

using spec::Reduction;

namespace {

double cost_of(Primitive p, Kind kind) {
  if (p == Primitive::philox) return threshold<double>("philox_cost");
  if (takes_long(p)) return threshold<double>("function_cost");
  switch (p) {
    case Primitive::div:
    case Primitive::sqrt:
    case Primitive::floor_div:
    case Primitive::modulo: return threshold<double>("division_cost");
    default: return kind == Kind::integer ? 0.5 : 1;
  }
}

/// The cost of an expression when `candidate` runs in lanes, per iteration of the target's loops.
class Cost {
 public:
  Cost(const spec::System& system, const Candidate& candidate, double width)
      : system_(system), candidate_(candidate), width_(width) {}

  [[nodiscard]] double of(const Expr& e, bool active) const {
    switch (e.form()) {
      case Form::number:
      case Form::variable: return 0;
      case Form::read: return of_read(e, active);
      case Form::reduce: return of_reduction(e, active);
      case Form::apply: return scaled(cost_of(e->primitive, e.kind()), active) + of_args(e, active);
      default: return scaled(1, active) + of_args(e, active);
    }
  }

  [[nodiscard]] double of_access(const std::vector<Expr>& indices, const Dims& dims, bool active) const {
    if (!active) return 1;
    const Affine a = element_number(indices, dims);
    const spec::VariableId v = candidate_.binder.variable;
    if (const auto along = access_along(a, v); along && along->panel != 0 && along->inner == 1) return 1 / width_;
    const bool irregular = std::any_of(a.opaque.begin(), a.opaque.end(),
                                       [&](const auto& term) { return mentions(term.second, v); });
    const std::int64_t stride = std::abs(a.coefficient(v));
    return !irregular && stride <= 1 ? 1 / width_ : 1.2;
  }

 private:
  [[nodiscard]] double scaled(double cost, bool active) const { return active ? cost / width_ : cost; }

  [[nodiscard]] double of_args(const Expr& e, bool active) const {
    double sum = 0;
    for (const Expr& a : e->args) sum += of(a, active);
    return sum;
  }

  [[nodiscard]] double of_read(const Expr& e, bool active) const {
    if (!active) return 1;
    double cost = of_access(e->args, system_[e->tensor].dims, active);
    for (const Expr& i : e->args) {
      for_each_read(i, [&](const Expr& x) { cost += of_access(x->args, system_[x->tensor].dims, active); });
    }
    return cost;
  }

  [[nodiscard]] double of_reduction(const Expr& e, bool active) const {
    const bool here = candidate_.reduction == &*e;
    return points_of<double>(e->binders) * of_args(e, active || here) + (here ? threshold<double>("join_cost") : 0);
  }

  const spec::System& system_;
  const Candidate& candidate_;
  double width_;
};

unsigned width_for(std::int64_t extent, unsigned native, bool chains) {
  unsigned width = native;
  while (width > 1 && static_cast<std::int64_t>(width) / 2 >= extent) width /= 2;
  while (chains && width < vectors_side_by_side * native && static_cast<std::int64_t>(width) * 2 <= extent) width *= 2;
  return width;
}

}  // namespace

bool takes_long(Primitive p) { return p == Primitive::philox || spec::is_function(p); }

void collect_reduction_candidates(const Expr& e, std::vector<Candidate>& into) {
  for_each(e, [&](const Expr& x) {
    if (x.form() != Form::reduce) return;
    if (x->reduction == Reduction::argmax || x->reduction == Reduction::argmin) return;
    for (const spec::Binder& b : x->binders) into.push_back({b, &*x});
  });
}

double operations(const Expr& e) {
  return Cost({}, {}, 1).of(e, false);
}

LaneChoice choose_lanes(const spec::System& system, const std::vector<Assignment>& assignments,
                        const std::vector<Candidate>& candidates, VectorWidth vectors) {
  LaneChoice best;
  if (vectors.machine < 2) return best;
  const bool chains = std::any_of(assignments.begin(), assignments.end(),
                                  [](const Assignment& a) { return has_reduction(a.value); });
  double lowest = 0;
  for (const Assignment& a : assignments) lowest += Cost(system, {}, 1).of(a.value, false) + 1;
  for (const Candidate& c : candidates) {
    if (c.binder.extent < 2) continue;
    const unsigned width = width_for(c.binder.extent, vectors.order, chains);
    const auto blocks = static_cast<double>((c.binder.extent + width - 1) / width);
    const double turn = std::max(1.0, static_cast<double>(width) / vectors.order);
    const double speed = static_cast<double>(c.binder.extent) / (blocks * turn);
    const Cost cost(system, c, speed);
    double total = 0;
    for (const Assignment& a : assignments) {
      total += cost.of(a.value, c.reduction == nullptr);
      if (!a.place.empty()) total += cost.of_access(a.place, system[a.target].dims, c.reduction == nullptr);
    }
    if (total < lowest) {
      lowest = total;
      best = {c.binder.variable, c.reduction != nullptr ? width : width_for(c.binder.extent, vectors.machine, chains)};
    }
  }
  return best;
}

}  // namespace etalon::compiled::loops
