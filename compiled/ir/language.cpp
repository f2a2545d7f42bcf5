#include "compiled/ir/language.hpp"

namespace etalon::compiled {

bool has_reduction(const Expr& e) {
  bool found = false;
  spec::for_each(e, [&](const Expr& x) { found = found || x.form() == Form::reduce; });
  return found;
}

bool reads(const Expr& e, TensorId tensor) {
  bool found = false;
  spec::for_each(e, [&](const Expr& x) { found = found || (x.form() == Form::read && x->tensor == tensor); });
  return found;
}

bool is_true(const Expr& condition) { return condition.form() == Form::number && condition->number.mantissa != 0; }

}  // namespace etalon::compiled
