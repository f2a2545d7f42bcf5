#include "spec/derivative/reductions.hpp"

#include "spec/error.hpp"

namespace etalon::spec {

namespace {

std::vector<Binder> copies(System& system, const std::vector<Binder>& binders, Substitution& renamed) {
  std::vector<Binder> result;
  for (const Binder& b : binders) {
    result.push_back(system.bind(b.name, b.extent));
    renamed.emplace(b.variable, variable(result.back()));
  }
  return result;
}

}  // namespace

Expr product_of_others(System& system, const Expr& product) {
  Substitution renamed;
  const std::vector<Binder> others = copies(system, product->binders, renamed);
  Expr same;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Expr equal = apply(Primitive::eq, {variable(others[i]), variable(product->binders[i])});
    same = same.valid() ? same && equal : equal;
  }
  const Expr different = same.is(Primitive::eq) ? apply(Primitive::ne, same->args)
                         : same.valid()         ? apply(Primitive::logical_not, {same})
                                                : boolean(false);
  return reduce(Reduction::prod, others, substitute(product->args[0], renamed) && different,
                substitute(product->args[1], renamed));
}

Expr first_extremum(System& system, const Expr& extremum) {
  Substitution renamed;
  const std::vector<Binder> binders = copies(system, extremum->binders, renamed);
  const Reduction which = extremum->reduction == Reduction::max ? Reduction::argmax : Reduction::argmin;
  return reduce(which, binders, substitute(extremum->args[0], renamed), substitute(extremum->args[1], renamed),
                extremum->args.size() > 2 ? integer(-1) : Expr{});
}

Substitution at_position(const std::vector<Binder>& binders, const Expr& position) {
  Substitution result;
  Expr rest = position;
  std::int64_t inner = 1;
  for (std::size_t i = binders.size(); i-- > 0;) {
    const Binder& b = binders[i];
    Expr index = inner == 1 ? rest : apply(Primitive::floor_div, {rest, integer(inner)});
    if (i > 0) index = apply(Primitive::modulo, {index, integer(b.extent == 0 ? 1 : b.extent)});
    result.emplace(b.variable, index);
    inner *= b.extent == 0 ? 1 : b.extent;
  }
  return result;
}

Expr position_of(const std::vector<Binder>& binders) {
  Expr position;
  for (const Binder& b : binders) {
    position = position.valid() ? position * integer(b.extent) + variable(b) : variable(b);
  }
  return position.valid() ? position : integer(0);
}

void append_refreshed(System& system, Equation equation) {
  Substitution renamed;
  for (Binder& b : equation.binders) {
    const Binder fresh = system.bind(b.name, b.extent);
    renamed.emplace(b.variable, variable(fresh));
    b = fresh;
  }
  for (Expr& p : equation.place) p = substitute(p, renamed);
  equation.value = refresh(system, substitute(equation.value, renamed));
  system.equations.push_back(std::move(equation));
}

TensorId define_zero(System& system, TensorId like, const char* suffix, FreshNames& names) {
  const TensorInfo info = system[like];
  const TensorId zero = system.add_tensor(names.take(info.name + suffix), info.dtype, info.dims);
  system.define(zero, system.bind_all(zero), decimal(0));
  return zero;
}

void require_shape(const System& system, TensorId given, TensorId like, const char* role) {
  const TensorInfo& g = system[given];
  const TensorInfo& l = system[like];
  if (g.dims == l.dims && g.dtype == l.dtype) return;
  throw SpecViolation("derivative: " + std::string(role) + " of " + l.name + " must be " +
                      std::string(name_of(l.dtype)) + to_string(l.dims) + ", it is " + std::string(name_of(g.dtype)) +
                      to_string(g.dims));
}

}  // namespace etalon::spec
