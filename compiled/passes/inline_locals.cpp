#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiled/passes/passes.hpp"
#include "compiled/passes/uses.hpp"
#include "compiled/plan/plan.hpp"

namespace etalon::compiled {

using spec::Binder;
using spec::Equation;
using spec::Expr;
using spec::Form;
using spec::Primitive;
using spec::System;
using spec::TensorId;

namespace {

/// What a local's definition costs where it is inserted.
enum class Cost : std::uint8_t {
  none,  ///< a constant or a plain read: as cheap as reading the local
  some,  ///< elementwise: not to be computed more often than now
  never  ///< a reduction, a recurrence, several equations, a rounding store: must stay a tensor
};

struct Local {
  Cost cost = Cost::never;
  std::size_t size = 0;  ///< nodes of its value
  DType arithmetic = DType::f32;
  bool has_reals = false;              ///< its bits depend on the type of the arithmetic
  bool reads_only_arithmetic = false;  ///< there are real reads, all of that type
  std::vector<spec::VariableId> axes;  ///< the variable that stands at each axis of its place
};

bool costs_nothing(const Expr& e) {
  if (e.form() == Form::number) return true;
  if (e.form() != Form::read) return false;
  bool cheap = true;
  for (const Expr& index : e->args) {
    spec::for_each(index, [&](const Expr& x) {
      cheap = cheap && x.form() != Form::read && x.form() != Form::select && x.form() != Form::reduce &&
              !x.is(Primitive::floor_div) && !x.is(Primitive::modulo);
    });
  }
  return cheap;
}

/// A store that changes no value of this definition: a tensor of the arithmetic's own type, or a copy.
bool stores_exactly(const System& system, const Equation& equation) {
  const DType dtype = system[equation.target].dtype;
  if (equation.value.form() == Form::read) return system[equation.value->tensor].dtype == dtype;
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::i64 || dtype == DType::boolean;
}

bool place_is_variables(const Equation& equation, Local& local) {
  for (const Expr& p : equation.place) {
    if (p.form() != Form::variable) return false;
    if (std::find(local.axes.begin(), local.axes.end(), p->variable) != local.axes.end()) return false;
    local.axes.push_back(p->variable);
  }
  return local.axes.size() == equation.binders.size();
}

Local describe(const System& system, const Equation& equation) {
  Local local;
  local.arithmetic = arithmetic_type(system, equation);
  bool reduces = false;
  bool other_reads = false;
  bool real_reads = false;
  spec::for_each(equation.value, [&](const Expr& e) {
    ++local.size;
    reduces = reduces || e.form() == Form::reduce;
    local.has_reals = local.has_reals || e.kind() == Kind::real;
    if (e.form() == Form::read && e.kind() == Kind::real) {
      real_reads = true;
      other_reads = other_reads || system[e->tensor].dtype != local.arithmetic;
    }
  });
  local.reads_only_arithmetic = real_reads && !other_reads;
  if (reduces || !stores_exactly(system, equation) || !place_is_variables(equation, local)) return local;
  local.cost = costs_nothing(equation.value) ? Cost::none : Cost::some;
  return local;
}

class Inlining {
 public:
  explicit Inlining(System& system) : system_(system), uses_(uses_of(system)), locals_(system.tensors.size()) {}

  void run() {
    for (Equation& equation : system_.equations) {
      begin(equation);
      equation.value = visit(equation.value, points_of(equation.binders));
      const auto target = static_cast<std::size_t>(equation.target);
      if (uses_.writers[target] == 1 && !uses_.is_output[target] && !uses_.recurrent[target]) {
        locals_[target] = describe(system_, equation);
      }
    }
  }

 private:
  static std::int64_t points_of(const std::vector<Binder>& binders) {
    std::int64_t points = 1;
    for (const Binder& b : binders) points *= b.extent;
    return points;
  }

  void begin(const Equation& equation) {
    real_target_ = kind_of(system_[equation.target].dtype) == Kind::real;
    arithmetic_ = arithmetic_type(system_, equation);
    size_ = size_of_expression(equation.value);
  }

  Expr visit(const Expr& e, std::int64_t points) {
    if (e->args.empty() && e.form() != Form::read) return e;
    if (e.form() == Form::reduce) points *= points_of(e->binders);
    std::vector<Expr> args;
    args.reserve(e->args.size());
    for (const Expr& a : e->args) args.push_back(visit(a, points));
    Expr rebuilt = spec::with_args(e, std::move(args));
    return rebuilt.form() == Form::read && fits(rebuilt, points) ? definition(rebuilt) : rebuilt;
  }

  bool fits(const Expr& e, std::int64_t points) const {
    const auto t = static_cast<std::size_t>(e->tensor);
    const Local& local = locals_[t];
    if (local.cost == Cost::never || !keeps_arithmetic(e, local)) return false;
    if (local.cost == Cost::none) return size_ + local.size <= 4 * largest_expression;
    return uses_.reads[t] == 1 && points <= system_[e->tensor].dims.count() && size_ + local.size <= largest_expression;
  }

  /// The value must be computed in the type in which the local's equation computes it, and for a target that is not
  /// real the inserted reads must leave the type of the target's arithmetic as it is.
  bool keeps_arithmetic(const Expr& e, const Local& local) const {
    if (!local.has_reals) return true;
    const Equation& definition = system_.equations[uses_.equation[static_cast<std::size_t>(e->tensor)]];
    const bool copy = definition.value.form() == Form::read;
    if (copy) return true;
    if (local.arithmetic != arithmetic_) return false;
    return real_target_ || local.reads_only_arithmetic;
  }

  Expr definition(const Expr& e) {
    const auto t = static_cast<std::size_t>(e->tensor);
    const Equation& equation = system_.equations[uses_.equation[t]];
    spec::Substitution by;
    for (std::size_t axis = 0; axis < e->args.size(); ++axis) by.emplace(locals_[t].axes[axis], e->args[axis]);
    Expr value = spec::substitute(equation.value, by);
    size_ += locals_[t].size;
    count_reads(value, 1);
    count_reads(e, -1);
    if (uses_.reads[t] == 0) count_reads(equation.value, -1);
    return value;
  }

  void count_reads(const Expr& value, int sign) {
    spec::for_each(value, [&](const Expr& x) {
      if (x.form() != Form::read) return;
      std::size_t& n = uses_.reads[static_cast<std::size_t>(x->tensor)];
      n = sign > 0 ? n + 1 : n - 1;
    });
  }

  System& system_;
  Uses uses_;
  std::vector<Local> locals_;
  bool real_target_ = true;
  DType arithmetic_ = DType::f32;
  std::size_t size_ = 0;
};

}  // namespace

void inline_locals(System& system) { Inlining(system).run(); }

}  // namespace etalon::compiled
