#include "conformance/divided_axes.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace etalon::conformance {
namespace {

using spec::Binder;
using spec::Equation;
using spec::Expr;
using spec::Form;
using spec::Primitive;
using spec::System;

void add_conjuncts(const Expr& e, std::vector<Expr>& into) {
  if (!e.is(Primitive::logical_and)) return into.push_back(e);
  for (const Expr& a : e->args) add_conjuncts(a, into);
}

[[nodiscard]] bool mentions(const Expr& e, const Binder& binder) {
  if (e.form() == Form::variable) return e->variable == binder.variable;
  return std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return mentions(a, binder); });
}

[[nodiscard]] bool is_count(const Expr& e) {
  if (e.form() != Form::reduce || e.kind() != Kind::integer || e->reduction != spec::Reduction::sum) return false;
  const Expr& body = e->args[1];
  return e->binders.size() > 1 && body.form() == Form::number && body->number.is(1);
}

/// One count per binder whose product is the count; none where the condition does not say something of each alone.
[[nodiscard]] std::vector<Expr> extents_of(const Expr& count) {
  std::vector<Expr> guards(count->binders.size(), spec::boolean(true));
  std::vector<Expr> conjuncts;
  add_conjuncts(count->args[0], conjuncts);
  for (const Expr& c : conjuncts) {
    std::vector<std::size_t> about;
    for (std::size_t b = 0; b < guards.size(); ++b) {
      if (mentions(c, count->binders[b])) about.push_back(b);
    }
    if (about.size() > 1) return {};
    // What is about none empties the whole box, or nothing.
    Expr& guard = guards[about.empty() ? 0 : about[0]];
    guard = guard && c;
  }
  std::vector<Expr> extents;
  for (std::size_t b = 0; b < guards.size(); ++b)
    extents.push_back(spec::reduce(spec::Reduction::sum, {count->binders[b]}, guards[b], spec::integer(1)));
  return extents;
}

/// Per tensor the equation that counts places of a box for each of its elements.
[[nodiscard]] std::vector<const Equation*> counts_of(const System& system) {
  std::vector<int> writers(system.tensors.size(), 0);
  for (const Equation& q : system.equations) ++writers[static_cast<std::size_t>(q.target)];
  std::vector<const Equation*> counts(system.tensors.size(), nullptr);
  for (const Equation& q : system.equations) {
    const auto t = static_cast<std::size_t>(q.target);
    const bool at_its_binders = std::equal(q.place.begin(), q.place.end(), q.binders.begin(), q.binders.end(), [](const Expr& p, const Binder& b) {
      return p.form() == Form::variable && p->variable == b.variable;
    });
    if (writers[t] == 1 && at_its_binders && is_count(q.value) && !extents_of(q.value).empty()) counts[t] = &q;
  }
  return counts;
}

/// Divides by the extents of each count that stands as a divisor.
class Dividing {
 public:
  explicit Dividing(const System& system) : result_(system), counts_(counts_of(system)) {}

  [[nodiscard]] std::optional<System> run() {
    for (Equation& q : result_.equations) q.value = rewritten(q.value);
    return changed_ ? std::optional(std::move(result_)) : std::nullopt;
  }

 private:
  [[nodiscard]] Expr rewritten(const Expr& e) {
    if (e->args.empty()) return e;
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(rewritten(a));
    if (!e.is(Primitive::div) || !args[1].is(Primitive::to_real)) return with_args(e, std::move(args));
    const Expr& read = args[1]->args[0];
    const Equation* count = read.form() == Form::read ? counts_[static_cast<std::size_t>(read->tensor)] : nullptr;
    if (count == nullptr) return with_args(e, std::move(args));
    changed_ = true;
    spec::Substitution here;
    for (std::size_t i = 0; i < count->binders.size(); ++i) here[count->binders[i].variable] = read->args[i];
    Expr quotient = args[0];
    for (const Expr& extent : extents_of(count->value))
      quotient = quotient / spec::as_real(spec::refresh(result_, spec::substitute(extent, here)));
    return quotient;
  }

  System result_;
  std::vector<const Equation*> counts_;  ///< of the system that is rewritten
  bool changed_ = false;
};

}  // namespace

std::optional<spec::System> with_divided_axes(const spec::System& system) { return Dividing(system).run(); }

}  // namespace etalon::conformance
