/// \file
/// Names in use, and the first that is free. It knows no tensor.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "spec/system/system.hpp"

namespace etalon::spec {

/// Grows as names are taken; none is given back. The time that a name takes does not depend on how many there are, nor
/// on how often it was wished for.
class FreshNames {
 public:
  FreshNames() = default;
  /// Those of a system's tensors.
  explicit FreshNames(const System& system);

  void insert(const std::string& name) { taken_.insert(name); }

  /// Takes `wish`, or where that is in use the first free one of `wish2`, `wish3`, …, with the separator before the number.
  [[nodiscard]] std::string take(const std::string& wish, std::string_view separator = "");

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  ///< by wish and separator: no lesser number is free
};

}  // namespace etalon::spec
