#include "reference/bounds/arguments.hpp"

#include <algorithm>
#include <utility>

namespace etalon::reference::bounds {
namespace {

using spec::Form;
using spec::Primitive;
using spec::Reduction;

constexpr OperationId many = -2;

bool is_product(const Operation& o) {
  if (o.form == Form::reduce) return o.reduction == Reduction::prod;
  return o.form == Form::apply && (o.primitive == Primitive::mul || o.primitive == Primitive::div);
}

/// As the evaluator takes them.
bool is_sum(const Plan& plan, const Operation& o) {
  if (o.form == Form::reduce) return o.reduction == Reduction::sum;
  if (o.form != Form::apply) return false;
  if (o.primitive == Primitive::add || o.primitive == Primitive::sub || o.primitive == Primitive::neg) return true;
  return o.scaled >= 0 && !is_product(plan.operations[static_cast<std::size_t>(o.scaled)]);
}

/// Sums and products look through it at what stands in it.
bool passes_on(const Operation& o) { return o.form == Form::select || o.form == Form::detach; }

class Finder {
 public:
  Finder(const spec::System& system, const Plan& plan, std::vector<std::uint8_t> varies)
      : plan_(plan), varies_(std::move(varies)) {
    found_.bent.assign(system.tensors.size(), 0);
  }

  Arguments run() {
    spread();
    const std::size_t count = plan_.operations.size();
    found_.same.resize(count);
    found_.opens.resize(count);
    found_.argument.assign(count, no_argument);
    varies_with_.resize(count);
    linear_.resize(count);
    // Operands stand before what is made of them, and what belongs to an equation before its value.
    OperationId next = 0;
    for (const PlannedEquation& q : plan_.equations) {
      for (first_ = next; next <= q.value; ++next) visit(next);
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] const Operation& at(OperationId id) const { return plan_.operations[static_cast<std::size_t>(id)]; }

  [[nodiscard]] bool reads_varying(OperationId id) const {
    const Operation& o = at(id);
    if (o.form == Form::read && varies_[static_cast<std::size_t>(o.tensor)] != 0) return true;
    return std::any_of(o.args.begin(), o.args.end(), [&](OperationId a) { return reads_varying(a); });
  }

  /// Recurrences read what stands behind them, too.
  void spread() {
    for (bool grown = true; grown;) {
      grown = false;
      for (const PlannedEquation& q : plan_.equations) {
        std::uint8_t& target = varies_[static_cast<std::size_t>(q.target)];
        if (target != 0 || !reads_varying(q.value)) continue;
        target = 1;
        grown = true;
      }
    }
  }

  [[nodiscard]] OperationId first_like(OperationId id) const {
    const Operation& o = at(id);
    if (o.affine < 0) return id;
    for (OperationId other = first_; other < id; ++other) {
      const Operation& p = at(other);
      if (p.form == Form::read && p.tensor == o.tensor && p.affine >= 0 && p.converts == o.converts && p.kind == o.kind &&
          same_place(p, o)) {
        return other;
      }
    }
    return id;
  }
  [[nodiscard]] bool same_place(const Operation& a, const Operation& b) const {
    const Affine& x = plan_.affines[static_cast<std::size_t>(a.affine)];
    const Affine& y = plan_.affines[static_cast<std::size_t>(b.affine)];
    return x.base == y.base && x.terms == y.terms;
  }

  /// Whether the operand is flattened into `o`, so that `o` is no function of the operand as a whole.
  [[nodiscard]] bool flattens(const Operation& o, OperationId operand) const {
    const Operation& p = at(operand);
    const bool around = is_sum(plan_, o) || is_product(o) || passes_on(o);
    const bool inside = is_sum(plan_, p) || is_product(p) || passes_on(p);
    return around && inside && !(is_product(o) && !is_sum(plan_, o) && is_sum(plan_, p));
  }

  [[nodiscard]] OperationId together(OperationId id) const {
    const Operation& o = at(id);
    OperationId all = no_argument;
    for (const OperationId a : o.args) {
      OperationId one = varies_with_[static_cast<std::size_t>(a)];
      if (one == no_argument) continue;
      if (one == a && at(a).form != Form::read && flattens(o, a)) one = many;
      if (one == many || (all != no_argument && all != one)) return many;
      all = one;
    }
    return all;
  }

  [[nodiscard]] bool is_fixed(OperationId id) const { return varies_with_[static_cast<std::size_t>(id)] == no_argument; }
  [[nodiscard]] bool is_linear(OperationId id) const { return linear_[static_cast<std::size_t>(id)] != 0; }

  [[nodiscard]] bool linear(const Operation& o) const {
    const auto all = [&] { return std::all_of(o.args.begin(), o.args.end(), [&](OperationId a) { return is_linear(a); }); };
    if (o.form == Form::read || o.form == Form::detach) return true;
    if (o.form == Form::select) return is_fixed(o.args[0]) && all();
    if (o.form == Form::reduce) return o.reduction == Reduction::sum && is_fixed(o.args[0]) && all();
    if (o.form != Form::apply) return true;
    switch (o.primitive) {
      case Primitive::neg:
      case Primitive::add:
      case Primitive::sub: return all();
      case Primitive::mul: return all() && (is_fixed(o.args[0]) || is_fixed(o.args[1]));
      case Primitive::div: return is_linear(o.args[0]) && is_fixed(o.args[1]);
      default: return false;
    }
  }

  void bend(OperationId id) {
    const Operation& o = at(id);
    if (o.form == Form::read) found_.bent[static_cast<std::size_t>(o.tensor)] = 1;
    for (const OperationId a : o.args) bend(a);
  }

  void visit(OperationId id) {
    const auto n = static_cast<std::size_t>(id);
    const Operation& o = at(id);
    found_.same[n] = id;
    const auto opens = [&](OperationId a) { return found_.opens[static_cast<std::size_t>(a)] != 0; };
    found_.opens[n] = is_sum(plan_, o) || is_product(o) || (passes_on(o) && std::any_of(o.args.begin(), o.args.end(), opens));
    if (o.constant >= 0 || o.form == Form::number || o.form == Form::variable) {
      varies_with_[n] = no_argument;
      linear_[n] = 1;
      return;
    }
    const bool real = o.kind == Kind::real;
    OperationId with = together(id);
    const bool varying_read = o.form == Form::read && varies_[static_cast<std::size_t>(o.tensor)] != 0;
    if (varying_read && real && with == no_argument) with = found_.same[n] = first_like(id);
    else if (varying_read || (o.form == Form::reduce && with != no_argument)) with = many;
    linear_[n] = with == no_argument || linear(o);
    if (linear_[n] == 0) bend(id);
    if (with == many && real) with = id;
    // What is made of it takes it as it is.
    if (with == id) linear_[n] = 1;
    varies_with_[n] = with;
    if (real && with >= 0 && with != id && linear_[n] == 0) found_.argument[n] = with;
  }

  const Plan& plan_;
  std::vector<std::uint8_t> varies_;
  OperationId first_ = 0;                 ///< of the equation
  std::vector<OperationId> varies_with_;  ///< or no_argument, or many
  std::vector<std::uint8_t> linear_;      ///< in what varies
  Arguments found_;
};

}  // namespace

Arguments arguments_of(const spec::System& system, const Plan& plan, std::vector<std::uint8_t> varies) {
  varies.resize(system.tensors.size(), 0);
  return Finder(system, plan, std::move(varies)).run();
}

}  // namespace etalon::reference::bounds
