#include "conformance/python/contracts.hpp"

#include "spec/error.hpp"

namespace etalon::python {

spec::Contract contract_of(const std::string& text) {
  if (!text.starts_with('{')) return spec::contract_named(text);
  if (const auto errors = spec::contract_errors(text); !errors.empty())
    throw SpecViolation("contract: " + errors.front());
  return spec::parse_contract(text);
}

}  // namespace etalon::python
