#include "spec/derivative/dependence.hpp"

#include "spec/derivative/scalar_rules.hpp"
#include "spec/error.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::spec {

Dependence::Dependence(const System& system, std::span<const TensorId> wrt)
    : active_(system.tensors.size(), false), wrt_(wrt.begin(), wrt.end()) {
  for (const TensorId t : wrt) active_[static_cast<std::size_t>(t)] = true;
  const bool recurrent = !recurrent_groups(system).empty();
  for (bool changed = true; changed;) {  // in a recurrence an equation may read what depends only later
    changed = false;
    for (const Equation& e : system.equations) {
      if (kind_of(system[e.target].dtype) != Kind::real || has(e.target)) continue;
      if (!has(e.value)) continue;
      active_[static_cast<std::size_t>(e.target)] = true;
      changed = recurrent;
    }
    if (changed) known_.clear();
  }
  known_.clear();
}

bool Dependence::has(const Expr& e) const {
  if (!e.valid() || e.kind() != Kind::real) return false;
  if (e.form() == Form::read) return has(e->tensor);
  if (e->args.empty() || e.form() == Form::detach) return false;
  const auto found = known_.find(&*e);
  if (found != known_.end()) return found->second.second;
  bool result = false;
  for (std::size_t i = 0; i < e->args.size() && !result; ++i) {
    if ((e.form() == Form::select || e.form() == Form::reduce) && i == 0) continue;
    if (e.form() == Form::apply && derivative_rule(e->primitive, i).push == nullptr) continue;
    result = has(e->args[i]);
  }
  known_.emplace(&*e, std::pair{e, result});
  return result;
}

void require_real(const System& system, TensorId tensor, const char* role) {
  const TensorInfo& t = system[tensor];
  if (kind_of(t.dtype) == Kind::real) return;
  throw SpecViolation("derivative: " + std::string(role) + " " + t.name + " must be real, it is " +
                      std::string(name_of(t.dtype)));
}

}  // namespace etalon::spec
