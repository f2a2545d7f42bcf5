#include "tests/adequacy/sites.hpp"

#include <map>
#include <span>
#include <string_view>

namespace etalon::adequacy {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;

std::string step_name(const Expr& e, std::size_t child) {
  constexpr std::string_view arms[] = {"if", "then", "else"};
  constexpr std::string_view parts[] = {"where", "of", "otherwise"};
  switch (e.form()) {
    case Form::apply:
      return std::string(spec::info(e->primitive).name) + "." + std::to_string(child);
    case Form::select:
      return std::string("select.") + std::string(arms[child]);
    case Form::reduce:
      return std::string(name_of(e->reduction)) + "." + std::string(parts[child]);
    case Form::read:
      return "index." + std::to_string(child);
    default:
      return "detach";
  }
}

Use use_of(const Expr& parent, std::size_t child, Use outer) {
  if (parent.form() == Form::read) return Use::index;
  if (parent.form() == Form::select && child == 0) return Use::condition;
  if (parent.form() == Form::reduce && child == 0) return Use::condition;
  return outer;
}

Site child_of(const Site& site, std::size_t i) {
  const Expr& e = site.node;
  Site child = site;
  child.path.push_back(i);
  child.place += (site.path.empty() ? " " : "/") + step_name(e, i);
  child.node = e->args[i];
  child.use = use_of(e, i, site.use);
  child.parent = e;
  if (e.form() == Form::reduce && i < 2) {
    child.binders.insert(child.binders.end(), e->binders.begin(), e->binders.end());
    if (i == 1) child.conditions.push_back(e->args[0]);
  }
  const auto opposite = [](const Expr& c) { return spec::apply(Primitive::logical_not, {c}); };
  if (e.form() == Form::select && i == 1) child.conditions.push_back(e->args[0]);
  if (e.form() == Form::select && i == 2) child.conditions.push_back(opposite(e->args[0]));
  // What the other side decides alone does not depend on this one.
  if (e.is(Primitive::logical_and)) child.conditions.push_back(e->args[1 - i]);
  if (e.is(Primitive::logical_or)) child.conditions.push_back(opposite(e->args[1 - i]));
  return child;
}

Site root_of(std::size_t number, const spec::Equation& e, const std::string& name) {
  return {number, {}, name + ":", e.value, Use::value, e.binders, {}, std::nullopt};
}

void visit(const Site& site, std::vector<Site>& to) {
  to.push_back(site);
  for (std::size_t i = 0; i < site.node->args.size(); ++i) visit(child_of(site, i), to);
}

Expr replaced_below(const Expr& e, std::span<const std::size_t> path, const Expr& by) {
  if (path.empty()) return by;
  std::vector<Expr> args = e->args;
  args[path[0]] = replaced_below(args[path[0]], path.subspan(1), by);
  return spec::with_args(e, std::move(args));
}

}  // namespace

std::vector<Site> sites_of(const spec::System& system, const std::vector<bool>& chosen) {
  std::vector<Site> sites;
  std::map<spec::TensorId, int> of_target;
  for (std::size_t i = 0; i < system.equations.size(); ++i) {
    const spec::Equation& e = system.equations[i];
    const int number = ++of_target[e.target];
    if (chosen[i]) visit(root_of(i, e, system[e.target].name + (number > 1 ? "#" + std::to_string(number) : "")), sites);
  }
  return sites;
}

std::vector<Site> around(const spec::System& system, const Site& site) {
  std::vector<Site> outer{root_of(site.equation, system.equations[site.equation], "")};
  for (const std::size_t i : site.path) outer.insert(outer.begin(), child_of(outer.front(), i));
  outer.erase(outer.begin());
  return outer;
}

Expr replaced(const Expr& whole, const std::vector<std::size_t>& path, const Expr& by) {
  return replaced_below(whole, path, by);
}

}  // namespace etalon::adequacy
