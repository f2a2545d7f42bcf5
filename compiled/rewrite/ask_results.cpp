#include <optional>
#include <unordered_map>
#include <utility>

#include "compiled/ir/language.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/rewrite/passes.hpp"
#include "compiled/rewrite/rewriting.hpp"

namespace etalon::compiled {

namespace {

bool is_zero(const Expr& e) { return e.form() == Form::number && e.kind() == Kind::real && e->number.is(0); }

/// What a comparison with zero compares: `r <= 0`, or `0 < r`.
Expr compared(const Expr& e, Primitive how) {
  if (!e.is(how)) return {};
  const Expr& value = e->args[how == Primitive::le ? 0 : 1];
  const Expr& zero = e->args[how == Primitive::le ? 1 : 0];
  return value.form() == Form::read && is_zero(zero) ? value : Expr{};
}

/// A tensor that is another one where that is positive, and zero elsewhere.
struct Cut {
  TensorId result = -1;
  Primitive how = Primitive::le;  ///< the comparison that is the same for both
};

/// The tensor that this equation cuts off at zero, and how.
std::optional<std::pair<TensorId, Primitive>> cut_by(const System& system, const Equation& equation) {
  const Expr& e = equation.value;
  if (e.form() != Form::select) return std::nullopt;
  for (const Primitive how : {Primitive::le, Primitive::lt}) {
    const Expr value = compared(e->args[0], how);
    const std::size_t kept = how == Primitive::le ? 2 : 1;
    if (!value.valid() || !(e->args[kept] == value) || !is_zero(e->args[3 - kept])) continue;
    if (!(value->args == equation.place) || equation.place != spec::variables(equation.binders)) continue;
    const bool same_type = system[value->tensor].dtype == system[equation.target].dtype && system[value->tensor].dims == system[equation.target].dims;
    if (same_type) return std::pair{value->tensor, how};
  }
  return std::nullopt;
}

class Asking {
 public:
  explicit Asking(System& system) : system_(system), uses_(uses_of(system)) {}

  void run() {
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      const auto cut = cut_by(system_, system_.equations[i]);
      if (!cut || !only_asked(cut->first, cut->second, i)) continue;
      cuts_.insert_or_assign(cut->first, Cut{system_.equations[i].target, cut->second});
    }
    if (cuts_.empty()) return;
    Rewriter ask([&](const Expr& e) { return asked_of_result(e); });
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      Equation& equation = system_.equations[i];
      if (cut_by(system_, equation)) continue;
      equation.value = ask(equation.value);
    }
  }

 private:
  /// Whether everybody else only asks how the tensor compares with zero, later: then nobody needs it any more.
  bool only_asked(TensorId t, Primitive how, std::size_t cut) const {
    const auto at = static_cast<std::size_t>(t);
    const auto result = static_cast<std::size_t>(system_.equations[cut].target);
    if (uses_.is_output[at] || uses_.is_input[at] || uses_.recurrent[at] || uses_.writers[result] != 1 || uses_.readers[at].size() < 2) return false;
    for (const std::size_t r : uses_.readers[at]) {
      if (r == cut) continue;
      if (r < cut || cut_by(system_, system_.equations[r])) return false;
      std::size_t asked = 0;
      std::size_t reads = 0;
      const auto count = [&](const Expr& e) {
        const Expr value = compared(e, how);
        asked += value.valid() && value->tensor == t;
        reads += e.form() == Form::read && e->tensor == t;
      };
      spec::for_each(system_.equations[r].value, count);
      for (const Expr& p : system_.equations[r].place) spec::for_each(p, count);
      if (asked != reads) return false;
    }
    return true;
  }

  Expr asked_of_result(const Expr& e) const {
    for (const Primitive how : {Primitive::le, Primitive::lt}) {
      const Expr value = compared(e, how);
      if (!value.valid()) continue;
      const auto cut = cuts_.find(value->tensor);
      if (cut == cuts_.end() || cut->second.how != how) return {};
      const Expr result = system_.at(cut->second.result, value->args);
      return how == Primitive::le ? spec::apply(how, {result, e->args[1]}) : spec::apply(how, {e->args[0], result});
    }
    return {};
  }

  System& system_;
  Uses uses_;
  std::unordered_map<TensorId, Cut> cuts_;
};

}  // namespace

void ask_results(System& system) { Asking(system).run(); }

}  // namespace etalon::compiled
