#include "tests/adequacy/changes.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"
#include "tests/adequacy/attributes.hpp"
#include "tests/adequacy/equivalence.hpp"
#include "tests/adequacy/folding.hpp"
#include "tests/adequacy/number_changes.hpp"

namespace etalon::adequacy {
namespace {

using conformance::Case;
using spec::Expr;
using spec::Form;
using spec::Mode;
using spec::System;

std::vector<std::size_t> marked(const std::vector<bool>& wrt) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (wrt[i]) positions.push_back(i);
  }
  return positions;
}

System in_mode(const Case& c, const System& primal) {
  if (c.mode == Mode::jvp) return spec::jvp(primal, marked(c.wrt));
  if (c.mode == Mode::vjp) return spec::vjp(primal, marked(c.wrt));
  return primal;
}

// Of a derivative, the equations whose targets the values do not have.
std::vector<bool> chosen_equations(const Case& c, const System& primal, const System& system) {
  std::set<std::string> values;
  if (c.mode != Mode::forward) {
    for (const spec::TensorInfo& t : primal.tensors) values.insert(t.name);
  }
  std::vector<bool> chosen;
  for (const spec::Equation& e : system.equations) chosen.push_back(!values.contains(system[e.target].name));
  return chosen;
}

void add_detach(const Case& c, const System& primal, const Wanted& wanted, std::vector<Change>& to) {
  if (c.mode == Mode::forward) return;
  for (std::size_t i = 0; i < primal.equations.size(); ++i) {
    System other = primal;
    other.equations[i].value = without_detach(primal.equations[i].value);
    if (other.equations[i].value == primal.equations[i].value) continue;
    Change change{Sort::detach, primal[primal.equations[i].target].name, "detach dropped"};
    if (!wanted(change.sort, change.place, change.text)) continue;
    change.system = in_mode(c, other);
    to.push_back(std::move(change));
  }
}

void add_attributes(const Case& c, const spec::Instance& instance, const System& system, const Wanted& wanted,
                    std::vector<Change>& to) {
  const auto wanted_text = [&](const std::string& attribute, const std::string& text) {
    return wanted(Sort::attribute, attribute, text);
  };
  for (OtherCall& other : calls_with_other_attributes(c.call, instance, wanted_text)) {
    try {
      Change change{Sort::attribute, other.attribute, other.text};
      change.system = in_mode(c, other.instance.system);
      change.prove = [&system, mutated = *change.system, first = c.mode == Mode::forward ? std::size_t{0} : instance.results.size()] {
        return why_equivalent(system, mutated, first);
      };
      to.push_back(std::move(change));
    } catch (const SpecViolation&) {
      continue;
    }
  }
}

}  // namespace

System applied(const Change& change, const System& to) {
  if (change.system) return *change.system;
  System system = to;
  if (change.equation) system.equations[change.equation->first].value = change.equation->second;
  return system;
}

namespace {

Expr held(const System& system, const Expr& e) {
  std::vector<Expr> args;
  for (const Expr& a : e->args) args.push_back(held(system, a));
  if (e.form() == Form::read) {
    const Dims& dims = system[e->tensor].dims;
    for (std::size_t k = 0; k < args.size(); ++k) {
      if (dims[k] == 0) return e;
      args[k] = spec::apply(spec::Primitive::modulo, {args[k], spec::integer(dims[k])});
    }
  }
  return args.empty() ? e : spec::with_args(e, std::move(args));
}

}  // namespace

void hold_inside(Change& change, const System& system) {
  if (change.equation) change.equation->second = held(system, change.equation->second);
}

System system_of(const Case& c, const spec::Instance& instance) { return in_mode(c, instance.system); }

std::vector<Change> changes_of(const Case& c, const spec::Instance& instance, const System& system,
                               const Wanted& wanted) {
  std::vector<Change> all;
  const auto reaches = std::make_shared<Reaches>(system);
  const std::size_t first = c.mode == Mode::forward ? 0 : instance.results.size();
  for (const Site& site : sites_of(system, chosen_equations(c, instance.system, system))) {
    auto alternatives = equation_alternatives(system, site, c.mode == Mode::vjp);
    for (Alternative& a : arithmetic_alternatives(system, site)) alternatives.push_back(std::move(a));
    for (const Alternative& a : alternatives) {
      if (!wanted(a.sort, site.place, a.text)) continue;
      const spec::Equation& e = system.equations[site.equation];
      Change change{a.sort, site.place, a.text};
      change.equation.emplace(site.equation, replaced(e.value, site.path, a.node));
      change.show = [&system, site, a] {
        return spec::to_text(system, site.node) + "  ->  " + spec::to_text(system, a.node);
      };
      change.prove = [&system, site, a, reaches, first] { return why_equivalent(system, site, a, *reaches, first); };
      all.push_back(std::move(change));
    }
  }
  add_detach(c, instance.system, wanted, all);
  add_attributes(c, instance, system, wanted, all);
  const auto others = static_cast<std::ptrdiff_t>(all.size());
  add_number_changes(system, chosen_equations(c, instance.system, system), first, reaches, all);
  const auto unwanted = [&](const Change& change) { return !wanted(change.sort, change.place, change.text); };
  all.erase(std::remove_if(all.begin() + others, all.end(), unwanted), all.end());
  return all;
}

}  // namespace etalon::adequacy
