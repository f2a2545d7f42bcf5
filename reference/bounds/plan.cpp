#include "reference/bounds/plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "reference/bounds/wide.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::reference::bounds {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;

void accumulate(Affine& into, const Affine& what, std::int64_t factor) {
  into.base += factor * what.base;
  for (const auto& [variable, coefficient] : what.terms) {
    bool found = false;
    for (auto& [v, c] : into.terms) {
      if (v == variable) {
        c += factor * coefficient;
        found = true;
      }
    }
    if (!found) into.terms.emplace_back(variable, factor * coefficient);
  }
}

std::optional<Affine> affine_of(const Expr& e) {
  if (e.kind() != Kind::integer) return std::nullopt;
  if (e.form() == Form::number) return Affine{e->number.mantissa, {}};
  if (e.form() == Form::variable) return Affine{0, {{e->variable, 1}}};
  if (e.form() != Form::apply) return std::nullopt;
  const Primitive p = e->primitive;
  if (p != Primitive::add && p != Primitive::sub && p != Primitive::neg && p != Primitive::mul) return std::nullopt;
  const auto a = affine_of(e->args[0]);
  if (!a) return std::nullopt;
  Affine r;
  if (p == Primitive::neg) {
    accumulate(r, *a, -1);
    return r;
  }
  const auto b = affine_of(e->args[1]);
  if (!b) return std::nullopt;
  if (p == Primitive::mul) {
    if (!a->terms.empty() && !b->terms.empty()) return std::nullopt;
    accumulate(r, a->terms.empty() ? *b : *a, a->terms.empty() ? a->base : b->base);
    return r;
  }
  accumulate(r, *a, 1);
  accumulate(r, *b, p == Primitive::sub ? -1 : 1);
  return r;
}

