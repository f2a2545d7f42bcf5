/// \file
/// Which tensors and expressions depend differentiably on chosen tensors. It computes no derivative.
#pragma once

#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::spec {

/// The real tensors that depend on `wrt` through differentiable positions; the chosen tensors themselves are
/// independent variables, whatever equations define them.
class Dependence {
 public:
  Dependence(const System& system, std::span<const TensorId> wrt);

  [[nodiscard]] bool has(TensorId tensor) const {
    const auto i = static_cast<std::size_t>(tensor);
    return i < active_.size() && active_[i];
  }
  /// Whether the expression reads a dependent tensor where a derivative flows: not in indices, conditions,
  /// guards or `detach`, nor through a primitive that is flat there.
  [[nodiscard]] bool has(const Expr& e) const;
  [[nodiscard]] bool is_wrt(TensorId tensor) const { return wrt_.contains(tensor); }

 private:
  std::vector<bool> active_;
  std::unordered_set<TensorId> wrt_;
  mutable std::unordered_map<const Node*, std::pair<Expr, bool>> known_;
};

/// \throws SpecViolation naming the tensor unless it is real. `role` says what it was given as.
void require_real(const System& system, TensorId tensor, const char* role);

}  // namespace etalon::spec
