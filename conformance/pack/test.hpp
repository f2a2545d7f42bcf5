/// \file
/// A case as tests of a pack: its requests, and all that a contract admits as their answers.
#pragma once

#include <cstddef>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/pack/pack.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {

/// One test; of a case of several steps one for each, which begins with the state that is meant after the one before.
/// None where there are too many ways; `left_out` counts them.
[[nodiscard]] std::vector<PackedTest> tests_of(const Case& c, const spec::Contract& contract, std::size_t& left_out);

}  // namespace etalon::conformance
