#include "compiled/emit/text/scalars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "compiled/ir/language.hpp"
#include "compiled/machine/selection.hpp"
#include "spec/error.hpp"
#include "spec/half.hpp"

namespace etalon::compiled::source {

using loops::Type;

Scalars::Scalars(const spec::System& system, const std::vector<std::string>& tensors, const Names& names, Functions& functions)
    : system_(system), tensors_(tensors), names_(names), functions_(functions), arithmetic_(system, [this](spec::VariableId v) {
        const auto it = registers_.find(v);
        return it != registers_.end() && it->second == Type::f32;
      }) {}

std::string Scalars::bind(const spec::Binder& binder) {
  extents_[binder.variable] = binder.extent;
  return variables_[binder.variable] = names_.claim(binder.name.empty() ? "i" : binder.name);
}

std::string Scalars::define(loops::Register r, Type type) {
  registers_[r] = type;
  return variables_[r] = names_.claim(fmt::format("r{}", r));
}

std::string Scalars::own(spec::TensorId id) {
  return tensors_.at(static_cast<std::size_t>(id)) = names_.claim(system_[id].name);
}

// --- what is named ---

/// How often each node is reached; what is below a node counts once.
void Scalars::count(const Expr& e) {
  if (uses_[&*e]++ > 0) return;
  for (const Expr& a : e->args) count(a);
}

/// Whether computing it is allowed where nothing asks for it.
bool Scalars::is_safe(const Expr& e) {
  const auto known = safe_.find(&*e);
  if (known != safe_.end()) return known->second;
  const bool safe = (e.form() != Form::read || loops::in_range(system_, e, extents_)) &&
                    std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return is_safe(a); });
  return safe_[&*e] = safe;
}

void Scalars::begin(std::span<const Expr> all, Text& before) {
  uses_.clear();
  safe_.clear();
  for (const Expr& e : all) count(e);
  scopes_.push_back({&before, {}});
}

std::string Scalars::value(const Expr& e, Type type, Text& before) {
  begin({&e, 1}, before);
  std::string text = write_as(e, type).text;
  scopes_.pop_back();
  return text;
}

Scalars::Written Scalars::write(const Expr& e) {
  const bool trivial = e.form() == Form::number || e.form() == Form::variable;
  const auto uses = uses_.find(&*e);
  if (trivial || uses == uses_.end() || uses->second < 2) return write_fresh(e);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto it = scope->known.find(&*e);
    if (it != scope->known.end()) return {it->second};
  }
  // What may be computed anywhere is computed before all branches, where each of them sees it.
  std::vector<Scope> inner;
  if (is_safe(e)) {
    inner.assign(std::make_move_iterator(scopes_.begin() + 1), std::make_move_iterator(scopes_.end()));
    scopes_.resize(1);
  }
  const Written w = write_fresh(e);
  const std::string name = names_.claim("t");
  scopes_.back().text->line(fmt::format("const {} {} = {};", type_name(type_of(e)), name, w.text));
  scopes_.back().known[&*e] = name;
  scopes_.insert(scopes_.end(), std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
  return {name};
}

// --- pieces ---

std::string Scalars::at_least(const Written& w, int precedence) { return w.precedence >= precedence ? w.text : "(" + w.text + ")"; }

Scalars::Written Scalars::cast(const Written& w, Type to) { return {fmt::format("({}){}", type_name(to), at_least(w, unary)), unary}; }

Scalars::Written Scalars::write_as(const Expr& e, Type type) {
  if (e.form() == Form::number) return write_number(e, type);
  const Written w = write(e);
  return type_of(e) == type ? w : cast(w, type);
}

Scalars::Written Scalars::write_fresh(const Expr& e) {
  switch (e.form()) {
    case Form::number: return write_number(e, type_of(e));
    case Form::variable: return write_variable(e);
    case Form::read: return write_read(e);
    case Form::select: return write_select(e);
    case Form::apply: return write_apply(e);
    default: throw InternalError("emit: a reduction is left in an expression");
  }
}

Scalars::Written Scalars::write_number(const Expr& e, Type type) {
  const spec::Number& n = e->number;
  std::string text;
  switch (type) {
    case Type::f32: text = literal(loops::nearest_f32(n)); break;
    case Type::f64: text = literal(loops::nearest_f64(n)); break;
    case Type::i64: text = literal(n.mantissa); break;
    case Type::boolean: text = n.mantissa != 0 ? "true" : "false"; break;
  }
  return {text, text.starts_with('-') || text.starts_with('(') ? unary : primary};
}

Scalars::Written Scalars::write_variable(const Expr& e) {
  const auto it = variables_.find(e->variable);
  if (it == variables_.end()) throw InternalError("emit: variable `" + e->name + "` has no value");
  const auto held = registers_.find(e->variable);
  const bool narrow = held != registers_.end() && held->second == Type::f32;
  return narrow && arithmetic_.real() == Type::f64 ? cast({it->second}, Type::f64) : Written{it->second};
}

