#include "spec/system/expr.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "spec/error.hpp"

namespace etalon::spec {

namespace {

std::size_t mix(std::size_t seed, std::size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6U) + (seed >> 2U));
}

std::size_t hash_of(const Node& n) {
  std::size_t h = mix(static_cast<std::size_t>(n.form), static_cast<std::size_t>(n.kind));
  switch (n.form) {
    case Form::number:
      h = mix(h, n.number.is_binary ? std::bit_cast<std::size_t>(n.number.binary)
                                    : static_cast<std::size_t>(n.number.mantissa));
      h = mix(h, static_cast<std::size_t>(n.number.exponent));
      h = mix(h, std::hash<std::string>{}(n.number.rest));
      break;
    case Form::variable: h = mix(h, static_cast<std::size_t>(n.variable)); break;
    case Form::read: h = mix(h, static_cast<std::size_t>(n.tensor)); break;
    case Form::apply: h = mix(h, static_cast<std::size_t>(n.primitive)); break;
    case Form::reduce:
      h = mix(h, static_cast<std::size_t>(n.reduction));
      for (const Binder& b : n.binders) {
        h = mix(mix(h, static_cast<std::size_t>(b.variable)), static_cast<std::size_t>(b.extent));
      }
      break;
    case Form::select:
    case Form::detach: break;
  }
  for (const Expr& arg : n.args) h = mix(h, arg.hash());
  return h;
}

Expr finish(Node node) {
  node.hash = hash_of(node);
  return Expr(std::make_shared<const Node>(std::move(node)));
}

void require(bool holds, const char* what) {
  if (!holds) throw InternalError(std::string("expression: ") + what);
}

bool is_comparison(Primitive p) { return p >= Primitive::eq && p <= Primitive::ge; }
bool is_connective(Primitive p) { return p >= Primitive::logical_and && p <= Primitive::logical_not; }
bool is_test(Primitive p) { return p >= Primitive::is_nan && p <= Primitive::is_finite; }

void check_comparison(const std::vector<Expr>& args) {
  require(args[0].kind() == args[1].kind(), "a comparison needs two operands of one kind");
}

Kind kind_of_arithmetic(Primitive p, const std::vector<Expr>& args) {
  const Kind kind = args.front().kind();
  for (const Expr& a : args) require(a.kind() == kind, "arithmetic needs operands of one kind");
  require(kind == Kind::real || (kind == Kind::integer && info(p).on_integers),
          "arithmetic is not defined on operands of this kind");
  return kind;
}

Kind result_kind(Primitive p, const std::vector<Expr>& args) {
  require(args.size() == info(p).arity, "a primitive has the wrong number of arguments");
  if (is_comparison(p)) {
    check_comparison(args);
    return Kind::boolean;
  }
  if (is_connective(p)) {
    for (const Expr& a : args) require(a.kind() == Kind::boolean, "a connective needs truth values");
    return Kind::boolean;
  }
  if (is_test(p)) {
    require(args[0].kind() == Kind::real, "a test of a real needs a real");
    return Kind::boolean;
  }
  switch (p) {
    case Primitive::pi: return Kind::real;
    case Primitive::to_real: return Kind::real;
    case Primitive::to_integer: return Kind::integer;
    case Primitive::floor_div:
    case Primitive::philox:
      for (const Expr& a : args) require(a.kind() == Kind::integer, "an integer primitive needs integers");
      return Kind::integer;
    default: return kind_of_arithmetic(p, args);
  }
}

}  // namespace

bool Expr::is_integer(std::int64_t value) const {
  return node_->form == Form::number && node_->kind == Kind::integer && node_->number.mantissa == value;
}

bool operator==(const Expr& a, const Expr& b) {
  if (a.node_ == b.node_) return true;
  if (!a.node_ || !b.node_ || a->hash != b->hash) return false;
  return a->form == b->form && a->kind == b->kind && a->number == b->number && a->variable == b->variable &&
         a->tensor == b->tensor && a->primitive == b->primitive && a->reduction == b->reduction &&
         a->binders == b->binders && a->args == b->args;
}

Expr integer(std::int64_t value) {
  Node n;
  n.kind = Kind::integer;
  n.number.mantissa = value;
  return finish(std::move(n));
}

Expr boolean(bool value) {
  Node n;
  n.kind = Kind::boolean;
  n.number.mantissa = value ? 1 : 0;
  return finish(std::move(n));
}

Expr decimal(std::int64_t mantissa, std::int32_t exponent) {
  Node n;
  n.number.mantissa = mantissa;
  n.number.exponent = exponent;
  return finish(std::move(n));
}

Expr decimal(Number number) {
  Node n;
  n.number = std::move(number);
  return finish(std::move(n));
}

