/// \file
/// The figures of a run over mutants: a table by sort, those alive grouped by cause, JSON. It scores nothing.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "tests/adequacy/implementations/showing.hpp"
#include "tests/adequacy/score.hpp"

namespace etalon::adequacy {

struct Counts {
  std::size_t made = 0, equivalent = 0, identical = 0, killed = 0, alive = 0;
  void add(const Mutant& mutant);
  /// Killed in hundred of those that are neither equivalent nor identical; 0 where there are none, so that no floor
  /// holds.
  [[nodiscard]] double percent() const;
};

/// Of all mutants, of each sort in the order of the enumeration, and both by name: `all` is that of all.
[[nodiscard]] Counts total(const std::vector<Mutant>& mutants);
[[nodiscard]] std::map<std::string, Counts> by_kind(const std::vector<Mutant>& mutants);
[[nodiscard]] std::vector<Counts> by_sort(const std::vector<Mutant>& mutants);

void print_table(const std::vector<Mutant>& mutants, std::ostream& to);
/// By cause: no number was another in any case, none of an answer, or all that differed was admitted; then by sort.
void print_alive(const std::vector<Mutant>& mutants, std::ostream& to);
void print_equivalent(const std::vector<Mutant>& mutants, std::ostream& to);
[[nodiscard]] std::string to_json(const std::vector<Mutant>& mutants);

/// Defects of implementations. Where no case is touched by a defect, it has no answer that is another.
[[nodiscard]] std::map<std::string, Counts> by_kind(const std::vector<Implementation>& defects);
void print_table(const std::vector<Implementation>& defects, std::ostream& to);
void print_alive(const std::vector<Implementation>& defects, std::ostream& to);
[[nodiscard]] std::string to_json(const std::vector<Implementation>& defects);

}  // namespace etalon::adequacy
