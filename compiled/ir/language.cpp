#include "compiled/ir/language.hpp"

#include <algorithm>

namespace etalon::compiled {

void for_each_read(const Expr& e, const std::function<void(const Expr&)>& visit) {
  spec::for_each(e, [&](const Expr& x) {
    if (x.form() == Form::read) visit(x);
  });
}

void for_each_read(const Equation& equation, const std::function<void(const Expr&)>& visit) {
  for_each_read(equation.value, visit);
  for (const Expr& p : equation.place) for_each_read(p, visit);
}

bool holds(const Expr& e, const std::function<bool(const Expr&)>& is_one) {
  return is_one(e) || std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return holds(a, is_one); });
}

std::optional<std::size_t> position_of(const Expr& index, const std::vector<Binder>& binders) {
  if (index.form() != Form::variable) return std::nullopt;
  const auto found = std::find_if(binders.begin(), binders.end(), [&](const Binder& b) { return b.variable == index->variable; });
  return found == binders.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - binders.begin()));
}

std::size_t bytes_of(const spec::TensorInfo& tensor) { return static_cast<std::size_t>(tensor.dims.count()) * size_of(tensor.dtype); }

bool has_reduction(const Expr& e) {
  return holds(e, [](const Expr& x) { return x.form() == Form::reduce; });
}

bool reads(const Expr& e, TensorId tensor) {
  return holds(e, [&](const Expr& x) { return x.form() == Form::read && x->tensor == tensor; });
}

bool is_true(const Expr& condition) { return condition.form() == Form::number && condition->number.mantissa != 0; }

}  // namespace etalon::compiled
