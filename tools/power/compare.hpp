/// \file
/// Every mutant and two conforming twins on the same cases, judged by the bounds and by fixed tolerances. It knows no
/// operation by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/power/rules.hpp"

namespace etalon::power {

inline constexpr std::size_t judge_count = rule_count + 1;  ///< the bounds first
[[nodiscard]] std::string_view judge_name(std::size_t judge);

struct CompareOptions {
  std::size_t cases = 21;  ///< of each operation, check and element type: one per family of numbers
  std::size_t runs = 2;    ///< of the simulator on each of them
  std::uint64_t seed = 1;
  unsigned jobs = 2;
  std::vector<std::string> operations{};  ///< all where none is named
  std::string json;
  std::string markdown;
  std::string plot;
};

/// What the judges say of answers to the same cases.
struct Tally {
  std::size_t cases = 0;
  std::array<std::size_t, judge_count> flagged{};
};

/// The first case of an operation on which a judge flags a defect and accepts the sound backend.
struct Conviction {
  std::size_t asked = 0;    ///< cases of the operation until then, this one included
  std::size_t numbers = 0;  ///< that the case gives
};

struct MutantTally {
  std::string name;
  Tally all;                                     ///< on every case
  std::array<std::size_t, judge_count> valid{};   ///< flagged where the same judge accepts the sound backend
  std::array<std::size_t, judge_count> alarms{};  ///< of the same cases, flagged with the sound backend or the simulator
  std::array<std::optional<Conviction>, judge_count> first{};  ///< of the operation that convicts soonest
};

/// Of the operations whose equations have one form.
struct ClassTally {
  std::size_t operations = 0;
  std::size_t cases = 0;
  std::size_t elements = 0;
  std::size_t undecided = 0;
  double worst_value = 0;  ///< error over bound of the compiled backend
  double worst_derivative = 0;
  double bound_seconds = 0;
  double backend_seconds = 0;  ///< of the compiled backend, compilation included
};

struct Comparison {
  Tally backend;    ///< the compiled backend
  Tally simulator;  ///< random conforming evaluations
  std::size_t element_checks = 0;
  std::vector<MutantTally> mutants;
  std::map<std::string, ClassTally> classes;
  std::vector<std::string> alarms;  ///< cases of a twin that the bounds flag
};

[[nodiscard]] Comparison compare(const CompareOptions& options);
[[nodiscard]] int run_compare(const CompareOptions& options);

[[nodiscard]] std::string markdown_of(const Comparison& comparison, const CompareOptions& options);
[[nodiscard]] std::string json_of(const Comparison& comparison);
[[nodiscard]] std::string plot_of(const Comparison& comparison);

}  // namespace etalon::power
