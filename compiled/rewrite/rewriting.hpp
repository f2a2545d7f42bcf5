/// \file
/// Bottom-up rewriting of expressions by tables of named rules. It knows no rule.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "spec/system/system.hpp"

namespace etalon::compiled {

/// A rewrite of one node whose children are already rewritten. It keeps the value bit for bit, special values too.
struct Rule {
  std::string_view name;
  std::string_view equation;               ///< for the reader: `x * 1 = x`
  spec::Expr (*apply)(const spec::Expr&);  ///< the replacement, or an invalid expression where the rule does not apply
};

/// Rebuilds expressions from the leaves up; a node that occurs several times is rebuilt once.
class Rewriter {
 public:
  /// \param change the replacement for a node with rewritten children, or an invalid expression to keep it
  explicit Rewriter(std::function<spec::Expr(const spec::Expr&)> change) : change_(std::move(change)) {}
  [[nodiscard]] spec::Expr operator()(const spec::Expr& e);

 private:
  struct Entry {
    spec::Expr original;  ///< keeps the key alive
    spec::Expr rewritten;
  };
  std::function<spec::Expr(const spec::Expr&)> change_;
  std::unordered_map<const spec::Node*, Entry> done_;
};

/// Whether a real part of the equation may become another without changing the type in which anything is computed.
[[nodiscard]] bool keeps_types(const spec::System& system, const spec::Equation& equation, const spec::Expr& before, const spec::Expr& after);

/// Whether the expression is a number that every type holds, so that it does not matter in which it is computed.
[[nodiscard]] bool is_typeless(const spec::Expr& e);

/// Gives the equation its new value, unless other reads would then decide in which type it is computed.
void replace_value(const spec::System& system, spec::Equation& equation, spec::Expr value);

/// Applies the first rule that fits, again and again, at every node of every equation, where it leaves the types of the
/// arithmetic as they are.
void apply_rules(spec::System& system, std::span<const Rule> rules);

}  // namespace etalon::compiled
