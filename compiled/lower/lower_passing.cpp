// Kernels whose rows add to sums in passing: stretch by stretch, each with parts of its own.

#include "compiled/lower/lowering.hpp"

namespace etalon::compiled::loops {

using spec::Equation;

void Lowering::lower_passing(const Kernel& kernel) {
  const Binder part{next_++, kernel.loops[0] / kernel.stretch, "p"};
  share(kernel);
  shared_[0].extent = kernel.stretch;
  row_ = variable(part) * spec::integer(kernel.stretch) + variable(shared_[0]);
  open(part);
  for (const Statement& s : kernel.statements) {
    if (s.in_passing) clear_parts(s, part);
  }
  for (const Binder& b : shared_) open(b);
  for (const Statement& s : kernel.statements) {
    if (s.in_passing) add_row(kernel, s, part);
    else lower_inner(kernel, s, false);
  }
  for (std::size_t i = 0; i <= shared_.size(); ++i) close();
}

/// The parts of a stretch begin at 0.
void Lowering::clear_parts(const Statement& statement, const Binder& part) {
  const Equation& e = system_.equations.at(statement.equation);
  start(e);
  std::vector<Candidate> candidates;
  Store store;
  store.tensor = e.target;
  store.place.push_back(variable(part));
  store.value = spec::decimal(0);
  std::vector<Binder> own;
  for (std::size_t b = 1; b < e.binders.size(); ++b) {
    own.push_back({next_++, e.binders[b].extent, e.binders[b].name});
    store.place.push_back(variable(own.back()));
    candidates.push_back({own.back(), nullptr});
  }
  lanes_ = choose_lanes(system_, {{e.target, store.place, store.value}}, candidates, vectors_for(e));
  in_lanes_last(own);
  for (const Binder& b : own) open(b);
  append(open_.size() - 1, step(std::move(store)));
  for (std::size_t i = 0; i < own.size(); ++i) close();
}

/// The terms of one row.
void Lowering::add_row(const Kernel& kernel, const Statement& statement, const Binder& part) {
  const Equation& e = system_.equations.at(statement.equation);
  start(e);
  spec::Substitution by{{e.binders[0].variable, variable(part)}};
  const std::vector<Binder>& summed = e.value->binders;
  for (std::size_t b = 0; b < summed.size(); ++b) by.emplace(summed[b].variable, variable(shared_[b + (kernel.stretch > 1 ? 0 : 1)]));
  Store store;
  store.tensor = e.target;
  store.add = true;
  for (const Expr& p : e.place) store.place.push_back(substitute(p, by));
  const Expr term = substitute(e.value->args[1], by);
  std::vector<Binder> own(e.binders.begin() + 1, e.binders.end());
  std::vector<Candidate> candidates;
  for (const Binder& b : own) candidates.push_back({b, nullptr});
  lanes_ = decisions_.follow(statement.equation, choose_lanes(system_, {{e.target, store.place, term}}, candidates, vectors_for(e)), candidates);
  in_lanes_last(own);
  for (const Binder& b : own) open(b);
  count_work(e.binders, e.value);
  store.value = strip(term, {});
  append(open_.size() - 1, step(std::move(store)));
  for (std::size_t i = 0; i < own.size(); ++i) close();
}

}  // namespace etalon::compiled::loops
