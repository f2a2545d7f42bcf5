#include "tools/bench/roundings.hpp"

#include <algorithm>
#include <unordered_map>

namespace etalon::bench {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;

class Chains {
 public:
  explicit Chains(const spec::System& system) : of_tensor_(system.tensors.size(), 0.0) {}

  [[nodiscard]] double of_tensor(spec::TensorId id) const { return of_tensor_[static_cast<std::size_t>(id)]; }

  void add(const spec::Equation& equation) {
    double& longest = of_tensor_[static_cast<std::size_t>(equation.target)];
    longest = std::max(longest, of(equation.value));
  }

 private:
  [[nodiscard]] double of(const Expr& e) {
    const auto known = seen_.find(&*e);
    if (known != seen_.end()) return known->second;
    const double found = measured(e);
    seen_.emplace(&*e, found);
    return found;
  }

  [[nodiscard]] double longest(const std::vector<Expr>& args) {
    double most = 0;
    for (const Expr& arg : args) most = std::max(most, of(arg));
    return most;
  }

  [[nodiscard]] double measured(const Expr& e) {
    switch (e.form()) {
      case Form::number:
      case Form::variable:
        return 0;
      case Form::read:
        return of_tensor(e->tensor);
      case Form::apply:
        return longest(e->args) + own(e);
      case Form::select:
      case Form::detach:
        return longest(e->args);
      case Form::reduce:
        return of(e->args[1]) + own(e);
    }
    return 0;
  }

  [[nodiscard]] static double own(const Expr& e) {
    if (e.kind() != Kind::real) return 0;
    if (e.form() == Form::apply) {
      const bool simple = e.is(Primitive::add) || e.is(Primitive::sub) || e.is(Primitive::mul) || e.is(Primitive::div);
      return simple ? 1 : 4;
    }
    if (e->reduction != spec::Reduction::sum && e->reduction != spec::Reduction::prod) return 0;
    double terms = 1;
    for (const spec::Binder& b : e->binders) terms *= static_cast<double>(b.extent);
    return terms;
  }

  std::vector<double> of_tensor_;
  std::unordered_map<const spec::Node*, double> seen_;
};

}  // namespace

std::vector<double> longest_chains(const spec::System& system) {
  Chains chains(system);
  for (const spec::Equation& equation : system.equations) chains.add(equation);
  std::vector<double> found;
  for (const spec::TensorId id : system.outputs) found.push_back(chains.of_tensor(id));
  return found;
}

}  // namespace etalon::bench
