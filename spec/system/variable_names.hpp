/// \file
/// Names for the index variables of one equation, as readers see them: two of one name are told apart by a number.
#pragma once

#include <map>
#include <set>
#include <string>

#include "spec/system/expr.hpp"

namespace etalon::spec {

class VariableNames {
 public:
  /// The first variable of a name keeps it, the next one is `i_2`.
  [[nodiscard]] std::string of(VariableId id, const std::string& wish) {
    const auto known = names_.find(id);
    if (known != names_.end()) return known->second;
    const std::string base = wish.empty() ? "i" : wish;
    std::string chosen = base;
    for (int n = 2; !taken_.insert(chosen).second; ++n) chosen = base + "_" + std::to_string(n);
    return names_.emplace(id, chosen).first->second;
  }

 private:
  std::map<VariableId, std::string> names_;
  std::set<std::string> taken_;
};

}  // namespace etalon::spec
