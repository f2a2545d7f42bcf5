#include "tests/adequacy/folding.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace etalon::adequacy {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;

bool is_number(const Expr& e, std::int64_t value) {
  return e.form() == Form::number && e.kind() != Kind::boolean && e->number.is(value);
}

// A finite number that is not 0.
bool is_nonzero(const Expr& number) {
  if (number->number.is_binary) return std::isfinite(number->number.binary) && number->number.binary != 0;
  return !number->number.is(0);
}

// Nothing is read, so that the value is finite.
bool is_constant(const Expr& e) {
  bool reads = false;
  spec::for_each(e, [&](const Expr& sub) {
    reads = reads || sub.form() == Form::read || sub.form() == Form::variable || sub.form() == Form::reduce;
  });
  return !reads;
}

Expr folded_condition(const Expr& f) {
  const Expr yes = spec::boolean(true), no = spec::boolean(false);
  if (f.is(Primitive::logical_not)) return f->args[0] == yes ? no : f->args[0] == no ? yes : f;
  const bool all = f.is(Primitive::logical_and);
  if (!all && !f.is(Primitive::logical_or)) return f;
  const Expr &idle = all ? yes : no, &deciding = all ? no : yes;
  for (const std::size_t k : {0U, 1U}) {
    if (f->args[k] == deciding) return deciding;
    if (f->args[k] == idle) return f->args[1 - k];
  }
  return f;
}

}  // namespace

Expr of_single_term(const Expr& e) {
  using enum spec::Reduction;
  if (e.form() != Form::reduce || e->args[0] != spec::boolean(true)) return e;
  if (!(e->reduction == sum || e->reduction == prod || ((e->reduction == max || e->reduction == min) && e->args.size() == 2))) return e;
  spec::Substitution first;
  for (const spec::Binder& b : e->binders) {
    if (b.extent != 1) return e;
    first[b.variable] = spec::integer(0);
  }
  return spec::substitute(e->args[1], first);
}

Expr folded(const Expr& e) {
  if (is_number(e, 0) && e.kind() == Kind::real) return spec::decimal(0);
  if (is_number(e, 1) && e.kind() == Kind::real) return spec::decimal(1);
  std::vector<Expr> args;
  for (const Expr& a : e->args) args.push_back(folded(a));
  const Expr f = args.empty() ? e : spec::with_args(e, args);
  if (f.kind() == Kind::boolean) return folded_condition(f);
  if (f.form() == Form::select && args[1] == args[2]) return args[1];
  if (f.form() == Form::select) return args[0] == spec::boolean(true) ? args[1] : args[0] == spec::boolean(false) ? args[2] : f;
  if (f.form() == Form::reduce) return of_single_term(f);
  if (f.form() != Form::apply || args.empty()) return f;
  if ((f.is(Primitive::maximum) || f.is(Primitive::minimum)) && args[0] == args[1]) return args[0];
  if (f.is(Primitive::mul)) {
    for (const std::size_t k : {0U, 1U}) {
      if (is_number(args[k], 0) && is_constant(args[1 - k])) return args[k];
      if (is_number(args[k], 1)) return args[1 - k];
    }
  }
  if (f.is(Primitive::div) && (is_number(args[1], 1) || (is_number(args[0], 0) && args[1].form() == Form::number && !is_number(args[1], 0)))) return args[0];
  if (f.is(Primitive::div) && args[0] == args[1] && args[0].form() == Form::number && is_nonzero(args[0])) return spec::decimal(1);
  if (f.is(Primitive::add)) {
    for (const std::size_t k : {0U, 1U}) {
      if (is_number(args[k], 0)) return args[1 - k];
    }
  }
  if (f.is(Primitive::sub) && is_number(args[1], 0)) return args[0];
  if (!is_number(args[0], 0)) return f;
  if (f.is(Primitive::exp) || f.is(Primitive::exp2) || f.is(Primitive::cosh) || f.is(Primitive::cos)) return spec::decimal(1);
  const bool stays = f.is(Primitive::neg) || f.is(Primitive::abs) || f.is(Primitive::sqrt) || f.is(Primitive::tanh) ||
                     f.is(Primitive::sin) || f.is(Primitive::expm1) || f.is(Primitive::log1p) || f.is(Primitive::erf);
  return stays ? args[0] : f;
}

Expr without_detach(const Expr& e) {
  std::vector<Expr> args;
  for (const Expr& a : e->args) args.push_back(without_detach(a));
  if (e.form() == Form::detach) return args[0];
  return args.empty() ? e : spec::with_args(e, args);
}

}  // namespace etalon::adequacy
