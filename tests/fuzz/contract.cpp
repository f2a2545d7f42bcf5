#include "spec/contract/contract.hpp"

#include <optional>

#include "tests/fuzz/readers.hpp"

namespace etalon::fuzz {

void read_contract(std::string_view text) {
  const bool right = spec::contract_errors(text).empty();
  std::optional<spec::Contract> contract;
  if (accepted([&] { contract = spec::parse_contract(text); }) != right) broken("a contract without errors can be read, no other", text);
  if (!contract) return;
  const std::string written = spec::to_json(*contract);
  if (!accepted([&] { contract = spec::parse_contract(written); })) broken("a contract that is written can be read", written);
  if (spec::to_json(*contract) != written) broken("a contract is the same after it was written", written);
  (void)spec::promises_of(*contract);
  for (const std::int64_t n : {0, 1, 2, 1000}) {
    if (contract->sums.height(n) < 0 || contract->contractions.height(n) < 0) broken("a tree has a height", written);
  }
}

std::vector<std::string> contract_seeds() {
  std::vector<std::string> seeds;
  for (const std::string& name : spec::contract_names()) seeds.emplace_back(spec::contract_text(name));
  return seeds;
}

}  // namespace etalon::fuzz
