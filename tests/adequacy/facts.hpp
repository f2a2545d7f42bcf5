/// \file
/// What conditions that hold together say of others, by their text alone. It knows no numbers.
#pragma once

#include <optional>
#include <vector>

#include "spec/system/expr.hpp"

namespace etalon::adequacy {

class Facts {
 public:
  explicit Facts(const std::vector<spec::Expr>& conditions);

  /// Whether the condition holds wherever the given ones do, or nowhere there; nothing where they do not say.
  [[nodiscard]] std::optional<bool> holds(const spec::Expr& condition) const;

  /// Whether the given conditions never hold together.
  [[nodiscard]] bool contradict() const { return contradict_; }

 private:
  bool note(const spec::Expr& condition, bool holds);

  std::vector<spec::Expr> true_, false_;
  bool contradict_ = false;
};

}  // namespace etalon::adequacy
