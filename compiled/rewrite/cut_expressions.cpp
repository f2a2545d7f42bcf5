#include <unordered_map>
#include <utility>
#include <vector>

#include "compiled/ir/language.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/rewrite/local_equations.hpp"
#include "compiled/rewrite/passes.hpp"

namespace etalon::compiled {

namespace {

/// Cuts one equation's value from the leaves up.
class Cutter {
 public:
  Cutter(System& system, const Equation& equation, std::vector<Equation>& before)
      : system_(system), equation_(equation), before_(before) {}

  [[nodiscard]] Expr run() { return visit(equation_.value, false).rest; }

 private:
  struct Cut {
    Expr rest;
    std::size_t size = 1;  ///< of the rest, in nodes
  };

  /// \param may whether the expression is evaluated for every value of the binders and is not the whole value
  Cut visit(const Expr& e, bool may) {
    if (e->args.empty() || e.form() == Form::read || e.form() == Form::reduce) return {e, size_of_expression(e)};
    if (const auto known = done_.find(&*e); known != done_.end()) return known->second;
    Cut cut{{}, 1};
    std::vector<Expr> args;
    const bool root = &*e == &*equation_.value;
    for (std::size_t i = 0; i < e->args.size(); ++i) {
      const Cut part = visit(e->args[i], (may || root) && always_evaluated(e, i));
      args.push_back(part.rest);
      cut.size += part.size;
    }
    cut.rest = spec::with_args(e, std::move(args));
    if (may && cut.size >= largest_expression) {
      if (const Expr read = with_own_equation(system_, equation_, cut.rest, "part", before_); read.valid()) cut = {read, 1 + equation_.binders.size()};
    }
    done_.emplace(&*e, cut);
    return cut;
  }

  System& system_;
  const Equation& equation_;
  std::vector<Equation>& before_;
  std::unordered_map<const spec::Node*, Cut> done_;
};

}  // namespace

std::size_t size_of_expression(const Expr& e) {
  std::size_t size = 0;
  spec::for_each(e, [&](const Expr&) { ++size; });
  return size;
}

void cut_expressions(System& system) {
  const std::vector<bool> recurrent = recurrent_equations(system);
  std::vector<Equation> result;
  result.reserve(system.equations.size());
  for (std::size_t i = 0; i < recurrent.size(); ++i) {
    Equation& equation = system.equations[i];
    if (!recurrent[i] && size_of_expression(equation.value) > 4 * largest_expression) {
      Expr rest = Cutter(system, equation, result).run();
      equation.value = std::move(rest);
    }
    result.push_back(std::move(equation));
  }
  system.equations = std::move(result);
}

}  // namespace etalon::compiled