std::string Scalars::widened(const std::string& element, DType dtype) {
  if (!spec::is_half(dtype)) return element;
  return fmt::format("{}({})", functions_.text_of(spelling_of(conversion(dtype, DType::f32)).word, dtype), element);
}

std::string Scalars::narrowed(const std::string& value, Type type, DType dtype) {
  if (spec::is_half(dtype)) {
    const std::string single = type == Type::f64 ? fmt::format("{}({})", functions_.use("round_to_odd"), value) : value;
    return fmt::format("{}({})", functions_.text_of(spelling_of(conversion(DType::f32, dtype)).word, DType::f32), single);
  }
  if (dtype == DType::i32 || dtype == DType::boolean) return fmt::format("({})({})", element_type(dtype), value);
  return value;
}

Scalars::Written Scalars::write_read(const Expr& e) {
  const DType dtype = system_[e->tensor].dtype;
  const auto held = std::find_if(held_.begin(), held_.end(), [&](const auto& h) { return h.first == e; });
  const std::string raw = held != held_.end() ? held->second : element(e->tensor, e->args, *scopes_.back().text);
  if (dtype == DType::i32) return cast({raw}, Type::i64);
  if (dtype == DType::boolean) return {raw + " != 0", equality};
  const Written number{widened(raw, dtype)};
  const bool single = dtype == DType::f32 || spec::is_half(dtype);
  return single && arithmetic_.real() == Type::f64 ? cast(number, Type::f64) : number;
}

std::string Scalars::element(spec::TensorId tensor, const std::vector<Expr>& place, Text& before) {
  const bool alone = scopes_.empty();
  if (alone) begin(place, before);
  std::string text = tensors_.at(static_cast<std::size_t>(tensor)) + "[" + element_number(place, system_[tensor].dims) + "]";
  if (alone) scopes_.pop_back();
  return text;
}

/// As a sum of multiples of variables where it is one; else axis by axis, each of which is in range.
std::string Scalars::element_number(const std::vector<Expr>& place, const Dims& dims) {
  const loops::Affine number = loops::element_number(place, dims);
  std::string text;
  const auto add = [&](std::int64_t factor, const Written& w) {
    const bool minus = factor < 0 && factor != INT64_MIN;
    const std::int64_t size = minus ? -factor : factor;
    const std::string term = size == 1 ? at_least(w, product) : literal(size) + " * " + at_least(w, unary);
    text += text.empty() ? (minus ? "-" : "") + term : (minus ? " - " : " + ") + term;
  };
  const bool plain = std::all_of(number.opaque.begin(), number.opaque.end(), [&](const auto& term) { return fits(term.second); });
  if (plain) {
    std::vector<std::pair<std::int64_t, spec::VariableId>> variables;
    for (const auto& [v, c] : number.variables) {
      if (c != 0) variables.emplace_back(c, v);
    }
    // As people write it: the outermost axis first.
    std::stable_sort(variables.begin(), variables.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [c, v] : variables) add(c, {variables_.at(v)});
    for (const auto& [c, e] : number.opaque) add(c, write(e));
    if (number.constant != 0 || text.empty()) add(number.constant < 0 ? -1 : 1, {literal(std::abs(number.constant))});
    return text;
  }
  Written all;
  for (std::size_t axis = 0; axis < place.size(); ++axis) {
    const Written index = write(place[axis]);
    all = axis == 0 ? index : Written{fmt::format("{} * {} + {}", at_least(all, product), literal(dims[axis]), at_least(index, product)), sum};
  }
  return all.text.empty() ? "0" : all.text;
}

// --- forms ---

Scalars::Written Scalars::write_select(const Expr& e) {
  const Type type = type_of(e);
  const Written condition = write(e->args[0]);
  Text branches[2] = {Text(scopes_.back().text->depth() + 1), Text(scopes_.back().text->depth() + 1)};
  Written values[2];
  for (std::size_t b = 0; b < 2; ++b) {
    scopes_.push_back({&branches[b], {}});
    values[b] = write_as(e->args[b + 1], type);
    scopes_.pop_back();
  }
  if (branches[0].empty() && branches[1].empty()) {
    return {fmt::format("{} ? {} : {}", at_least(condition, disjunction), at_least(values[0], disjunction),
                        at_least(values[1], conditional)),
            conditional};
  }
  const std::string name = names_.claim("chosen");
  Text& text = *scopes_.back().text;
  text.line(fmt::format("{} {};", type_name(type), name));
  text.open(fmt::format("if ({})", condition.text));
  text.append(branches[0]);
  text.line(fmt::format("{} = {};", name, values[0].text));
  text.otherwise();
  text.append(branches[1]);
  text.line(fmt::format("{} = {};", name, values[1].text));
  text.close();
  return {name};
}