/// The number that a closed real constant or integer is, when it is ± a power of two.
std::optional<double> power_of_two(const Expr& e) {
  double x = 0;
  if (e.form() == Form::number && e.kind() == Kind::real) {
    if (!e->number.rest.empty() || std::abs(e->number.exponent) > 15) return std::nullopt;
    const Nearly<double> nearly = e->number.is_binary ? Nearly<double>{e->number.binary, 0, {}}
                                                      : from_decimal<double>(e->number);
    if (nearly.error != 0) return std::nullopt;
    x = nearly.value;
  } else if (e.is(Primitive::to_real) && e->args[0].form() == Form::number && e->args[0].kind() == Kind::integer) {
    x = static_cast<double>(e->args[0]->number.mantissa);
    if (!Wide<double>::is_integer(x, e->args[0]->number.mantissa)) return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (x == 0 || !std::isfinite(x) || power_below(x) != std::fabs(x) || std::fabs(std::log2(std::fabs(x))) > 200) {
    return std::nullopt;
  }
  return x;
}

class Planner {
 public:
  explicit Planner(const spec::System& system) : system_(system) {}

  Plan run() {
    plan_.is_read.assign(system_.tensors.size(), 0);
    plan_.variables = static_cast<std::size_t>(system_.next_variable);
    for (const spec::Equation& q : system_.equations) equation(q);
    plan_.recurrences = spec::recurrences(system_);
    return std::move(plan_);
  }

 private:
  void equation(const spec::Equation& q) {
    PlannedEquation p;
    p.target = q.target;
    p.binders = q.binders;
    for (const auto& b : q.binders) meet(b);
    arithmetic_ = DType::f64;
    widest_ = 0;
    narrow(system_[q.target].dtype);
    p.affine = offset(q.place, system_[q.target].dims);
    if (p.affine < 0) {
      for (const Expr& e : q.place) p.place.push_back(add(e));
    }
    p.value = add(q.value);
    p.arithmetic = arithmetic_;
    p.narrows = widest_ > spec::format_of(system_[q.target].dtype).precision;
    if (widest_ > spec::format_of(arithmetic_).precision) convert(p.value, true);
    plan_.equations.push_back(std::move(p));
  }

  /// Marks the reads of wider reals that something is computed of: who computes in the narrower type may make them numbers of
  /// it first. What conditions compare they compare as it is.
  /// \param whole whether the value is chosen, not computed: then it is rounded once, where it is stored
  void convert(OperationId id, bool whole) {
    Operation& o = plan_.operations[static_cast<std::size_t>(id)];
    if (o.kind != Kind::real) return;
    if (o.form == Form::read) {
      o.converts = !whole && spec::format_of(system_[o.tensor].dtype).precision > spec::format_of(arithmetic_).precision;
      return;
    }
    const bool extremum = o.form == Form::reduce && (o.reduction == spec::Reduction::max || o.reduction == spec::Reduction::min);
    const bool one_of = o.form == Form::apply && (o.primitive == Primitive::neg || o.primitive == Primitive::abs || o.primitive == Primitive::maximum || o.primitive == Primitive::minimum);
    const bool chosen = o.form == Form::select || o.form == Form::detach || extremum || one_of;
    for (const OperationId a : o.args) convert(a, whole && chosen);
  }

  void meet(const spec::Binder& b) {
    plan_.variables = std::max(plan_.variables, static_cast<std::size_t>(b.variable) + 1);
  }

  void narrow(DType dtype) {
    if (kind_of(dtype) != Kind::real) return;
    if (dtype != DType::f64) arithmetic_ = DType::f32;
    widest_ = std::max(widest_, spec::format_of(dtype).precision);
  }

  std::int32_t keep(Affine a) {
    plan_.affines.push_back(std::move(a));
    return static_cast<std::int32_t>(plan_.affines.size() - 1);
  }

  std::int32_t offset(const std::vector<Expr>& indices, const Dims& dims) {
    const auto strides = strides_of(dims);
    Affine total;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto a = affine_of(indices[i]);
      if (!a) return -1;
      accumulate(total, *a, strides[i]);
    }
    return keep(std::move(total));
  }

  /// Whether the value is the same at every element and needs no tensor.
  static bool closed(const Expr& e) {
    if (e.form() == Form::variable || e.form() == Form::read || e.form() == Form::reduce) return false;
    for (const Expr& a : e->args) {
      if (!closed(a)) return false;
    }
    return true;
  }

  OperationId add(const Expr& e) {
    Operation o;
    o.form = e.form();
    o.kind = e.kind();
    o.primitive = e->primitive;
    o.reduction = e->reduction;
    o.variable = e->variable;
    o.tensor = e->tensor;
    o.binders = e->binders;
    o.integer = e->number.mantissa;
    for (const auto& b : e->binders) meet(b);
    if (e.form() == Form::read) {
      plan_.is_read[static_cast<std::size_t>(e->tensor)] = 1;
      narrow(system_[e->tensor].dtype);
      o.affine = offset(e->args, system_[e->tensor].dims);
      if (o.affine >= 0) return push(std::move(o));
    }
    if (e.kind() == Kind::integer && e.form() == Form::apply) {
      if (auto a = affine_of(e)) {
        o.affine = keep(std::move(*a));
        return push(std::move(o));
      }
    }
    if (e.kind() == Kind::real && closed(e)) {
      plan_.constants.push_back(e);
      o.constant = static_cast<std::int32_t>(plan_.constants.size() - 1);
    }
    for (const Expr& a : e->args) o.args.push_back(add(a));
    mark_scaling(e, o);
    return push(std::move(o));
  }

  static void mark_scaling(const Expr& e, Operation& o) {
    if (e.kind() != Kind::real || e.form() != Form::apply) return;
    if (o.primitive != Primitive::mul && o.primitive != Primitive::div) return;
    for (std::size_t i : {1U, 0U}) {
      if (i == 0 && o.primitive == Primitive::div) return;
      if (const auto x = power_of_two(e->args[i])) {
        o.scaled = o.args[1 - i];
        o.exponent = o.primitive == Primitive::div ? -std::ilogb(*x) : std::ilogb(*x);
        o.negative = *x < 0;
        return;
      }
    }
  }

  OperationId push(Operation o) {
    plan_.operations.push_back(std::move(o));
    return static_cast<OperationId>(plan_.operations.size() - 1);
  }

  const spec::System& system_;
  Plan plan_;
  DType arithmetic_ = DType::f64;
  int widest_ = 0;
};

}  // namespace

std::vector<std::int64_t> strides_of(const Dims& dims) {
  std::vector<std::int64_t> strides(dims.rank, 1);
  for (std::size_t i = dims.rank; i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

Plan plan(const spec::System& system) { return Planner(system).run(); }

}  // namespace etalon::reference::bounds
