/// \file
/// What a run found: the one truth that every format is written from. It judges nothing and asks nobody.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/check.hpp"
#include "conformance/profile.hpp"

namespace etalon::conformance {

/// Why a failure does not count: the words of the waiver that matched it, and what the verdict is without it.
struct Waived {
  std::string reason;
  std::string expires;  ///< a date, `2027-01-31`
  Verdict verdict = Verdict::fail;
};

/// One judged case. Words, not enumerations: a report may come from a suite that knows more checks than this one.
struct Record {
  std::string id;
  std::string operation, mode, dtype, check;
  Outcome outcome;
  std::optional<Waived> waived;      ///< where the verdict is `waived`
  std::vector<std::string> classes;  ///< of numbers and shapes that the case holds
  std::string case_json;  ///< types of a passing case, the whole (shrunk) case of a failing one; empty for none
  std::string reproduction;  ///< a script in the backend's own language, where there is one
};

/// What was asked, where that is not everything.
struct Selection {
  std::vector<std::string> operations, modes, dtypes;
  std::string shard;  ///< `2/5`
  std::vector<std::string> checks{};
  std::string profile{};  ///< that was asked for by name
};

/// What the backend says that it offers.
struct Offered {
  std::optional<std::vector<std::string>> operations{};  ///< nothing for all
  std::vector<std::string> dtypes{}, modes{};
};

/// What a run is about.
struct Header {
  std::string backend, version;
  std::string command;  ///< what a replay says after `--backend`
  std::string replay{};  ///< the line of a replay where the command makes none; `ID` stands for a case's id
  std::string contract_json, contract_text;
  std::string tier;
  std::string specification;  ///< the hash of all definitions
  std::uint64_t seed = 1;
  std::size_t operations_known = 0;
  Selection selection;
  std::optional<Offered> offered{};  ///< nothing in reports that do not say
};

/// The line that asks a case again: `written` with the id in place of `ID`, or the command's where nothing is written.
/// \param command what the command says after `--backend`
[[nodiscard]] std::string replay_line(const std::string& written, const std::string& command, const std::string& id);

/// The text of an operation that has failures, for readers.
struct Equations {
  std::string operation;
  std::string text;
  std::vector<std::string> operands;
};

/// A waiver of the run, and how many failures it matched.
struct WaiverUse {
  std::string operation, mode, check, dtype;  ///< empty where the waiver does not say
  std::string reason, expires;
  std::size_t matched = 0;
};

/// `softmax vjp f32`: what a waiver is about.
[[nodiscard]] std::string words_of(const WaiverUse& use);

struct Report {
  Header header;
  std::vector<Equations> equations;
  std::vector<Record> records;  ///< sorted by id
  std::vector<WaiverUse> waivers;
  std::vector<std::string> waiver_errors;  ///< waivers that match nothing or have expired: the run fails
  double seconds = 0;
  bool whole = true;  ///< false for the file of an interrupted run
};

/// A failure, a crash or a timeout.
[[nodiscard]] bool is_bad(Verdict verdict);

/// In one line what is wrong: the reason, or the element, what was expected there and what was got.
[[nodiscard]] std::string finding(const Outcome& outcome);
/// `y[3]: expected in [1, 2] or nan, got 3`
[[nodiscard]] std::string difference(const Offender& offender);

struct Totals {
  std::array<std::size_t, verdict_count> verdicts{};
  std::size_t comparisons = 0;
  std::size_t undecided = 0;  ///< comparisons where the bound says nothing useful
  bool answered = false;      ///< something was compared that says what is computed: to refuse what is ill-typed does not
  [[nodiscard]] std::size_t of(Verdict v) const { return verdicts[static_cast<std::size_t>(v)]; }
  [[nodiscard]] std::size_t bad() const { return of(Verdict::fail) + of(Verdict::crashed) + of(Verdict::timeout); }
  void add(const Record& record);
};

[[nodiscard]] Totals totals_of(const std::vector<Record>& records);

/// What was compared: how many operations, and the largest profile all of whose modes were.
struct Covered {
  std::size_t operations = 0;
  std::vector<std::string> modes;       ///< of which numbers were compared, in the protocol's order
  std::optional<Profile> profile;
  /// `training, 43 operations`; the modes where they make no profile.
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] Covered covered(const std::vector<Record>& records);

/// How a run ends: `conforms: training, 43 operations`, or why it does not.
struct Conclusion {
  bool conforms = false;
  std::string text;
};
/// A share of a run in which nothing was compared concludes nothing, and is no failure; a whole run is. So is what was
/// offered and never compared, and a mode of the profile that was asked for of which nothing was.
[[nodiscard]] Conclusion conclusion(const Report& report);

/// Operations of which more than one element in a hundred is undecided: they are not reported as passing.
[[nodiscard]] std::vector<std::string> undecided_operations(const std::vector<Record>& records);

/// Errors of the long sums of one operation in one mode and element type that are larger than independent roundings
/// make them, in the root of the mean square. Statistical: it hints at operands or sums of less precision than the
/// contract says, and fails nobody.
struct Warning {
  std::string operation, mode, dtype;
  reference::Statistic statistic;
};

/// Warnings over all passing records, by operation, mode and element type.
[[nodiscard]] std::vector<Warning> statistical_warnings(const std::vector<Record>& records);

/// The shares of one run as one report. \throws SpecViolation when they are not of one run, or a case stands in two.
[[nodiscard]] Report merged(std::vector<Report> shares);

}  // namespace etalon::conformance