Expr binary64(double value) {
  Node n;
  n.number.is_binary = true;
  n.number.binary = value;
  return finish(std::move(n));
}

Expr variable(const Binder& binder) {
  Node n;
  n.form = Form::variable;
  n.kind = Kind::integer;
  n.variable = binder.variable;
  n.name = binder.name;
  return finish(std::move(n));
}

Expr read(TensorId tensor, Kind kind, std::vector<Expr> indices) {
  for (const Expr& i : indices) require(i.kind() == Kind::integer, "an index is an integer");
  Node n;
  n.form = Form::read;
  n.kind = kind;
  n.tensor = tensor;
  n.args = std::move(indices);
  return finish(std::move(n));
}

Expr apply(Primitive primitive, std::vector<Expr> args) {
  Node n;
  n.form = Form::apply;
  n.kind = result_kind(primitive, args);
  n.primitive = primitive;
  n.args = std::move(args);
  return finish(std::move(n));
}

Expr select(Expr condition, Expr then, Expr otherwise) {
  require(condition.kind() == Kind::boolean, "the condition of `if` is a truth value");
  require(then.kind() == otherwise.kind(), "both branches of `if` are of one kind");
  Node n;
  n.form = Form::select;
  n.kind = then.kind();
  n.args = {std::move(condition), std::move(then), std::move(otherwise)};
  return finish(std::move(n));
}

Expr reduce(Reduction reduction, std::vector<Binder> binders, Expr guard, Expr body, Expr otherwise) {
  require(guard.kind() == Kind::boolean, "a guard is a truth value");
  const bool logical = reduction == Reduction::any || reduction == Reduction::all;
  const bool position = reduction == Reduction::argmax || reduction == Reduction::argmin;
  require((body.kind() == Kind::boolean) == logical, "any and all reduce truth values, the others numbers");
  Node n;
  n.form = Form::reduce;
  n.kind = position ? Kind::integer : body.kind();
  n.reduction = reduction;
  n.binders = std::move(binders);
  n.args = {std::move(guard), std::move(body)};
  if (otherwise.valid()) {
    const bool extremum = position || reduction == Reduction::max || reduction == Reduction::min;
    require(extremum && otherwise.kind() == n.kind, "only an extremum has a value over nothing, of its own kind");
    n.args.push_back(std::move(otherwise));
  }
  return finish(std::move(n));
}

Expr detach(Expr child) {
  Node n;
  n.form = Form::detach;
  n.kind = child.kind();
  n.args = {std::move(child)};
  return finish(std::move(n));
}

Expr as_real(Expr e) { return e.kind() == Kind::real ? e : apply(Primitive::to_real, {std::move(e)}); }

Expr operator+(const Expr& a, const Expr& b) { return apply(Primitive::add, {a, b}); }
Expr operator-(const Expr& a, const Expr& b) { return apply(Primitive::sub, {a, b}); }
Expr operator*(const Expr& a, const Expr& b) { return apply(Primitive::mul, {a, b}); }
Expr operator/(const Expr& a, const Expr& b) { return apply(Primitive::div, {a, b}); }
Expr operator-(const Expr& a) { return apply(Primitive::neg, {a}); }
Expr operator&&(const Expr& a, const Expr& b) { return apply(Primitive::logical_and, {a, b}); }

Expr with_args(const Expr& e, std::vector<Expr> args) {
  if (args == e->args) return e;
  Node n = *e;
  n.args = std::move(args);
  return finish(std::move(n));
}

Expr substitute(const Expr& e, const Substitution& by) {
  if (by.empty()) return e;
  if (e.form() == Form::variable) {
    const auto found = by.find(e->variable);
    return found == by.end() ? e : found->second;
  }
  if (e->args.empty()) return e;
  std::vector<Expr> args;
  args.reserve(e->args.size());
  bool changed = false;
  for (const Expr& a : e->args) {
    args.push_back(substitute(a, by));
    changed = changed || &*args.back() != &*a;
  }
  return changed ? with_args(e, std::move(args)) : e;
}

void for_each(const Expr& e, const std::function<void(const Expr&)>& visit) {
  visit(e);
  for (const Expr& a : e->args) for_each(a, visit);
}

std::vector<VariableId> free_variables(const Expr& e) {
  std::set<VariableId> mentioned;
  std::set<VariableId> bound;
  for_each(e, [&](const Expr& x) {
    if (x.form() == Form::variable) mentioned.insert(x->variable);
    for (const Binder& b : x->binders) bound.insert(b.variable);
  });
  std::vector<VariableId> free;
  std::set_difference(mentioned.begin(), mentioned.end(), bound.begin(), bound.end(), std::back_inserter(free));
  return free;
}

}  // namespace etalon::spec
