/// \file
/// All mutants, by family. The suite must convict every one of them.
#pragma once

#include <span>
#include <string_view>

#include "tests/mutants/mutant.hpp"

namespace etalon::mutants {

[[nodiscard]] std::span<const Mutant> reductions();
[[nodiscard]] std::span<const Mutant> distributions();
[[nodiscard]] std::span<const Mutant> products();
[[nodiscard]] std::span<const Mutant> formats();
[[nodiscard]] std::span<const Mutant> functions();
[[nodiscard]] std::span<const Mutant> roundings();
[[nodiscard]] std::span<const Mutant> special_values();
[[nodiscard]] std::span<const Mutant> indices();
[[nodiscard]] std::span<const Mutant> derivatives();
[[nodiscard]] std::span<const Mutant> slopes();
[[nodiscard]] std::span<const Mutant> directions();
[[nodiscard]] std::span<const Mutant> optimizers();
[[nodiscard]] std::span<const Mutant> attributes();
[[nodiscard]] std::span<const Mutant> memory();

/// Every family; entries are added, never removed.
[[nodiscard]] std::span<const Mutant> mutants();

/// What was tried and is no defect, because no observation within the contract tells it from a sound backend.
struct Equivalent {
  std::string_view name;
  std::string_view reason;
};
[[nodiscard]] std::span<const Equivalent> equivalents();

}  // namespace etalon::mutants
