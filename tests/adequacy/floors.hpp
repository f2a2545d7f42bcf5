/// \file
/// Shares killed that are not to be lost. A new text of a definition draws all cases anew, and as many questions of the same
/// power kill some mutants more or fewer: a floor is lost where chance alone would hardly leave as few.
#pragma once

#include <cstddef>

namespace etalon::adequacy {

/// Whether so few of those counted are killed, where each was with this probability, less than once in a thousand draws:
/// the lower tail of the binomial distribution.
/// \param share the recorded share, in [0, 1]
[[nodiscard]] bool falls_below(std::size_t killed, std::size_t counted, double share);

}  // namespace etalon::adequacy
