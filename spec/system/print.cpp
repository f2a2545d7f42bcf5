#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "spec/system/exact_text.hpp"
#include "spec/system/system.hpp"
#include "spec/system/variable_names.hpp"

namespace etalon::spec {

namespace {

/// How tightly an operator binds; a child that binds less than its place needs parentheses.
enum Strength { loosest = 0, disjunction, conjunction, negation, comparison, additive, multiplicative, unary, power, tightest };

Strength strength_of(Primitive p) {
  switch (p) {
    case Primitive::logical_or: return disjunction;
    case Primitive::logical_and: return conjunction;
    case Primitive::logical_not: return negation;
    case Primitive::eq:
    case Primitive::ne:
    case Primitive::lt:
    case Primitive::le:
    case Primitive::gt:
    case Primitive::ge: return comparison;
    case Primitive::add:
    case Primitive::sub: return additive;
    case Primitive::mul:
    case Primitive::div:
    case Primitive::floor_div:
    case Primitive::modulo: return multiplicative;
    case Primitive::neg: return unary;
    case Primitive::pow: return power;
    default: return tightest;
  }
}

class Printer {
 public:
  explicit Printer(const System& system) : system_(&system) {}
  /// Of exact text.
  explicit Printer(const Spelling& spelling) : spelling_(&spelling) {}

  std::string line(const Equation& e) {
    std::string text = tensor(e.target);
    text += indices(e.place, e.binders);
    return text + " = " + print(e.value, loosest);
  }

  std::string print(const Expr& e, Strength place) {
    Strength own = tightest;
    std::string text = bare(e, own);
    return own < place ? "(" + text + ")" : text;
  }

 private:
  std::string bare(const Expr& e, Strength& own) {
    switch (e.form()) {
      case Form::number: return number(*e, own);
      case Form::variable: return spelling_ != nullptr ? spelling_->variable(*e) : name(e->variable, e->name);
      case Form::read: return tensor(e->tensor) + (spelling_ != nullptr && e->args.empty() ? "[]" : indices(e->args, {}));
      case Form::apply: return application(*e, own);
      case Form::select:
        own = loosest;
        return fmt::format("if {} then {} else {}", print(e->args[0], disjunction), print(e->args[1], disjunction),
                           print(e->args[2], loosest));
      case Form::reduce: own = additive; return reduction(*e);
      case Form::detach: return fmt::format("detach({})", print(e->args[0], loosest));
    }
    return "?";
  }

  std::string tensor(TensorId id) const { return spelling_ != nullptr ? spelling_->tensor(id) : (*system_)[id].name; }

  std::string number(const Node& n, Strength& own) const {
    if (n.kind == Kind::boolean) return n.number.mantissa != 0 ? "true" : "false";
    std::string text;
    if (!n.number.is_binary) text = decimal_text(n.number);
    else text = spelling_ != nullptr ? binary_text(n.number.binary) : fmt::format("{}", n.number.binary);
    if (text.starts_with('-')) own = unary;
    if (spelling_ == nullptr || n.number.is_binary) return text;
    if (n.kind == Kind::real) return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
    if (n.number.mantissa != std::numeric_limits<std::int64_t>::min()) return text;
    own = additive;
    return fmt::format("{} - 1", n.number.mantissa + 1);
  }

  static std::string binary_text(double value) {
    if (!std::isnan(value)) return fmt::format("{}~{}", std::signbit(value) ? "-" : "", std::fabs(value));
    const auto bits = std::bit_cast<std::uint64_t>(value);
    if (bits == std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN())) return "~nan";
    return fmt::format("~nan'{:016x}", bits);
  }

  /// `0.5` where at most three zeros follow the point, else `5e-9`. A whole number beyond 64 bits has a point: without one
  /// it would be read as an integer.
  static std::string decimal_text(const Number& n) {
    std::string digits = digits_of(n);
    const std::size_t sign = n.mantissa < 0 ? 1 : 0;
    if (n.exponent == 0) return n.rest.empty() ? digits : digits + ".0";
    if (n.exponent > 0 || static_cast<std::int64_t>(digits.size() - sign) + 3 < -static_cast<std::int64_t>(n.exponent))
      return exponential_text(n);
    const auto places = static_cast<std::size_t>(-n.exponent);
    if (digits.size() - sign <= places) digits.insert(sign, places + 1 - (digits.size() - sign), '0');
    return digits.insert(digits.size() - places, 1, '.');
  }

  std::string application(const Node& n, Strength& own) {
    const Strength s = strength_of(n.primitive);
    const std::string_view op = info(n.primitive).name;
    if (s == tightest) {
      if (n.args.empty()) return std::string(op);
      std::string text;
      for (const Expr& a : n.args) text += (text.empty() ? "" : ", ") + print(a, loosest);
      return fmt::format("{}({})", op, text);
    }
    own = s;
    const auto tighter = static_cast<Strength>(s + 1);
    if (s == negation) return fmt::format("{}({})", op, print(n.args[0], loosest));
    if (n.args.size() == 1) {
      const std::string text = print(n.args[0], tighter);
      return spelling_ != nullptr && n.args[0].form() == Form::number && !text.starts_with('(') ? "-(" + text + ")" : "-" + text;
    }
    // Neither a comparison nor a power is the left operand of another one without parentheses.
    return fmt::format("{} {} {}", print(n.args[0], s == comparison || s == power ? tighter : s), op, print(n.args[1], tighter));
  }

  std::string reduction(const Node& n) {
    std::string binders;
    for (const Binder& b : n.binders) {
      binders += fmt::format("{}{} < {}", binders.empty() ? "" : ", ", name(b.variable, b.name), b.extent);
    }
    const bool guarded = !(n.args[0].form() == Form::number && n.args[0]->number.mantissa != 0);
    if (guarded) binders += " where " + print(n.args[0], loosest);
    std::string text = fmt::format("{}[{}] {}", name_of(n.reduction), binders, print(n.args[1], multiplicative));
    if (n.args.size() > 2) text = fmt::format("({} else {})", text, print(n.args[2], loosest));
    return text;
  }

  std::string indices(const std::vector<Expr>& list, const std::vector<Binder>& binders) {
    if (list.empty()) return "";
    std::map<VariableId, std::int64_t> extent;
    for (const Binder& b : binders) extent.emplace(b.variable, b.extent);
    std::string text;
    for (const Expr& i : list) {
      text += (text.empty() ? "" : ", ") + print(i, additive);
      if (i.form() == Form::variable && extent.count(i->variable) != 0) {
        text += fmt::format(" < {}", extent.at(i->variable));
      }
    }
    return "[" + text + "]";
  }

  std::string name(VariableId id, const std::string& wish) { return names_.of(id, wish); }

  const System* system_ = nullptr;
  const Spelling* spelling_ = nullptr;
  VariableNames names_;
};

}  // namespace

std::string to_text(const System& system, const Expr& e) { return Printer(system).print(e, loosest); }

std::string exact_text(const Expr& e, const Spelling& spelling) { return Printer(spelling).print(e, loosest); }

std::string to_text(const System& system) {
  std::string text;
  for (const TensorId id : system.inputs) {
    text += fmt::format("input {}{} : {}\n", system[id].name, to_string(system[id].dims), name_of(system[id].dtype));
  }
  for (const Equation& e : system.equations) text += Printer(system).line(e) + "\n";
  for (const TensorId id : system.outputs) {
    text += fmt::format("output {}{} : {}\n", system[id].name, to_string(system[id].dims), name_of(system[id].dtype));
  }
  return text;
}

}  // namespace etalon::spec
