#include "compiled/ir/language.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/rewrite/split.hpp"

#include <string>
#include <utility>

#include "compiled/ir/plan.hpp"
#include "compiled/ir/windows.hpp"

namespace etalon::compiled {

namespace {

/// The products that are added in one term; false when something else is.
bool collect_products(const Expr& term, std::vector<Expr>& products) {
  if (term.form() == Form::detach) return collect_products(term->args[0], products);
  if (term.is(Primitive::add)) return collect_products(term->args[0], products) && collect_products(term->args[1], products);
  products.push_back(term);
  return term.is(Primitive::mul);
}

class Splitter {
 public:
  Splitter(System& system, const Machine& machine, const ScheduleOptions& options)
      : system_(system), machine_(machine), options_(options) {}

  void run() {
    const std::vector<bool> recurrent = recurrent_equations(system_);
    for (std::size_t i = 0; i < recurrent.size(); ++i) {
      Equation equation = std::move(system_.equations[i]);
      if (!recurrent[i]) split(equation);
      result_.push_back(std::move(equation));
    }
    system_.equations = std::move(result_);
  }

 private:
  /// Adds an equation per product before `equation`, which becomes their sum.
  void split(Equation& equation) {
    const Expr& value = equation.value;
    if (value.form() != Form::reduce || value->reduction != spec::Reduction::sum || value.kind() != Kind::real) return;
    std::vector<Expr> products;
    if (!collect_products(value->args[1], products) || products.size() < 2) return;
    std::vector<Equation> parts;
    for (const Expr& product : products) {
      Equation part = equation;
      part.value = spec::reduce(spec::Reduction::sum, value->binders, value->args[0], product);
      if (!has_schedule(part)) return;
      parts.push_back(std::move(part));
    }
    Expr sum;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Equation part = with_own_binders(system_, parts[p]);
      part.target = system_.add_tensor(system_[equation.target].name + ".part" + std::to_string(p), *type_of_part(system_, equation, parts[p].value),
                                       system_[equation.target].dims);
      result_.push_back(std::move(part));
      const Expr read = system_.at(result_.back().target, equation.place);
      sum = sum.valid() ? sum + read : read;
    }
    equation.value = sum;
  }

  bool has_schedule(const Equation& part) const {
    auto seen = recognise_contraction(system_, part);
    auto* c = std::get_if<Contraction>(&seen);
    if (c == nullptr) return false;
    if (options_.windows) (void)turn_windows(system_, part, *c);
    return decide(system_, part, *c, machine_, options_).schedule.has_value();
  }

  System& system_;
  const Machine& machine_;
  const ScheduleOptions& options_;
  std::vector<Equation> result_;
};

}  // namespace

Equation with_own_binders(System& system, const Equation& equation) {
  Equation own = equation;
  spec::Substitution by;
  const auto rename = [&](Binder& b) {
    const Binder fresh = system.bind(b.name, b.extent);
    by.emplace(b.variable, spec::variable(fresh));
    b = fresh;
  };
  for (Binder& b : own.binders) rename(b);
  std::vector<Binder> depth = equation.value->binders;
  for (Binder& b : depth) rename(b);
  for (Expr& p : own.place) p = spec::substitute(p, by);
  own.value = spec::reduce(spec::Reduction::sum, depth, spec::substitute(equation.value->args[0], by),
                           spec::substitute(equation.value->args[1], by));
  return own;
}

void split_products(System& system, const Machine& machine, const ScheduleOptions& options) { Splitter(system, machine, options).run(); }

}  // namespace etalon::compiled
