#include <limits>

#include "tests/adequacy/node_changes.hpp"

namespace etalon::adequacy {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;

Expr call(Primitive p, const Expr& a) { return spec::apply(p, {a}); }
Expr call(Primitive p, const Expr& a, const Expr& b) { return spec::apply(p, {a, b}); }
Expr above(const Expr& a, double limit) { return call(Primitive::gt, a, spec::binary64(limit)); }
Expr below(const Expr& a, double limit) { return call(Primitive::lt, a, spec::binary64(limit)); }

bool reads_integers(const Expr& e) {
  bool found = false;
  spec::for_each(e,
                 [&](const Expr& sub) { found = found || (sub.form() == Form::read && sub.kind() == Kind::integer); });
  return found;
}

// Where implementations stop to compute a function: f32 overflows in exp at 88.7 and tanh is 1 from 9.1 on.
void functions(const Expr& e, std::vector<Alternative>& to) {
  const Expr x = e->args[0];
  const auto add = [&](const char* text, const Expr& by) { to.push_back({Sort::threshold, text, by}); };
  const auto infinity = spec::binary64(std::numeric_limits<double>::infinity());
  switch (e->primitive) {
    case Primitive::exp:
    case Primitive::expm1:
      add("infinite above 80", spec::select(above(x, 80), infinity, e));
      add("at its limit below -80",
          spec::select(below(x, -80), spec::decimal(e->primitive == Primitive::exp ? 0 : -1), e));
      break;
    case Primitive::exp2:
      add("infinite above 120", spec::select(above(x, 120), infinity, e));
      break;
    case Primitive::cosh:
      add("infinite above 80", spec::select(above(call(Primitive::abs, x), 80), infinity, e));
      break;
    case Primitive::sinh:
      add("infinite above 80", spec::select(above(call(Primitive::abs, x), 80), x * infinity, e));
      break;
    case Primitive::tanh:
    case Primitive::erf:
      add("1 above 3", spec::select(above(call(Primitive::abs, x), 3), call(Primitive::sign, x), e));
      break;
    case Primitive::log:
    case Primitive::log2:
      add("minus infinite below the smallest normal number",
          spec::select(below(x, 0x1p-126) && above(x, 0), -infinity, e));
      break;
    case Primitive::sqrt:
      add("0 below the smallest normal number", spec::select(below(x, 0x1p-126) && above(x, 0), spec::decimal(0), e));
      break;
    case Primitive::sin:
    case Primitive::cos:
    case Primitive::tan:
      add("the argument beyond 8192 taken for 8192",
          spec::select(above(x, 8192), call(e->primitive, spec::decimal(8192)), e));
      break;
    default:
      break;
  }
  if (e->primitive == Primitive::expm1 || e->primitive == Primitive::log1p)
    add("0 beside 0", spec::select(below(call(Primitive::abs, x), 0x1p-24), spec::decimal(0), e));
}

bool is_order(const Expr& e) {
  return e.is(Primitive::lt) || e.is(Primitive::le) || e.is(Primitive::gt) || e.is(Primitive::ge);
}

}  // namespace

std::vector<Alternative> arithmetic_alternatives(const spec::System&, const Site& site) {
  std::vector<Alternative> found;
  const Expr& e = site.node;
  if (site.use == Use::index || e.form() != Form::apply || e->args.empty()) return found;
  functions(e, found);
  const auto is_constant = [](const Expr& a) {
    return a.form() == Form::number && a.kind() == Kind::real && !a->number.is(0);
  };
  if (is_order(e) && is_constant(e->args[1]))
    found.push_back({Sort::threshold, "nine tenths of the threshold",
                     call(e->primitive, e->args[0], e->args[1] * spec::decimal(9, -1))});
  const bool wraps = e.is(Primitive::add) || e.is(Primitive::sub) || e.is(Primitive::mul) || e.is(Primitive::neg);
  if (wraps && e.kind() == Kind::integer && reads_integers(e)) {
    std::vector<Expr> reals;
    for (const Expr& a : e->args) reals.push_back(spec::as_real(a));
    found.push_back({Sort::saturating, "stops at the ends of 64 bits",
                     call(Primitive::to_integer, spec::apply(e->primitive, reals))});
  }
  if (e.is(Primitive::to_integer) && e->args[0].kind() == Kind::real) {
    const Expr whole = spec::binary64(0x1p64), half = spec::binary64(0x1p63), x = e->args[0];
    found.push_back({Sort::saturating, "wraps at 64 bits",
                     call(Primitive::to_integer, x - whole * call(Primitive::floor, (x + half) / whole))});
  }
  return found;
}

}  // namespace etalon::adequacy
