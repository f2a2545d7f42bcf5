#include "conformance/mathml.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string_view>
#include <utility>

#include "spec/markup.hpp"
#include "spec/system/variable_names.hpp"

namespace etalon::conformance {
namespace {

using spec::Binder;
using spec::Equation;
using spec::Expr;
using spec::Form;
using spec::Node;
using spec::Primitive;
using spec::Reduction;
using spec::System;

/// How tightly what is typeset binds; what binds less than its place asks for stands in parentheses.
enum Strength { loosest, disjunction, conjunction, comparison, additive, multiplicative, unary, tightest };

struct Infix {
  Primitive primitive;
  Strength strength;
  const char* sign;
};

constexpr Infix infixes[] = {
    {Primitive::logical_or, disjunction, "∨"}, {Primitive::logical_and, conjunction, "∧"}, {Primitive::eq, comparison, "="},
    {Primitive::ne, comparison, "≠"},          {Primitive::lt, comparison, "&lt;"},        {Primitive::le, comparison, "≤"},
    {Primitive::gt, comparison, "&gt;"},       {Primitive::ge, comparison, "≥"},           {Primitive::add, additive, "+"},
    {Primitive::sub, additive, "−"},           {Primitive::mul, multiplicative, "⋅"},      {Primitive::modulo, multiplicative, "mod"},
};

/// What stands around the only argument.
struct Fence {
  Primitive primitive;
  const char *left, *right;
};

constexpr Fence fences[] = {{Primitive::abs, "|", "|"}, {Primitive::floor, "⌊", "⌋"}, {Primitive::ceil, "⌈", "⌉"}};

[[nodiscard]] std::string op(std::string_view sign) { return fmt::format("<mo>{}</mo>", sign); }
[[nodiscard]] std::string row(const std::string& inside) { return "<mrow>" + inside + "</mrow>"; }
[[nodiscard]] std::string word(std::string_view text) { return fmt::format("<mtext> {} </mtext>", text); }
[[nodiscard]] std::string fenced(std::string_view left, const std::string& inside, std::string_view right) {
  return row(fmt::format("<mo fence=\"true\">{}</mo>{}<mo fence=\"true\">{}</mo>", left, inside, right));
}

[[nodiscard]] const char* sign_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum: return "∑";
    case Reduction::prod: return "∏";
    case Reduction::any: return "⋁";
    case Reduction::all: return "⋀";
    default: return nullptr;
  }
}

/// A name, with the marks of tangents (x') and cotangents (x~) as a prime and a tilde above.
[[nodiscard]] std::string named(std::string_view name) {
  if (name.ends_with('\'')) return fmt::format("<msup>{}<mo>′</mo></msup>", named(name.substr(0, name.size() - 1)));
  if (name.ends_with('~')) return fmt::format("<mover accent=\"true\">{}<mo>~</mo></mover>", named(name.substr(0, name.size() - 1)));
  return "<mi>" + markup(name) + "</mi>";
}

class Typesetter {
 public:
  explicit Typesetter(const System& system) : system_(system) {}

  [[nodiscard]] std::string equation(const Equation& e) {
    const std::string target = indexed(system_[e.target].name, e.place);
    std::string ranges;
    for (const Binder& b : e.binders) ranges += (ranges.empty() ? "<mspace width=\"2em\"/>" : op(",")) + range(b);
    return row(target + op("=") + typeset(e.value, loosest) + ranges);
  }

 private:
  [[nodiscard]] std::string typeset(const Expr& e, Strength place) {
    Strength own = tightest;
    std::string text = bare(e, own);
    return own < place ? fenced("(", text, ")") : text;
  }

  [[nodiscard]] std::string bare(const Expr& e, Strength& own) {
    switch (e.form()) {
      case Form::number: return number(e, own);
      case Form::variable: return named(names_.of(e->variable, e->name));
      case Form::read: return indexed(system_[e->tensor].name, e->args);
      case Form::apply: return application(*e, own);
      case Form::select: return cases(e);
      case Form::reduce: return reduction(*e, own);
      case Form::detach: return function("detach", *e);
    }
    return "";
  }

  [[nodiscard]] std::string number(const Expr& e, Strength& own) const {
    const std::string text = to_text(system_, e);
    if (!text.starts_with('-')) return "<mn>" + markup(text) + "</mn>";
    own = unary;
    return row(op("−") + "<mn>" + markup(text.substr(1)) + "</mn>");
  }

  [[nodiscard]] std::string indexed(const std::string& name, const std::vector<Expr>& indices) {
    if (indices.empty()) return named(name);
    return fmt::format("<msub>{}{}</msub>", named(name), row(list(indices)));
  }

  [[nodiscard]] std::string list(const std::vector<Expr>& all) {
    std::string text;
    for (const Expr& e : all) text += (text.empty() ? "" : op(",")) + typeset(e, loosest);
    return text;
  }

