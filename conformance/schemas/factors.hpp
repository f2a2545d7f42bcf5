/// \file
/// Products as lists of factors, as laws look at them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::conformance {

struct Factor {
  spec::Expr value;
  bool divides = false;
};

/// The factors of a product of products and quotients; one where it is none. A negation is the factor -1.
[[nodiscard]] std::vector<Factor> factors_of(const spec::Expr& e);

/// \pre a factor that does not divide stands among them, or the product is 1 over them.
[[nodiscard]] spec::Expr product_of(const std::vector<Factor>& factors);

/// Whether the variable stands free in e.
[[nodiscard]] bool depends_on(const spec::Expr& e, spec::VariableId variable);

using Rule = std::function<std::optional<spec::Expr>(const spec::Expr&)>;

/// The system with the rule's answer in place of each expression that it answers, those inside first; empty where it
/// answers none.
[[nodiscard]] std::optional<spec::System> rewritten_by(const spec::System& system, const Rule& rule);

}  // namespace etalon::conformance
