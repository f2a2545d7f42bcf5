/// \file
/// Prints the derivative table of spec/derivative as Coq text, so that what is proved is what runs. It knows the
/// notation's primitives and no operation.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "spec/derivative/scalar_rules.hpp"
#include "spec/error.hpp"

using namespace etalon;
using namespace etalon::spec;

namespace {

/// A primitive's name as part of a Coq identifier.
std::string identifier(Primitive p) {
  static const std::map<std::string_view, std::string> symbols{
      {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {"^", "pow"}, {"%", "modulo"}, {"//", "floor_div"},
      {"==", "eq"}, {"!=", "ne"}, {"<", "lt"},  {"<=", "le"}, {">", "gt"},  {">=", "ge"}};
  const auto symbol = symbols.find(info(p).name);
  return symbol != symbols.end() ? symbol->second : std::string(info(p).name);
}

std::string number(const Number& n) {
  char text[96];
  if (n.is_binary) {  // as m / 2^k: Coq reads no hexadecimal floats
    int exponent = 0;
    double mantissa = std::frexp(n.binary, &exponent);
    while (mantissa != static_cast<double>(static_cast<long long>(mantissa))) {
      mantissa *= 2;
      --exponent;
    }
    std::snprintf(text, sizeof text, "(IZR (%lld) * powerRZ 2 (%d))", static_cast<long long>(mantissa), exponent);
  } else if (n.exponent == 0) {
    std::snprintf(text, sizeof text, "(%lld)", static_cast<long long>(n.mantissa));
  } else {
    std::snprintf(text, sizeof text, "(IZR (%lld) * powerRZ 10 (%d))", static_cast<long long>(n.mantissa), n.exponent);
  }
  return text;
}

std::string text(const Expr& e) {
  switch (e.form()) {
    case Form::number:
      return number(e->number);
    case Form::read:
      return e->name.empty() ? "a" + std::to_string(e->tensor) : e->name;
    case Form::select:
      return "(if " + text(e->args[0]) + " then " + text(e->args[1]) + " else " + text(e->args[2]) + ")";
    case Form::apply: {
      static const std::map<Primitive, std::string> infix{
          {Primitive::add, " + "}, {Primitive::sub, " - "}, {Primitive::mul, " * "}, {Primitive::div, " / "}};
      const auto sign = infix.find(e->primitive);
      if (sign != infix.end()) return "(" + text(e->args[0]) + sign->second + text(e->args[1]) + ")";
      if (e->primitive == Primitive::neg) return "(- " + text(e->args[0]) + ")";
      const bool connective = e->primitive >= Primitive::logical_and && e->primitive <= Primitive::logical_not;
      std::string result = connective ? "(logical_" + identifier(e->primitive) : "(real_" + identifier(e->primitive);
      for (const Expr& argument : e->args) result += " " + text(argument);
      return result + ")";
    }
    default:
      throw InternalError("print_scalar_table: a rule uses a form that has no Coq text");
  }
}

constexpr TensorId tangent = 100;

Expr symbol(TensorId id) { return read(id, Kind::real, {}); }

std::string replaced(std::string s, const std::string& from, const std::string& to) {
  for (std::size_t at = s.find(from); at != std::string::npos; at = s.find(from, at + to.size()))
    s.replace(at, from.size(), to);
  return s;
}

/// The contribution of argument i to the tangent, as `pull_primitive` of spec/derivative/vjp.cpp applies the rule.
std::string contribution(Primitive p, std::size_t i, const std::vector<Expr>& args) {
  const ArgumentRule& rule = derivative_rule(p, i);
  if (rule.push == nullptr) return "0";
  std::string result = replaced(text(rule.push(args, symbol(tangent))), "a" + std::to_string(tangent), "t");
  const Expr matters = rule.matters != nullptr ? rule.matters(args) : Expr{};
  return matters.valid() ? "(if " + text(matters) + " then " + result + " else 0)" : result;
}

/// Whether the primitive maps reals to a real.
bool is_real_function(Primitive p) {
  if (info(p).arity == 0 || info(p).arity > 2) return false;
  try {
    return apply(p, std::vector<Expr>(info(p).arity, symbol(0))).kind() == Kind::real;
  } catch (const InternalError&) {
    return false;
  }
}

std::vector<Primitive> real_functions(int arity) {
  std::vector<Primitive> result;
  for (const PrimitiveInfo& row : primitive_table) {
    const Primitive p = row.primitive;
    if (p != Primitive::to_real && info(p).arity == arity && is_real_function(p)) result.push_back(p);
  }
  return result;
}

struct Literal {
  const char* name;
  Expr value;
};

/// Exponents that the rule of the power treats by their form.
std::vector<Literal> exponents() {
  return {{"zero", decimal(0)},
          {"one", decimal(1)},
          {"two", decimal(2)},
          {"three", decimal(3)},
          {"minus_one", decimal(-1)},
          {"minus_two", decimal(-2)},
          {"half", decimal(5, -1)},
          {"binary_one", binary64(1)},
          {"binary_two", binary64(2)},
          {"binary_four", binary64(4)},
          {"binary_minus_three", binary64(-3)},
          {"binary_half", binary64(0.5)}};
}

void print_hint(const std::string& what) {
  std::cout << "#[export] Hint Unfold contribution_" << what << " : contributions.\n";
}

void print_enumeration(const char* type, int arity) {
  const auto functions = real_functions(arity);
  std::cout << "\nInductive " << type << " : Type :=";
  for (const Primitive p : functions) std::cout << "\n  | " << type << "_" << identifier(p);
  std::cout << ".\n";
  const auto map = [&](const std::string& name, const std::string& result, const std::string& prefix,
                       const std::string& suffix) {
    std::cout << "\nDefinition " << type << "_" << name << " (p : " << type << ") : " << result
              << " :=\n  match p with";
    for (const Primitive p : functions) {
      std::cout << "\n  | " << type << "_" << identifier(p) << " => " << prefix << identifier(p) << suffix;
    }
    std::cout << "\n  end.\n";
  };
  const std::string reals = arity == 1 ? "R -> " : "R -> R -> ";
  map("value", reals + "R", "real_", "");
  map("domain", reals + "Prop", "domain_", "");
  for (int i = 0; i < arity; ++i) {
    const std::string argument = std::to_string(i);
    map("contribution_" + argument, reals + "R -> R", "contribution_", "_" + argument);
    std::cout << "#[export] Hint Unfold " << type << "_contribution_" << i << " : contributions.\n";
  }
}

void print_table() {
  std::cout << "(** Generated from spec/derivative/scalar_rules.cpp: what each argument of a primitive contributes to "
               "a tangent t. *)\n"
               "Require Import Reals.\nRequire Import Etalon.scalar_functions.\nLocal Open Scope R_scope.\n\n"
               "Create HintDb contributions.\n\n";
  for (const int arity : {1, 2}) {
    for (const Primitive p : real_functions(arity)) {
      std::vector<Expr> args{symbol(0)};
      if (arity == 2) args.push_back(symbol(1));
      for (std::size_t i = 0; i < args.size(); ++i) {
        std::cout << "Definition contribution_" << identifier(p) << "_" << i
                  << (arity == 1 ? " (a0 t : R)" : " (a0 a1 t : R)") << " : R := " << contribution(p, i, args) << ".\n";
        print_hint(identifier(p) + "_" + std::to_string(i));
      }
    }
  }
  for (const Literal& exponent : exponents()) {
    std::cout << "Definition exponent_" << exponent.name << " : R := " << text(exponent.value) << ".\n"
              << "Definition contribution_pow_0_at_" << exponent.name
              << " (a0 t : R) : R := " << contribution(Primitive::pow, 0, {symbol(0), exponent.value}) << ".\n";
    print_hint(std::string("pow_0_at_") + exponent.name);
  }
  print_enumeration("unary", 1);
  print_enumeration("binary", 2);
}

void print_completeness() {
  std::cout << "(** Generated: every real function of the derivative table has a proved rule, whose contributions are "
               "linear. *)\n"
               "Require Import Reals.\nRequire Import Etalon.scalar_functions Etalon.scalar_table Etalon.curves.\n"
               "Require Import Etalon.rules_smooth Etalon.rules_pieces Etalon.rules_angle Etalon.rules_power.\n\n";
  const auto by_name = [](const char* type, int arity) {
    std::cout << "Proof.\n  destruct p.\n";
    for (const Primitive p : real_functions(arity)) std::cout << "  - exact rule_" << identifier(p) << ".\n";
    std::cout << "Qed.\n\n";
    for (int i = 0; i < arity; ++i) {
      std::cout << "Theorem every_" << type << "_contribution_" << i << "_is_linear (p : " << type << ") : linear_"
                << arity << " (" << type << "_contribution_" << i << " p).\nProof. destruct p; linear. Qed.\n\n";
    }
  };
  std::cout << "Theorem every_unary_rule (p : unary) : unary_rule (unary_value p) (unary_contribution_0 p) "
               "(unary_domain p).\n";
  by_name("unary", 1);
  std::cout
      << "Theorem every_binary_rule (p : binary) :\n"
         "  binary_rule (binary_value p) (binary_contribution_0 p) (binary_contribution_1 p) (binary_domain p).\n";
  by_name("binary", 2);
  std::cout << "Theorem every_literal_exponent :";
  const char* separator = "\n  ";
  for (const Literal& exponent : exponents()) {
    const std::string at = std::string("pow_0_at_") + exponent.name;
    std::cout << separator << "literal_rule exponent_" << exponent.name << " contribution_" << at << " domain_pow_at_"
              << exponent.name;
    separator = " /\\\n  ";
  }
  std::cout << ".\nProof.\n  repeat match goal with |- _ /\\ _ => split end.\n";
  for (const Literal& exponent : exponents()) std::cout << "  - exact rule_pow_at_" << exponent.name << ".\n";
  std::cout << "Qed.\n";
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count == 2 ? arguments[1] : "";
  if (what == "table") {
    print_table();
  } else if (what == "completeness") {
    print_completeness();
  } else {
    std::cerr << "print_scalar_table: table or completeness is wanted\n";
    return 2;
  }
  return 0;
}
