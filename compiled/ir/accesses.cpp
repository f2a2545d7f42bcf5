#include "compiled/ir/accesses.hpp"

#include <algorithm>

namespace etalon::compiled::loops {

using spec::Form;

namespace {

class Survey {
 public:
  Accesses found;

  void expression(const Expr& e) {
    if (!e.valid()) return;
    spec::for_each(e, [&](const Expr& x) {
      if (x.form() == Form::variable) found.uses.insert(x->variable);
      if (x.form() == Form::read) found.elements.push_back({x->tensor, x->args, false});
    });
  }

  void step(const Loop& loop) {
    expression(loop.limit);
    steps(loop.steps);
  }

  void step(const Reduce& r) {
    for (const Expr* e : {&r.guard, &r.body, &r.otherwise, &r.reached}) expression(*e);
    for (const Loop& loop : r.loops) step(loop);
    found.defines.insert(r.target);
  }

  void step(const Store& store) {
    for (const Expr& p : store.place) expression(p);
    expression(store.value);
    expression(store.guard);
    if (store.add) found.elements.push_back({store.tensor, store.place, false});
    found.elements.push_back({store.tensor, store.place, true});
  }

  void step(const Define& d) {
    expression(d.value);
    found.defines.insert(d.target);
  }

  void step(const Contract& c) {
    found.all = true;
    for (const Expr* e : {&c.left, &c.right, &c.guard}) expression(*e);
    steps(c.steps);
  }

  void step(const Transpose& t) {
    found.all = true;
    expression(t.value);
    step(t.store);
  }

  void steps(const std::vector<Step>& all) {
    for (const Step& s : all) std::visit([&](const auto& one) { step(one); }, s.is);
  }
};

}  // namespace

Accesses accesses_of(const Step& step) {
  Survey survey;
  std::visit([&](const auto& one) { survey.step(one); }, step.is);
  return std::move(survey.found);
}

Accesses accesses_of(const Expr& e) {
  Survey survey;
  survey.expression(e);
  return std::move(survey.found);
}

std::vector<Touched> touched(const Nest& nest) {
  std::vector<Touched> all;
  for (const Step& step : nest.steps) {
    for (const Access& a : accesses_of(step).elements) {
      if (std::any_of(nest.own.begin(), nest.own.end(), [&](const Own& own) { return own.tensor == a.tensor; })) continue;
      auto it = std::find_if(all.begin(), all.end(), [&](const Touched& t) { return t.tensor == a.tensor; });
      if (it == all.end()) it = all.insert(it, Touched{a.tensor});
      (a.write ? it->written : it->read) = true;
    }
  }
  return all;
}

const Loop* lanes_loop(const Step& step) {
  const Loop* loop = std::get_if<Loop>(&step.is);
  if (const auto* r = std::get_if<Reduce>(&step.is)) loop = r->loops.size() == 1 ? &r->loops[0] : nullptr;
  return loop != nullptr && loop->kind == LoopKind::lanes ? loop : nullptr;
}

Loop* lanes_loop(Step& step) { return const_cast<Loop*>(lanes_loop(static_cast<const Step&>(step))); }

}  // namespace etalon::compiled::loops
