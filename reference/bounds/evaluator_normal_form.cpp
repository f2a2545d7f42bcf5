// Sums and products of the pass in normal form, and how high the trees may be in which sums are added.
#include <algorithm>

#include "reference/bounds/evaluator.hpp"
#include "reference/bounds/evaluator_loop.hpp"

namespace etalon::reference::bounds {

using spec::Form;
using spec::Primitive;
using spec::Reduction;

template <class R>
bool Evaluator<R>::is_sum(const Operation& o) const {
  if (o.form == Form::reduce) return o.reduction == Reduction::sum;
  if (o.form != Form::apply) return false;
  if (o.primitive == Primitive::add || o.primitive == Primitive::sub || o.primitive == Primitive::neg) return true;
  // A power of two in a product may meet a divisor first, which is not exact.
  return o.scaled >= 0 && !is_product(plan_.operations[static_cast<std::size_t>(o.scaled)]);
}

template <class R>
bool Evaluator<R>::is_product(const Operation& o) const {
  if (o.form == Form::reduce) return o.reduction == Reduction::prod;
  return o.form == Form::apply && (o.primitive == Primitive::mul || o.primitive == Primitive::div);
}

template <class R>
Value<R> Evaluator<R>::sum_of(OperationId id) {
  if (sums_.size() == depth_) sums_.emplace_back();
  Sum<R>& sum = sums_[depth_];
  sum.clear();
  ++depth_;
  const Grown grown = collect_terms(id, {}, sum);
  sum.height = grown.free ? 0 : grown.height;
  --depth_;
  return arithmetic_.total(sum);
}

template <class R>
void Evaluator<R>::Grown::note(const Grown& other) {
  plain = plain || other.plain;
  products = products || other.products;
  scaled = scaled || other.scaled;
  free = free || other.free;
}

/// The tallest declared tree of that many terms of these kinds.
template <class R>
std::optional<std::int64_t> Evaluator<R>::tree_height(std::int64_t terms, bool plain, bool products) const {
  const spec::Contract& contract = arithmetic_.contract();
  if ((plain && !contract.sums.promises()) || (products && !contract.contractions.promises())) return std::nullopt;
  return std::max(plain ? contract.sums.height(terms) : 0, products ? contract.contractions.height(terms) : 0);
}

/// The terms are those of one sum, which may be added on its own.
template <class R>
void Evaluator<R>::close(Grown& all) const {
  all.height = 0;
  for (const Grouping& g : all.groupings) {
    // A sum that is a term is no product, whatever was added up in it, unless it is scaled.
    const bool grouped = g.below > 0;
    const auto height = tree_height(g.terms, all.plain || grouped, all.products || (grouped && all.scaled));
    if (!height) {
      all.free = true;
      return;
    }
    all.height = std::max(all.height, g.below + *height);
  }
  all.plain = all.plain || all.height == 0;  // a sum of one product is a number
  all.groupings.or_one_term(all.height);
}

template <class R>
bool Evaluator<R>::hangs_on_data(OperationId id) const {
  const Operation& o = plan_.operations[static_cast<std::size_t>(id)];
  return o.form == Form::read || std::any_of(o.args.begin(), o.args.end(), [&](OperationId a) { return hangs_on_data(a); });
}

template <class R>
auto Evaluator<R>::collect_reduction(const Operation& o, Way way, Sum<R>& sum) -> Grown {
  Grown all;
  all.free = hangs_on_data(o.args[0]);
  way.contracted = true;
  loop(o.binders, [&] {
    if (!boolean(o.args[0])) {
      all.groupings.leave_out();
      return true;
    }
    const Grown turn = collect_terms(o.args[1], way, sum);
    all.note(turn);
    all.groupings.join_turn(turn.groupings);
    return true;
  });
  if (!all.free) close(all);
  return all;
}

template <class R>
auto Evaluator<R>::collect_terms(OperationId id, Way way, Sum<R>& sum) -> Grown {
  const Operation& o = plan_.operations[static_cast<std::size_t>(id)];
  if (stands_whole(id, false)) return collect_term(id, way, sum);
  if (o.form == Form::select && o.constant < 0) {
    return collect_terms(boolean(o.args[0]) ? o.args[1] : o.args[2], way, sum);
  }
  if (o.form == Form::detach) return collect_terms(o.args[0], way, sum);
  if (!is_sum(o)) return collect_term(id, way, sum);
  if (o.form == Form::reduce) return collect_reduction(o, way, sum);
  if (o.scaled >= 0 && (o.primitive == Primitive::mul || o.primitive == Primitive::div)) {
    Grown all = collect_terms(o.scaled, {way.negative != o.negative, way.exponent + o.exponent, way.contracted}, sum);
    // It may be scaled exactly and added, or be a product as in the text.
    all.scaled = true;
    all.products = all.products || all.height == 0;
    return all;
  }
  Way first = way;
  if (o.primitive == Primitive::neg) first.negative = !way.negative;
  Grown all = collect_terms(o.args[0], first, sum);
  if (o.args.size() < 2) return all;
  if (o.primitive == Primitive::sub) way.negative = !way.negative;
  const Grown second = collect_terms(o.args[1], way, sum);
  all.note(second);
  all.groupings.join(second.groupings);
  if (!all.free) close(all);
  return all;
}

template <class R>
auto Evaluator<R>::collect_term(OperationId id, Way way, Sum<R>& sum) -> Grown {
  const Operation& o = plan_.operations[static_cast<std::size_t>(id)];
  const bool product = o.constant < 0 && is_product(o);
  Value<R> term = way.contracted && product && !stands_whole(id, false) ? product_of(id, true) : real(id);
  scale_exactly(term, way.negative, way.exponent);
  sum.halvings = std::max(sum.halvings, -way.exponent);
  if (way.exponent < 0 && term.magnitude() < arithmetic_.rounding().tau &&
      term.quantum < arithmetic_.rounding().eta_exponent && !term.is_zero()) {
    term = arithmetic_.stored(term, arithmetic_.rounding());
  }
  sum.add(term);
  Grown one;
  one.groupings = Groupings::term();
  one.plain = !product || o.form == Form::reduce;  // of one factor it is that number
  one.products = product;
  return one;
}

template <class R>
Value<R> Evaluator<R>::product_of(OperationId id, bool contracted) {
  if (factors_.size() == factor_depth_) factors_.emplace_back();
  auto& factors = factors_[factor_depth_];
  factors.clear();
  ++factor_depth_;
  double roundings = 0;
  (void)collect_factors(id, 0, factors, roundings);
  --factor_depth_;
  return arithmetic_.product(factors, contracted, roundings);
}

/// \param below how many divisions it divides in, one below the other
/// \param roundings counts the operations that round as they stand
/// \returns whether any factor is none that only scales
template <class R>
bool Evaluator<R>::collect_factors(OperationId id, int below, std::vector<Factor<R>>& factors, double& roundings) {
  const Operation& o = plan_.operations[static_cast<std::size_t>(id)];
  if (stands_whole(id, true)) {
    factors.push_back({real(id), below % 2 != 0, false, below > 1, false});
    return true;
  }
  if (o.form == Form::select && o.constant < 0 && !picks_between_zeros(o)) {
    return collect_factors(boolean(o.args[0]) ? o.args[1] : o.args[2], below, factors, roundings);
  }
  if (o.form == Form::detach) return collect_factors(o.args[0], below, factors, roundings);
  if (o.form == Form::apply && o.primitive == Primitive::neg) {
    factors.push_back({point<R>(-1), false, true});
    return collect_factors(o.args[0], below, factors, roundings);
  }
  if (is_product(o)) {
    bool rounds = false;
    if (o.form == Form::reduce) {
      loop(o.binders, [&] {
        if (!boolean(o.args[0])) return true;
        const bool turn = collect_factors(o.args[1], below, factors, roundings);
        if (turn && rounds) ++roundings;
        rounds = rounds || turn;
        return true;
      });
      return rounds;
    }
    const bool divides = o.primitive == Primitive::div;
    const bool left = collect_factors(o.args[0], below, factors, roundings);
    const bool right = collect_factors(o.args[1], divides ? below + 1 : below, factors, roundings);
    if (right && (left || divides)) ++roundings;
    return left || right;
  }
  factors.push_back({real(id), below % 2 != 0, false, below > 1, o.form == Form::number});
  return !factors.back().value.is_power_of_two();
}

#define ETALON_INSTANTIATE(R)                                             \
  template bool Evaluator<R>::is_sum(const Operation&) const;             \
  template bool Evaluator<R>::is_product(const Operation&) const;         \
  template Value<R> Evaluator<R>::sum_of(OperationId);                    \
  template Value<R> Evaluator<R>::product_of(OperationId, bool);
ETALON_INSTANTIATE(double)
ETALON_INSTANTIATE(Quad)
#undef ETALON_INSTANTIATE

}  // namespace etalon::reference::bounds
