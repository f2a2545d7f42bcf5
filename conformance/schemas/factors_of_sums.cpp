#include "conformance/schemas/factors_of_sums.hpp"

#include <algorithm>

#include "conformance/schemas/factors.hpp"

namespace etalon::conformance {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;

[[nodiscard]] bool is_sum_over_binders(const Expr& e) {
  return e.form() == Form::reduce && e->reduction == spec::Reduction::sum && e.kind() == Kind::real;
}

/// A sum in parentheses is the sum.
[[nodiscard]] const Expr& opened(const Expr& e) {
  const bool one = e.form() == Form::reduce && e->reduction == spec::Reduction::prod && e->binders.size() == 1 && e->binders[0].extent == 1 &&
                   !depends_on(e->args[1], e->binders[0].variable);
  return one ? opened(e->args[1]) : e;
}

[[nodiscard]] bool is_product(const Expr& e) { return e.is(Primitive::mul) || e.is(Primitive::div); }

/// The place of the one factor that answers and does not divide; none where there are several, or it is all.
template <class Answers>
[[nodiscard]] std::optional<std::size_t> only(const std::vector<Factor>& factors, const Answers& answers) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (factors[i].divides || !answers(factors[i].value)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return factors.size() > 1 ? found : std::nullopt;
}

[[nodiscard]] Expr times(std::vector<Factor> factors, std::size_t at, const Expr& in_place) {
  factors[at].value = in_place;
  return product_of(factors);
}

[[nodiscard]] bool mentions_a_binder(const Expr& e, const std::vector<spec::Binder>& binders) {
  return std::any_of(binders.begin(), binders.end(), [&](const spec::Binder& b) { return depends_on(e, b.variable); });
}

/// What the terms of a sum have in common, and the rest.
[[nodiscard]] std::optional<Expr> taken_out(const Expr& sum) {
  std::vector<Factor> common, each;
  for (const Factor& f : factors_of(sum->args[1])) (mentions_a_binder(f.value, sum->binders) ? each : common).push_back(f);
  if (common.empty() || each.empty()) return std::nullopt;
  if (std::all_of(each.begin(), each.end(), [](const Factor& f) { return f.divides; })) return std::nullopt;
  common.insert(common.begin(), {spec::reduce(spec::Reduction::sum, sum->binders, sum->args[0], product_of(each)), false});
  return product_of(common);
}

/// (a ± b)·t for the terms a·t and b·t.
[[nodiscard]] std::optional<Expr> collected(const Expr& sum) {
  std::vector<Factor> common, a = factors_of(sum->args[0]), b = factors_of(sum->args[1]);
  for (std::size_t i = 0; i < a.size();) {
    const auto same = [&](const Factor& f) { return f.divides == a[i].divides && f.value == a[i].value; };
    const auto found = std::find_if(b.begin(), b.end(), same);
    if (a[i].value.form() == Form::number || found == b.end()) {
      ++i;
      continue;
    }
    common.push_back(a[i]);
    b.erase(found);
    a.erase(a.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (common.empty()) return std::nullopt;
  common.insert(common.begin(), {spec::apply(sum->primitive, {product_of(a), product_of(b)}), false});
  return product_of(common);
}

[[nodiscard]] bool is_difference(const Expr& e) { return opened(e).is(Primitive::sub) && e.kind() == Kind::real; }

/// Whether several a meet one b.
[[nodiscard]] bool is_shared(const Expr& b, const Expr& a) {
  const auto of_b = spec::free_variables(b), of_a = spec::free_variables(a);
  return of_b.size() < of_a.size() && std::includes(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
}

/// Maps of elements: functions of them stay as they are.
class Affine {
 public:
  explicit Affine(const spec::System& system) : result_(system) {}

  [[nodiscard]] std::optional<spec::System> run() {
    for (spec::Equation& q : result_.equations) {
      if (kind_of(result_[q.target].dtype) == Kind::real) q.value = of(q.value);
    }
    return changed_ ? std::optional(std::move(result_)) : std::nullopt;
  }

 private:
  [[nodiscard]] Expr of(const Expr& e) {
    if (e.kind() != Kind::real) return e;
    if (is_product(e)) return product(e);
    const bool arithmetic = e.is(Primitive::add) || e.is(Primitive::sub) || e.is(Primitive::neg);
    if (!arithmetic && e.form() != Form::select && !is_sum_over_binders(e)) return e;
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(of(a));
    return spec::with_args(e, std::move(args));
  }

  [[nodiscard]] Expr product(const Expr& e) {
    std::vector<Factor> factors = factors_of(e);
    const auto at = only(factors, is_difference);
    if (!at) return e;
    const Expr difference = opened(factors[*at].value);
    const Expr &a = difference->args[0], &b = difference->args[1];
    if (!is_shared(b, a) && !is_shared(a, b)) return e;
    changed_ = true;
    return times(factors, *at, a) - spec::refresh(result_, times(factors, *at, b));
  }

  spec::System result_;
  bool changed_ = false;
};

}  // namespace

std::optional<spec::System> with_factors_inside(const spec::System& system) {
  return rewritten_by(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_product(e) || e.kind() != Kind::real) return std::nullopt;
    const std::vector<Factor> factors = factors_of(e);
    const auto at = only(factors, is_sum_over_binders);
    if (!at) return std::nullopt;
    const Expr& sum = factors[*at].value;
    return spec::reduce(spec::Reduction::sum, sum->binders, sum->args[0], times(factors, *at, sum->args[1]));
  });
}

std::optional<spec::System> with_roots_of_factors_inside(const spec::System& system) {
  return rewritten_by(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_product(e) || e.kind() != Kind::real) return std::nullopt;
    std::vector<Factor> factors = factors_of(e);
    const auto at = only(factors, is_sum_over_binders);
    if (!at || !factors[*at].value->args[1].is(Primitive::mul)) return std::nullopt;
    const Expr sum = factors[*at].value;
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(*at));
    const Expr root = spec::apply(Primitive::sqrt, {product_of(factors)});
    const Expr &a = sum->args[1]->args[0], &b = sum->args[1]->args[1];
    return spec::reduce(spec::Reduction::sum, sum->binders, sum->args[0], (root * a) * (root * b));
  });
}

std::optional<spec::System> with_factors_outside(const spec::System& system) {
  return rewritten_by(system, [](const Expr& e) { return is_sum_over_binders(e) ? taken_out(e) : std::nullopt; });
}

std::optional<spec::System> with_common_factors(const spec::System& system) {
  return rewritten_by(system, [](const Expr& e) -> std::optional<Expr> {
    const bool sum = (e.is(Primitive::add) || e.is(Primitive::sub)) && e.kind() == Kind::real;
    return sum ? collected(e) : std::nullopt;
  });
}

std::optional<spec::System> with_affine_maps(const spec::System& system) { return Affine(system).run(); }

}  // namespace etalon::conformance
