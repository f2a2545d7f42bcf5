/// \file
/// Which mutants of one operation the cases of a tier kill. It asks no backend: a case kills a mutant when the mutant's
/// exact answer leaves what the suite admits.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "conformance/conform.hpp"
#include "tests/adequacy/mutant.hpp"

namespace etalon::adequacy {

enum class Fate : std::uint8_t {
  alive,
  killed,
  equivalent,  ///< proved to be the same function in every case that it was met in
  identical    ///< where doubles tell it from the definition, both are the same real numbers
};

/// One mutant of one operation and mode, whatever instances it was met in.
struct Mutant {
  Sort sort = Sort::index;
  std::string operation, mode, place, text, sample;
  Fate fate = Fate::alive;
  std::string by;             ///< the id of the case that killed it, or why it is equivalent
  std::size_t asked = 0;      ///< cases whose system it changes
  std::size_t unchanged = 0;  ///< of these, those where not one number of its answer differs
  std::size_t unseen = 0;     ///< of these, those where numbers on the way differ
  std::size_t proved = 0;     ///< cases in which it is proved to be equivalent
  std::size_t identical = 0;  ///< cases with another answer in double, and the same real numbers
  bool other = false;         ///< in some case other real numbers, or such as no precision decides
};

struct Options {
  conformance::ConformOptions conform;  ///< tier, seed, types
  std::vector<Sort> sorts;              ///< empty means all
  std::size_t part = 1, of = 1;         ///< the share of mutants: part 1 of 1 is all of them
  spec::Contract contract;
  std::size_t most_cases = 0;  ///< per operation, mode and type; 0 means all of the tier
};

/// In the order of operation, mode, place and text.
[[nodiscard]] std::vector<Mutant> score(const std::string& operation, const Options& options);

}  // namespace etalon::adequacy
