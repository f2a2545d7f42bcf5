/// \file
/// Contracts as Python names them.
#pragma once

#include <string>

#include "spec/contract/contract.hpp"

namespace etalon::python {

/// A shipped contract by its name, or one written as a JSON object. \throws SpecViolation
[[nodiscard]] spec::Contract contract_of(const std::string& text);

}  // namespace etalon::python
