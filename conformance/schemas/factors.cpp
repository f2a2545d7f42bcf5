#include "conformance/schemas/factors.hpp"

#include <algorithm>

namespace etalon::conformance {
namespace {

using spec::Expr;
using spec::Primitive;

void add_factors(const Expr& e, bool divides, std::vector<Factor>& into) {
  if (e.is(Primitive::neg)) {
    into.push_back({spec::decimal(-1), divides});
    return add_factors(e->args[0], divides, into);
  }
  if (e.is(Primitive::mul) || e.is(Primitive::div)) {
    add_factors(e->args[0], divides, into);
    return add_factors(e->args[1], e.is(Primitive::div) != divides, into);
  }
  into.push_back({e, divides});
}

class Rewriting {
 public:
  Rewriting(const spec::System& system, const Rule& rule) : result_(system), rule_(rule) {}

  [[nodiscard]] std::optional<spec::System> run() {
    for (spec::Equation& q : result_.equations) q.value = of(q.value);
    return changed_ ? std::optional(std::move(result_)) : std::nullopt;
  }

 private:
  [[nodiscard]] Expr of(const Expr& e) {
    Expr inside = e;
    if (!e->args.empty()) {
      std::vector<Expr> args;
      for (const Expr& a : e->args) args.push_back(of(a));
      inside = spec::with_args(e, std::move(args));
    }
    const auto found = rule_(inside);
    if (!found) return inside;
    changed_ = true;
    return spec::refresh(result_, *found);  // what stands twice binds its own variables
  }

  spec::System result_;
  const Rule& rule_;
  bool changed_ = false;
};

}  // namespace

std::vector<Factor> factors_of(const Expr& e) {
  std::vector<Factor> factors;
  add_factors(e, false, factors);
  return factors;
}

Expr product_of(const std::vector<Factor>& factors) {
  Expr product;
  for (const Factor& f : factors) {
    if (!f.divides) product = product.valid() ? product * f.value : f.value;
  }
  if (!product.valid()) product = spec::decimal(1);
  for (const Factor& f : factors) {
    if (f.divides) product = product / f.value;
  }
  return product;
}

bool depends_on(const Expr& e, spec::VariableId variable) {
  const auto free = spec::free_variables(e);
  return std::binary_search(free.begin(), free.end(), variable);
}

std::optional<spec::System> rewritten_by(const spec::System& system, const Rule& rule) { return Rewriting(system, rule).run(); }

}  // namespace etalon::conformance
