#include <algorithm>
#include <array>
#include <utility>

#include "conformance/pack/pack.hpp"

namespace etalon::conformance {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 29> notes{{
    {"normal", "normally distributed numbers"},
    {"unit", "numbers from 0 to 1"},
    {"positive", "positive numbers of several magnitudes"},
    {"lattice", "integers that fill the significand where they are multiplied and added up"},
    {"odd", "odd integers of 12 bits: whoever keeps 11 loses one"},
    {"signs", "-1, 0 and 1"},
    {"ties", "many equal numbers, halves and both zeros: comparisons tie, slopes have kinks"},
    {"zeros", "mostly zeros of both signs"},
    {"large", "numbers whose squares or sums may overflow"},
    {"logits", "numbers whose exponentials are large or overflow"},
    {"tiny", "numbers whose squares underflow"},
    {"subnormal", "numbers below the smallest normal one: whoever flushes them to zero is wrong"},
    {"cancelling", "pairs that nearly cancel: whoever rounds before adding is far off"},
    {"offset", "a small spread around a large mean: whoever subtracts squares loses it"},
    {"narrow", "numbers close to zero"},
    {"epsilon", "zeros and numbers far below the constants that keep divisors from zero"},
    {"mixed", "magnitudes over many binades"},
    {"special", "NaN, infinities, zeros of both signs, the largest and the smallest numbers"},
    {"above_threshold", "elements just above a number that the definition compares with"},
    {"at_threshold", "elements equal to a number that the definition compares with"},
    {"below_threshold", "elements just below a number that the definition compares with"},
    {"empty", "a tensor has no elements"},
    {"single", "every tensor has one element"},
    {"absent", "an optional operand is left out"},
    {"integers", "operands that may be real are integers"},
    {"kink", "a decision on computed numbers may go either way, and each way is listed"},
    {"overflow", "an infinity is admitted in some element"},
    {"nan", "NaN is admitted in some element"},
    {"undecided", "of some element the bound says nothing, and everything is admitted"},
}};

}  // namespace

std::string_view note_of(std::string_view flag) {
  const auto found = std::find_if(notes.begin(), notes.end(), [&](const auto& note) { return note.first == flag; });
  return found == notes.end() ? std::string_view() : found->second;
}

}  // namespace etalon::conformance
