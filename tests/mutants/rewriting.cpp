#include "tests/mutants/rewriting.hpp"

#include <algorithm>
#include <cmath>

namespace etalon::mutants {
namespace {

void rewrite_targets(System& system, const Rewrite& rewrite, const std::function<bool(spec::TensorId)>& chosen) {
  for (std::size_t i = 0; i < system.equations.size(); ++i) {
    if (!chosen(system.equations[i].target)) continue;
    // The rewrite may ask the system for fresh variables.
    const Expr value = system.equations[i].value;
    system.equations[i].value = rewritten(value, rewrite);
  }
}

bool contains(const std::vector<spec::TensorId>& list, spec::TensorId tensor) {
  return std::find(list.begin(), list.end(), tensor) != list.end();
}

bool has_form(const Expr& e, Form form) {
  bool found = false;
  spec::for_each(e, [&](const Expr& sub) { found = found || sub.form() == form; });
  return found;
}

}  // namespace

Expr rewritten(const Expr& e, const Rewrite& rewrite) {
  std::vector<Expr> args;
  for (const Expr& arg : e->args) args.push_back(rewritten(arg, rewrite));
  const Expr rebuilt = args.empty() ? e : spec::with_args(e, args);
  return rewrite(rebuilt).value_or(rebuilt);
}

void rewrite_values(System& system, const Rewrite& rewrite) {
  rewrite_targets(system, rewrite, [](spec::TensorId) { return true; });
}

void rewrite_derivatives(System& system, const Rewrite& rewrite) {
  rewrite_targets(system, rewrite, [&](spec::TensorId t) { return is_derivative(system, t); });
}

void rewrite_primal(System& system, const Rewrite& rewrite) {
  rewrite_targets(system, rewrite, [&](spec::TensorId t) { return !is_derivative(system, t); });
}

bool is_derivative(const System& system, spec::TensorId tensor) {
  return system[tensor].name.find_first_of("~'") != std::string::npos;
}

bool is_input(const System& system, spec::TensorId tensor) { return contains(system.inputs, tensor); }
bool is_output(const System& system, spec::TensorId tensor) { return contains(system.outputs, tensor); }

bool is_reduce(const Expr& e, Reduction reduction) { return e.form() == Form::reduce && e->reduction == reduction; }

bool is_real(const Expr& e, Primitive primitive) {
  return e.is(primitive) && !e->args.empty() && e->args[0].kind() == Kind::real;
}

Expr reduced(const Expr& like, std::vector<spec::Binder> binders, const Expr& guard, const Expr& body) {
  return spec::reduce(like->reduction, std::move(binders), guard, body, like->args.size() > 2 ? like->args[2] : Expr{});
}

bool is_closed(const Expr& e) {
  return !has_form(e, Form::read) && !has_form(e, Form::variable) && !has_form(e, Form::reduce);
}

bool reads_something(const Expr& e) { return has_form(e, Form::read); }
bool has_variable(const Expr& e) { return has_form(e, Form::variable); }

std::optional<double> constant(const Expr& e) {
  if (e.is(Primitive::to_real)) return constant(e->args[0]);
  if (e.form() != Form::number) return std::nullopt;
  const spec::Number& n = e->number;
  return n.is_binary ? n.binary : static_cast<double>(n.mantissa) * std::pow(10.0, n.exponent);
}

std::optional<Expr> meaning(System& system, const Expr& read) {
  if (read.form() != Form::read) return std::nullopt;
  const spec::Equation* only = nullptr;
  for (const spec::Equation& equation : system.equations) {
    if (equation.target != read->tensor) continue;
    if (only != nullptr) return std::nullopt;
    only = &equation;
  }
  if (only == nullptr || only->binders.size() != only->place.size()) return std::nullopt;
  spec::Substitution by;
  for (std::size_t axis = 0; axis < only->place.size(); ++axis) {
    const Expr& place = only->place[axis];
    if (place.form() != Form::variable || place->variable != only->binders[axis].variable) return std::nullopt;
    by[place->variable] = read->args[axis];
  }
  return spec::refresh(system, spec::substitute(only->value, by));
}

Expr looked_through(System& system, const Expr& e) { return meaning(system, e).value_or(e); }

std::optional<std::int64_t> terms_summed(System& system, const Expr& e) {
  const Expr seen = looked_through(system, e);
  if (!is_reduce(seen, Reduction::sum) || seen->args[0].form() != Form::number) return std::nullopt;
  std::int64_t count = 1;
  for (const spec::Binder& b : seen->binders) count *= b.extent;
  return count;
}

std::optional<Expr> clamped_reads(const System& system, const Expr& e) {
  bool empty = false;
  const Expr clamped = rewritten(e, [&](const Expr& sub) -> std::optional<Expr> {
    if (sub.form() != Form::read) return std::nullopt;
    const Dims& dims = system[sub->tensor].dims;
    std::vector<Expr> indices;
    for (std::size_t axis = 0; axis < dims.rank; ++axis) {
      empty = empty || dims[axis] == 0;
      const Expr low = call(Primitive::maximum, sub->args[axis], spec::integer(0));
      indices.push_back(call(Primitive::minimum, low, spec::integer(std::max<std::int64_t>(dims[axis] - 1, 0))));
    }
    return spec::with_args(sub, indices);
  });
  if (empty) return std::nullopt;
  return clamped;
}

Expr upper_bits(const Expr& x, int bits, int precision) {
  const Expr c = x * spec::binary64(std::ldexp(1.0, precision - bits) + 1);
  return c - (c - x);
}

bool is_double(const System& system) {
  return std::any_of(system.tensors.begin(), system.tensors.end(),
                     [](const spec::TensorInfo& t) { return t.dtype == DType::f64; });
}

int precision_of(const System& system) { return is_double(system) ? 53 : 24; }

Expr with_slope(const Expr& value, const Expr& slope) { return spec::detach(value) + (slope - spec::detach(slope)); }

Expr call(Primitive primitive, const Expr& a) { return spec::apply(primitive, {a}); }
Expr call(Primitive primitive, const Expr& a, const Expr& b) { return spec::apply(primitive, {a, b}); }

}  // namespace etalon::mutants
