#include "tests/adequacy/per_unit.hpp"

#include <vector>

namespace etalon::adequacy {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;

bool contains(const Expr& e, const Expr& read) {
  bool found = false;
  spec::for_each(e, [&](const Expr& sub) { found = found || sub == read; });
  return found;
}

bool is_zero(const Expr& e) { return e.form() == Form::number && e->number.is(0); }

// How often the element is a factor; nothing where it is none, or terms differ.
std::optional<int> degree(const Expr& e, const Expr& read) {
  if (e == read) return 1;
  if (!contains(e, read)) return 0;
  const auto alike = [&](const Expr& a, const Expr& b) {
    const auto one = degree(a, read), other = degree(b, read);
    if (is_zero(a)) return other;
    return is_zero(b) || one == other ? one : std::nullopt;
  };
  if (e.form() == Form::select) return contains(e->args[0], read) ? std::nullopt : alike(e->args[1], e->args[2]);
  if (e.form() == Form::detach || e.is(Primitive::neg)) return degree(e->args[0], read);
  if (e.is(Primitive::add) || e.is(Primitive::sub)) return alike(e->args[0], e->args[1]);
  if (e.is(Primitive::div)) return contains(e->args[1], read) ? std::nullopt : degree(e->args[0], read);
  if (!e.is(Primitive::mul)) return std::nullopt;
  const auto one = degree(e->args[0], read), other = degree(e->args[1], read);
  return one && other ? std::optional(*one + *other) : std::nullopt;
}

// Terms that are chosen by one condition, added up before the choice: they are 0 each where the others are not.
Expr merged(const Expr& e) {
  std::vector<Expr> args;
  for (const Expr& a : e->args) args.push_back(merged(a));
  const Expr same = args.empty() ? e : spec::with_args(e, args);
  if (!same.is(Primitive::add)) return same;
  const Expr &a = args[0], &b = args[1];
  if (a.form() != Form::select || b.form() != Form::select || a->args[0] != b->args[0]) return same;
  return spec::select(a->args[0], merged(a->args[1] + b->args[1]), merged(a->args[2] + b->args[2]));
}

Expr with_one(const Expr& e, const Expr& read) {
  if (e == read) return spec::decimal(1);
  std::vector<Expr> args;
  for (const Expr& a : e->args) args.push_back(with_one(a, read));
  return args.empty() ? e : spec::with_args(e, args);
}

}  // namespace

std::optional<Expr> per_unit(const Expr& value, spec::TensorId tensor) {
  std::optional<Expr> read;
  bool several = false;
  spec::for_each(value, [&](const Expr& sub) {
    if (sub.form() != Form::read || sub->tensor != tensor) return;
    several = several || (read && *read != sub);
    read = sub;
  });
  if (!read || several || degree(value, *read) != 1) return std::nullopt;
  return merged(with_one(value, *read));
}

}  // namespace etalon::adequacy
