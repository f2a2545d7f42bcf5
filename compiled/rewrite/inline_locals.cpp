#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiled/ir/language.hpp"
#include "compiled/ir/local_definition.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/rewrite/passes.hpp"

namespace etalon::compiled {

namespace {

/// What a local's definition costs where it is inserted.
enum class Cost : std::uint8_t {
  none,  ///< a constant or a plain read: as cheap as reading the local
  some,  ///< elementwise: not to be computed more often than now
  never  ///< it must stay a tensor
};

struct Local {
  Cost cost = Cost::never;
  LocalDefinition definition;
};

bool costs_nothing(const Expr& e) {
  if (e.form() == Form::number) return true;
  if (e.form() != Form::read) return false;
  const auto takes_time = [](const Expr& x) {
    return x.form() == Form::read || x.form() == Form::select || x.form() == Form::reduce || x.is(Primitive::floor_div) || x.is(Primitive::modulo);
  };
  return std::none_of(e->args.begin(), e->args.end(), [&](const Expr& index) { return holds(index, takes_time); });
}

Local describe(const System& system, const Equation& equation) {
  Local local{Cost::never, definition_in(system, equation)};
  if (local.definition.why_not.empty()) local.cost = costs_nothing(equation.value) ? Cost::none : Cost::some;
  return local;
}

class Inlining {
 public:
  explicit Inlining(System& system) : system_(system), uses_(uses_of(system)), locals_(system.tensors.size()) {}

  void run() {
    for (Equation& equation : system_.equations) {
      reader_ = reader_of(system_, equation);
      size_ = size_of_expression(equation.value);
      equation.value = visit(equation.value, points_of(equation.binders), reader_.rounds_result);
      const auto target = static_cast<std::size_t>(equation.target);
      if (uses_.writers[target] == 1 && !uses_.is_output[target] && !uses_.recurrent[target]) {
        locals_[target] = describe(system_, equation);
      }
    }
  }

 private:
  /// \param rounds whether the value is rounded to single precision where it stands
  Expr visit(const Expr& e, std::int64_t points, bool rounds) {
    if (e->args.empty() && e.form() != Form::read) return e;
    if (e.form() == Form::reduce) points *= points_of(e->binders);
    std::vector<Expr> args = e->args;
    for (std::size_t i = 0; i < args.size(); ++i) args[i] = visit(args[i], points, rounds_operand(system_, reader_, e, args, i));
    Expr rebuilt = spec::with_args(e, std::move(args));
    return rebuilt.form() == Form::read && fits(rebuilt, points, rounds) ? definition(rebuilt) : rebuilt;
  }

  bool fits(const Expr& e, std::int64_t points, bool rounds) const {
    const auto t = static_cast<std::size_t>(e->tensor);
    const Local& local = locals_[t];
    if (local.cost == Cost::never || !keeps_bits(local.definition, reader_, rounds)) return false;
    if (local.cost == Cost::none) return size_ + local.definition.size <= 4 * largest_expression;
    return uses_.reads[t] == 1 && points <= system_[e->tensor].dims.count() && size_ + local.definition.size <= largest_expression;
  }

  Expr definition(const Expr& e) {
    const auto t = static_cast<std::size_t>(e->tensor);
    const Equation& equation = system_.equations[uses_.equation[t]];
    Expr value = value_at(equation, locals_[t].definition, e);
    size_ += locals_[t].definition.size;
    count_reads(value, 1);
    count_reads(e, -1);
    if (uses_.reads[t] == 0) count_reads(equation.value, -1);
    return value;
  }

  void count_reads(const Expr& value, int sign) {
    for_each_read(value, [&](const Expr& x) {
      std::size_t& n = uses_.reads[static_cast<std::size_t>(x->tensor)];
      n = sign > 0 ? n + 1 : n - 1;
    });
  }

  System& system_;
  Uses uses_;
  std::vector<Local> locals_;
  Reader reader_;
  std::size_t size_ = 0;
};

}  // namespace

void inline_locals(System& system) { Inlining(system).run(); }

}  // namespace etalon::compiled
