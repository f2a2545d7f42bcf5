/// \file
/// What a mutant answers: exactly, or in double as a first look. It knows no envelope.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tests/adequacy/mutant.hpp"

namespace etalon::adequacy {

enum class Precision : std::uint8_t { quick, exact };

/// The outputs of the system, each element rounded once to its type. Exact answers are missing where no precision
/// decides an element. \throws SpecViolation where the system cannot be evaluated
[[nodiscard]] std::optional<std::vector<HostTensor>> answer(const spec::System& system,
                                                            std::span<const HostTensor> inputs, Precision precision);

/// The same with the change.
[[nodiscard]] std::optional<std::vector<HostTensor>> answer(const spec::System& system,
                                                            std::span<const HostTensor> inputs, Precision precision,
                                                            const Change& change);

}  // namespace etalon::adequacy
