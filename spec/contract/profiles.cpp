#include "spec/contract/profiles.hpp"

#include "spec/contract/contract.hpp"
#include "spec/error.hpp"
#include "spec/nearest.hpp"

namespace etalon::spec {

std::vector<std::string> contract_names() {
  std::vector<std::string> names;
  for (const Profile& p : profiles()) names.emplace_back(p.name);
  return names;
}

std::string_view contract_text(std::string_view name) {
  for (const Profile& p : profiles()) {
    if (p.name == name) return p.text;
  }
  throw SpecViolation(unknown_name("contract", name, contract_names()));
}

Contract contract_named(std::string_view name) { return parse_contract(contract_text(name)); }

}  // namespace etalon::spec