/// The right side is not evaluated when the left decides.
Scalars::Written Scalars::write_connective(const Expr& e) {
  const Written left = write(e->args[0]);
  if (e.is(Primitive::logical_not)) return {"!" + at_least(left, unary), unary};
  const Spelling& s = words_of(e->primitive).real;
  Text inner(scopes_.back().text->depth() + 1);
  scopes_.push_back({&inner, {}});
  const Written right = write(e->args[1]);
  scopes_.pop_back();
  if (inner.empty()) {
    // Compilers ask for parentheses where `and` stands beside `or`.
    const auto side = [&](const Written& w) {
      return w.precedence == s.precedence ? w.text : at_least(w, conjunction + 1);
    };
    return {fmt::format("{} {} {}", side(left), s.word, side(right)), s.precedence};
  }
  const std::string name = names_.claim("holds");
  Text& text = *scopes_.back().text;
  text.line(fmt::format("bool {} = {};", name, left.text));
  text.open(fmt::format("if ({}{})", e.is(Primitive::logical_and) ? "" : "!", name));
  text.append(inner);
  text.line(fmt::format("{} = {};", name, right.text));
  text.close();
  return {name};
}

/// The type follows from the operand's; a real as an integer saturates.
Scalars::Written Scalars::write_conversion(const Expr& e) {
  const Expr& of = e->args[0];
  if (of.kind() == e.kind()) return write(of);
  if (e.is(Primitive::to_integer) && of.kind() == Kind::real) {
    return {fmt::format("{}({})", functions_.use("integer", "f64"), write(of).text)};
  }
  if (e.is(Primitive::to_real) && arithmetic_.keeps_odd_bit(of, extents_)) {
    return {fmt::format("{}({})", functions_.use("odd", "i64"), write(of).text)};
  }
  return cast(write(of), type_of(e));
}

Scalars::Written Scalars::write_apply(const Expr& e) {
  const Primitive p = e->primitive;
  if (p == Primitive::pi) return {literal(3.14159265358979323846)};
  if (p == Primitive::to_real || p == Primitive::to_integer) return write_conversion(e);
  if (p >= Primitive::logical_and && p <= Primitive::logical_not) return write_connective(e);
  if (const auto found = select(e, Rounding::each, machines::scalar)) return write_spelled(found->operands, spelling_of(*found->instruction), type_of(e));
  const Words& words = words_of(p);
  if (p >= Primitive::eq && p <= Primitive::ge) return infix(e->args, words.real, arithmetic_.comparison_type(e->args[0], e->args[1]));
  const bool tests = p >= Primitive::is_nan && p <= Primitive::is_finite;
  const Spelling& s = e.kind() == Kind::integer ? words.integer : words.real;
  if (s.shape == Shape::library) return call(functions_.library(p, type_of(e)), e->args, type_of(e));
  if (s.shape == Shape::wrapping) return write_wrapping(e, s, type_of(e));
  if (s.shape == Shape::none || s.shape == Shape::form) throw Unsupported("emit: no C for the primitive `" + std::string(info(p).name) + "` on these operands");
  return write_spelled(e->args, s, type_of(tests ? e->args[0] : e));
}

Scalars::Written Scalars::infix(const std::vector<Expr>& args, const Spelling& s, Type type) {
  const Written left = write_as(args[0], type);
  const Written right = write_as(args[1], type);
  // Comparisons do not chain.
  const bool compares = s.precedence == equality || s.precedence == relation;
  return {fmt::format("{} {} {}", at_least(left, compares ? sum : s.precedence), s.word, at_least(right, compares ? sum : s.precedence + 1)),
          s.precedence};
}

Scalars::Written Scalars::call(const std::string& function, const std::vector<Expr>& args, Type type) {
  std::string text;
  for (const Expr& a : args) text += (text.empty() ? "" : ", ") + write_as(a, type).text;
  return {fmt::format("{}({})", function, text)};
}

/// C rounds quotients toward zero, which is down where nothing is negative.
Scalars::Written Scalars::write_wrapping(const Expr& e, const Spelling& s, Type type) {
  const bool divides = e.is(Primitive::floor_div) || e.is(Primitive::modulo);
  const auto dividend = loops::range_of(e->args[0], extents_);
  const bool plain = divides ? dividend && dividend->first >= 0 && e->args[1].form() == Form::number && e->args[1]->number.mantissa > 0
                             : fits(e) && std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return fits(a); });
  if (!plain) return call(functions_.use(s.wrapped, type_suffix(type)), e->args, type);
  if (e->args.size() == 1) return {"-" + at_least(write(e->args[0]), unary + 1), unary};
  return infix(e->args, s, type);
}

Scalars::Written Scalars::write_spelled(const std::vector<Expr>& args, const Spelling& s, Type type) {
  switch (s.shape) {
    case Shape::infix: return infix(args, s, type);
    case Shape::prefix: return {std::string(s.word) + at_least(write_as(args[0], type), unary + 1), unary};
    case Shape::macro: return call(std::string(s.word), args, type);
    case Shape::own: return call(functions_.use(s.word, type_suffix(type)), args, type);
    case Shape::call: return call(functions_.text_of(s.word, type == Type::f32 ? DType::f32 : DType::f64), args, type);
    case Shape::none:
    case Shape::library:
    case Shape::wrapping:
    case Shape::form: break;
  }
  throw InternalError("emit: a spelling that stands for no function");
}

}  // namespace etalon::compiled::source
