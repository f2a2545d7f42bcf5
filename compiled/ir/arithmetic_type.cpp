#include <algorithm>

#include "compiled/ir/language.hpp"
#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

namespace {

/// How many real reads of an expression are of f64, and of narrower types.
struct RealReads {
  std::size_t wide = 0;
  std::size_t narrow = 0;
  [[nodiscard]] DType widest() const { return wide > 0 ? DType::f64 : DType::f32; }
};

RealReads real_reads(const System& system, const Expr& value) {
  RealReads reads;
  spec::for_each(value, [&](const Expr& e) {
    if (e.form() == Form::read && e.kind() == Kind::real) ++(system[e->tensor].dtype == DType::f64 ? reads.wide : reads.narrow);
  });
  return reads;
}

bool holds_reals(const Expr& value) {
  bool found = false;
  spec::for_each(value, [&](const Expr& e) { found = found || e.kind() == Kind::real; });
  return found;
}

}  // namespace

DType arithmetic_type(const System& system, const spec::Equation& equation) {
  const DType target = system[equation.target].dtype;
  if (target == DType::f64) return DType::f64;
  if (kind_of(target) == Kind::real) return DType::f32;
  return real_reads(system, equation.value).widest();
}

bool is_single(const System& system, const Expr& value, const std::function<bool(spec::VariableId)>& held) {
  if (value.kind() != Kind::real) return false;
  const auto any_of = [&](std::size_t first, std::size_t end) {
    return std::any_of(value->args.begin() + static_cast<std::ptrdiff_t>(first), value->args.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](const Expr& a) { return is_single(system, a, held); });
  };
  switch (value.form()) {
    case Form::number: return false;
    case Form::variable: return held && held(value->variable);
    case Form::read: return system[value->tensor].dtype != DType::f64;
    case Form::reduce: return any_of(1, 2);
    case Form::select: return any_of(1, 3);
    case Form::apply:
    case Form::detach: return any_of(0, value->args.size());
  }
  return false;
}

std::optional<DType> type_of_part(const System& system, const spec::Equation& equation, const Expr& part) {
  const DType arithmetic = arithmetic_type(system, equation);
  const RealReads reads = real_reads(system, part);
  DType type = part.kind() == Kind::integer ? DType::i64 : DType::boolean;
  DType own = reads.widest();
  if (part.kind() == Kind::real) type = own = arithmetic == DType::f32 && is_single(system, part) ? DType::f32 : DType::f64;
  const bool computed_alike = own == arithmetic || !holds_reals(part) || (own == DType::f64 && reads.narrow == 0);
  if (!computed_alike) return std::nullopt;
  // The reads of an equation for integers or truth values decide about its arithmetic.
  const bool decides = kind_of(system[equation.target].dtype) != Kind::real && (arithmetic == DType::f32 ? type == DType::f64 : type != DType::f64 && reads.wide > 0);
  return decides ? std::nullopt : std::optional(type);
}

}  // namespace etalon::compiled
