#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiled/ir/language.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/rewrite/passes.hpp"
#include "compiled/rewrite/rewriting.hpp"

namespace etalon::compiled {

using spec::VariableId;

namespace {

/// An expression with its variables numbered by first binding, so that equal meaning up to renaming is equality.
class Canonical {
 public:
  explicit Canonical(const std::vector<Binder>& binders) {
    for (const Binder& b : binders) number(b);
  }
  [[nodiscard]] Expr operator()(const Expr& e) {
    if (e.form() == Form::variable) {
      const auto found = numbers_.find(e->variable);
      return found == numbers_.end() ? e : spec::variable({found->second, 0, {}});
    }
    if (e->args.empty()) return e;
    std::vector<Binder> binders;
    for (const Binder& b : e->binders) binders.push_back(number(b));
    std::vector<Expr> args;
    args.reserve(e->args.size());
    for (const Expr& a : e->args) args.push_back((*this)(a));
    if (e.form() != Form::reduce) return spec::with_args(e, std::move(args));
    return spec::reduce(e->reduction, std::move(binders), args[0], args[1], args.size() > 2 ? args[2] : Expr{});
  }

 private:
  /// Negative, so that no variable of the system is met by chance.
  Binder number(const Binder& b) {
    const VariableId id = -2 - static_cast<VariableId>(numbers_.size());
    numbers_.insert_or_assign(b.variable, id);
    return {id, b.extent, {}};
  }
  std::unordered_map<VariableId, VariableId> numbers_;
};

/// What makes two definitions the same tensor: element type (which also fixes the arithmetic), extents, value.
struct Definition {
  DType dtype;
  Dims dims;
  std::optional<std::pair<std::int64_t, std::int64_t>> range;
  Expr value;
  [[nodiscard]] friend bool operator==(const Definition& a, const Definition& b) {
    return a.dtype == b.dtype && a.dims == b.dims && a.range == b.range && a.value == b.value;
  }
};

struct DefinitionHash {
  std::size_t operator()(const Definition& d) const {
    return d.value.hash() * 31 + static_cast<std::size_t>(d.dtype) * 7 + d.dims.rank;
  }
};

/// The binders in the order of the target's axes, where the place is just them.
bool binders_by_axis(const Equation& equation, std::vector<Binder>& ordered) {
  std::unordered_map<VariableId, const Binder*> by_id;
  for (const Binder& b : equation.binders) by_id.emplace(b.variable, &b);
  for (const Expr& p : equation.place) {
    if (p.form() != Form::variable) return false;
    const auto found = by_id.find(p->variable);
    if (found == by_id.end()) return false;
    ordered.push_back(*found->second);
    by_id.erase(found);
  }
  return by_id.empty();
}

Equation copy_of(System& system, const Equation& equation, TensorId source) {
  Equation copy;
  copy.target = equation.target;
  copy.binders = system.bind_all(equation.target);
  copy.place = spec::variables(copy.binders);
  copy.value = system.at(source, copy.place);
  copy.origin = equation.origin;
  return copy;
}

}  // namespace

void share_common(System& system) {
  const Uses uses = uses_of(system);
  std::unordered_map<Definition, TensorId, DefinitionHash> known;
  std::unordered_map<TensorId, TensorId> stands_for;
  std::vector<Equation> kept;
  const auto other = [&](const Expr& e) -> Expr {
    if (e.form() != Form::read) return {};
    const auto found = stands_for.find(e->tensor);
    return found == stands_for.end() ? Expr{} : system.at(found->second, e->args);
  };
  for (Equation& equation : system.equations) {
    Rewriter redirect(other);
    equation.value = redirect(equation.value);
    for (Expr& p : equation.place) p = redirect(p);
    const auto target = static_cast<std::size_t>(equation.target);
    std::vector<Binder> ordered;
    if (uses.writers[target] != 1 || uses.recurrent[target] || !binders_by_axis(equation, ordered)) {
      kept.push_back(std::move(equation));
      continue;
    }
    const spec::TensorInfo& tensor = system[equation.target];
    Definition definition{tensor.dtype, tensor.dims, tensor.range, Canonical(ordered)(equation.value)};
    const auto [entry, first] = known.emplace(std::move(definition), equation.target);
    const TensorId earlier = entry->second;
    if (first) {
      kept.push_back(std::move(equation));
    } else if (uses.is_output[target]) {
      const bool copies = equation.value.form() == Form::read;
      kept.push_back(copies ? std::move(equation) : copy_of(system, equation, earlier));
    } else {
      stands_for.emplace(equation.target, earlier);
    }
  }
  system.equations = std::move(kept);
}

}  // namespace etalon::compiled
