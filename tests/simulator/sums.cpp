// Sums of a run: added as the text groups them or as one, in trees that the contract declares or any.
#include <algorithm>

#include "tests/simulator/recomputed.hpp"
#include "tests/simulator/simulator.hpp"

namespace etalon::bounds_test {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;
using spec::Reduction;

bool reads_data(const Expr& e) {
  return e.form() == Form::read || std::any_of(e->args.begin(), e->args.end(), reads_data);
}

bool is_sum(const Expr& e) {
  if (e.form() == Form::reduce) return e->reduction == Reduction::sum;
  return e.is(Primitive::add) || e.is(Primitive::sub);
}

/// Who computes such an element anew has added it up before it is a term of his sum.
bool opens_into_a_sum(const Expr& e) {
  if (e.form() == Form::select) return opens_into_a_sum(e->args[1]) || opens_into_a_sum(e->args[2]);
  if (e.form() == Form::detach || e.is(Primitive::neg)) return opens_into_a_sum(e->args[0]);
  return is_sum(e);
}

bool is_product(const Expr& e) {
  if (e.form() == Form::reduce) return e->reduction == Reduction::prod;
  return e.is(Primitive::mul) || e.is(Primitive::div);
}

}  // namespace

template <class T>
T Simulator<T>::sum(const Expr& e) {
  Gathered gathered;
  gather(e, {}, gathered);
  return trees_.add(gathered.terms, height(gathered));
}

/// What the contract declares for these terms, the taller where both declarations apply; nothing where any tree will do.
template <class T>
std::optional<std::int64_t> Simulator<T>::height(const Gathered& g) const {
  if (g.scattered) return std::nullopt;
  std::int64_t tallest = 0;
  for (const auto& [applies, tree] : {std::pair{g.plain, &contract_.sums}, {g.products, &contract_.contractions}}) {
    if (!applies) continue;
    if (!tree->promises()) return std::nullopt;
    tallest = std::max(tallest, tree->height(g.places));
  }
  return tallest;
}

/// Whether this run adds up a sum inside another before the other, or together with it: at every element alike.
template <class T>
bool Simulator<T>::is_on_its_own(const Expr& sum) {
  const auto [at, fresh] = on_their_own_.try_emplace(sum.operator->(), false);
  if (fresh) at->second = random_() % 2 == 0;
  return at->second;
}

template <class T>
void Simulator<T>::gather(const Expr& e, Way way, Gathered& into) {
  if (is_closed(e)) return add_term(e, way, into);
  if (computes_anew(e)) {
    return anew(e, [&](const Expr& value) {
      if (opens_into_a_sum(value)) add_term(value, way, into);
      else gather(value, way, into);
    });
  }
  if (e.form() == Form::select) return gather(boolean(e->args[0]) ? e->args[1] : e->args[2], way, into);
  if (e.form() == Form::detach) return gather(e->args[0], way, into);
  if (e.is(Primitive::neg)) {
    way.negative = !way.negative;
    return gather(e->args[0], way, into);
  }
  if (!is_sum(e) || (way.inside && is_on_its_own(e))) return add_term(e, way, into);
  way.inside = true;
  if (e.form() == Form::reduce) {
    way.contracted = true;
    into.scattered = into.scattered || reads_data(e->args[0]);
    return each(e->binders, [&] {
      if (boolean(e->args[0])) gather(e->args[1], way, into);
      else ++into.places;
    });
  }
  gather(e->args[0], way, into);
  if (e.is(Primitive::sub)) way.negative = !way.negative;
  gather(e->args[1], way, into);
}

template <class T>
void Simulator<T>::add_term(const Expr& e, Way way, Gathered& into) {
  const bool product = !is_closed(e) && is_product(e);
  ++into.places;
  into.plain = into.plain || !product;
  into.products = into.products || product;
  if (product && e.is(Primitive::mul) && fuse_) {
    const T a = real(e->args[0]);
    const T b = real(e->args[1]);
    // A factor that a host knows makes a scaling, not a contraction.
    const bool narrows = way.contracted && !is_closed(e->args[0]) && !is_closed(e->args[1]);
    const T first = narrows ? rounding_.narrow(a) : a;
    into.terms.push_back({way.negative ? -first : first, narrows ? rounding_.narrow(b) : b, true});
    return;
  }
  const T x = real(e);
  into.terms.push_back({way.negative ? -x : x, 1, false});
}

template class Simulator<float>;
template class Simulator<double>;

}  // namespace etalon::bounds_test
