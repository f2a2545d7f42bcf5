#include "spec/system/fresh_names.hpp"

namespace etalon::spec {

FreshNames::FreshNames(const System& system) {
  taken_.reserve(system.tensors.size());
  for (const TensorInfo& tensor : system.tensors) taken_.insert(tensor.name);
}

std::string FreshNames::take(const std::string& wish, std::string_view separator) {
  if (taken_.insert(wish).second) return wish;
  const std::string base = wish + std::string(separator);
  int& number = next_.try_emplace(base, 2).first->second;
  for (;; ++number) {
    std::string name = base + std::to_string(number);
    if (taken_.insert(name).second) return name;
  }
}

}  // namespace etalon::spec