  [[nodiscard]] std::string function(std::string_view name, const Node& n) {
    return row(fmt::format("<mi>{}</mi>", markup(name)) + fenced("(", list(n.args), ")"));
  }

  [[nodiscard]] std::string application(const Node& n, Strength& own) {
    const Primitive p = n.primitive;
    if (n.args.size() == 2) {
      for (const Infix& infix : infixes) {
        if (infix.primitive == p) return binary(n, infix, own);
      }
    }
    if (n.args.size() == 1) {
      for (const Fence& fence : fences) {
        if (fence.primitive == p) return fenced(fence.left, typeset(n.args[0], loosest), fence.right);
      }
    }
    switch (p) {
      case Primitive::div: return fraction(n);
      case Primitive::floor_div: return fenced("⌊", fraction(n), "⌋");
      case Primitive::pow: return fmt::format("<msup>{}{}</msup>", row(typeset(n.args[0], tightest)), row(typeset(n.args[1], loosest)));
      case Primitive::sqrt: return fmt::format("<msqrt>{}</msqrt>", typeset(n.args[0], loosest));
      case Primitive::pi: return "<mi>π</mi>";
      case Primitive::neg: own = unary; return row(op("−") + typeset(n.args[0], unary));
      case Primitive::logical_not: own = unary; return row(op("¬") + typeset(n.args[0], unary));
      default: return function(info(p).name, n);
    }
  }

  [[nodiscard]] std::string binary(const Node& n, const Infix& infix, Strength& own) {
    own = infix.strength;
    const auto tighter = static_cast<Strength>(own + 1);
    if (infix.primitive == Primitive::add && n.args[1].is(Primitive::neg))  // derivatives subtract so
      return row(typeset(n.args[0], own) + op("−") + typeset(n.args[1]->args[0], tighter));
    return row(typeset(n.args[0], own == comparison ? tighter : own) + op(infix.sign) + typeset(n.args[1], tighter));
  }

  [[nodiscard]] std::string fraction(const Node& n) {
    return fmt::format("<mfrac>{}{}</mfrac>", row(typeset(n.args[0], loosest)), row(typeset(n.args[1], loosest)));
  }

  /// One line for each branch; `else if` begins no cases of its own.
  [[nodiscard]] std::string cases(Expr e) {
    std::string lines;
    const auto line = [&](const std::string& value, const std::string& condition) {
      lines += fmt::format("<mtr><mtd style=\"text-align:left\">{}</mtd><mtd style=\"text-align:left\">{}</mtd></mtr>", value, condition);
    };
    while (e.form() == Form::select) {
      const std::string condition = typeset(e->args[0], loosest);
      line(typeset(e->args[1], loosest), row(word("if") + condition));
      const Expr next = e->args[2];
      e = next;
    }
    line(typeset(e, loosest), word("otherwise"));
    return row("<mo fence=\"true\" stretchy=\"true\">{</mo><mtable>" + lines + "</mtable>");
  }

  /// 0 ≤ k < 3
  [[nodiscard]] std::string range(const Binder& b) {
    return row(fmt::format("<mn>0</mn>{}{}{}<mn>{}</mn>", op("≤"), named(names_.of(b.variable, b.name)), op("&lt;"), b.extent));
  }

  [[nodiscard]] std::string reduction(const Node& n, Strength& own) {
    own = additive;
    std::string under;
    for (const Binder& b : n.binders) under += (under.empty() ? "" : op(",")) + range(b);
    const bool guarded = !(n.args[0].form() == Form::number && n.args[0]->number.mantissa != 0);
    if (guarded) under += op(",") + typeset(n.args[0], loosest);
    const char* sign = sign_of(n.reduction);
    const std::string head = sign != nullptr ? fmt::format("<mo movablelimits=\"false\" largeop=\"true\">{}</mo>", sign)
                                             : fmt::format("<mi>{}</mi>", name_of(n.reduction));
    std::string text = row(fmt::format("<munder>{}{}</munder>", head, row(under)) + typeset(n.args[1], multiplicative));
    if (n.args.size() > 2) text = row(text + word("else") + typeset(n.args[2], additive));
    return text;
  }

  const System& system_;
  spec::VariableNames names_;
};

}  // namespace

std::vector<std::string> mathml(const System& system) {
  std::vector<std::string> all;
  std::istringstream lines(to_text(system));
  std::string line;
  for (std::size_t n = 0; n < system.inputs.size(); ++n) std::getline(lines, line);
  for (const Equation& e : system.equations) {
    std::getline(lines, line);
    all.push_back(fmt::format("<math xmlns=\"http://www.w3.org/1998/Math/MathML\" displaystyle=\"true\" alttext=\"{}\">{}</math>",
                              markup(line), Typesetter(system).equation(e)));
  }
  return all;
}

}  // namespace etalon::conformance
