/// \file
/// Data whose rows are sequences of symbols, each a whole number kept as a number, with a label for every place. It knows
/// nothing of models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "training/data/dataset.hpp"

namespace etalon::training {

/// Characters are the 128 of ASCII.
inline constexpr std::int64_t ascii = 128;

/// Windows of a text that follow one another, `length` characters each; the labels are the characters after them.
/// \throws SpecViolation naming line and column for what is no ASCII character, and where the text has no whole window
[[nodiscard]] Dataset windows_of(std::string_view text, std::int64_t length, const std::string& where);

/// The 26 letters, and the end of a name.
inline constexpr std::int64_t alphabet = 27;

/// The letters of names, one name a line: for each letter and the end of each name, the `context` symbols before it. 0 is
/// the end, and stands before the first letter; a to z are 1 to 26, whatever their case; other characters are left out.
/// \throws SpecViolation where there is no letter
[[nodiscard]] Dataset letters_of(std::string_view names, std::int64_t context, const std::string& where);

/// What a register reads: `values` symbols that write it and one, the last, that leaves it as it is, each as likely; the
/// label of a place is what stands in the register after it, 0 before the first write. It is the flip-flop automaton: to
/// answer, a model must look back to the last write, however far.
[[nodiscard]] Dataset register_strings(std::int64_t rows, std::int64_t length, std::int64_t values, std::uint64_t seed);

/// The mean of how much a model that knows nothing but the symbol before is surprised: the perplexity on `test` of the
/// counts of pairs in `train`, each with one added. Rows are sequences whose labels are the next symbols.
[[nodiscard]] double bigram_perplexity(const Dataset& train, const Dataset& test);

}  // namespace etalon::training
