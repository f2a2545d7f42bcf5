/// \file
/// The conformance suite: holds a backend to the definitions, through the backend interface only. It knows no
/// operation by name; every case is read off a definition's text.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/profile.hpp"
#include "conformance/reports/formats.hpp"
#include "conformance/reports/report.hpp"
#include "conformance/waivers.hpp"
#include "spec/backend.hpp"
#include "spec/contract/contract.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {

/// How much is asked: `quick` ends within a minute, `full` asks eight times as much, `soak` sixty-four times.
enum class Tier : std::uint8_t { quick, full, soak };
inline constexpr std::array<std::string_view, 3> tier_names{"quick", "full", "soak"};
[[nodiscard]] constexpr std::string_view name_of(Tier tier) { return tier_names[static_cast<std::size_t>(tier)]; }

/// The element types that a run may be about: those of operands and results that no definition fixes.
inline constexpr std::array real_dtypes{DType::f16, DType::bf16, DType::f32, DType::f64};
inline constexpr std::array<std::string_view, 4> real_dtype_names{name_of(real_dtypes[0]), name_of(real_dtypes[1]), name_of(real_dtypes[2]),
                                                                  name_of(real_dtypes[3])};

/// A share of a run: its operations are dealt out in turns. All shares together ask everything once.
struct Shard {
  std::size_t index = 1, count = 1;  ///< 1 <= index <= count
};

struct ConformOptions {
  std::string backend_name;             ///< as given on the command line; printed in replay lines
  std::string replay_line{};            ///< how a case is asked again where that is not by the command; `ID` stands for its id
  spec::Library library{};              ///< the specification
  std::string definitions_file{};       ///< where definitions of the user's own come from; printed in replay lines
  std::vector<std::string> operations;  ///< empty means all
  std::vector<spec::Mode> modes;        ///< empty means those of the profile, or else all that the backend offers
  std::optional<Profile> profile{};     ///< what "conforms" is to cover; of a run without it the report says what it covers
  std::vector<Check> checks{};          ///< empty means all of the tier
  std::vector<DType> dtypes;            ///< empty means f32 and f64, and beyond the quick tier f16 and bf16
  Tier tier = Tier::quick;
  std::uint64_t seed = 1;
  Shard shard{};
  std::optional<std::string> json_path;                     ///< one object per line; grows while the run goes on
  Formats formats{};                                        ///< further files for people and for machines
  std::optional<std::string> resume;                        ///< the JSON lines of an earlier run: what stands there is not asked
  std::vector<Waiver> waivers{};                            ///< failures that do not count
  std::string today{};                                      ///< the date that waivers are held against; empty is the clock's
  std::optional<std::string> coverage_path;                 ///< the table of classes that were met, as Markdown
  std::optional<std::string> case_folder;                   ///< where shrunk counterexamples are written as case files
  std::optional<std::string> replay;                        ///< an id, or the path of a case file
  bool dry_run = false;                                     ///< say what would be asked, and ask nothing
  std::optional<spec::Contract> contract;                   ///< instead of the one that the backend declares
  unsigned jobs = 2;                                        ///< threads; the report does not depend on their number; a single
                                                            ///< one without progress is the caller's
  std::function<std::unique_ptr<spec::Backend>()> another;  ///< one more of the same, for each further thread;
                                                            ///< without it the threads share one backend in turns
  std::function<void(const Record&)> on_record{};           ///< told of each result as it comes, by the thread that asked
  std::ostream* progress = nullptr;                         ///< the terminal that live progress is shown on
  std::function<std::size_t()> columns{};                   ///< its width; without it 80
  std::optional<std::size_t> width;                         ///< of the console, where that is a terminal
  std::ostream* errors = nullptr;                           ///< where a wrong set-up is told; the console by default
  std::size_t shrink_attempts = 400;                        ///< requests spent on shrinking one counterexample …
  double shrink_seconds = 30;                               ///< … and seconds, whatever ends first
  std::size_t most_explained = 6;                           ///< counterexamples that are made small and printed
};

/// Runs the suite. \returns 0 when the backend conforms, 1 when it does not (or nothing was compared), 2 when the run
/// could not be set up.
[[nodiscard]] int run_conform(const ConformOptions& options, spec::Backend& backend, std::ostream& console);

/// The run itself: what it found. What the backend throws that is no std::exception passes through, where there is one job.
/// \throws SpecViolation or IoError when the run could not be set up
[[nodiscard]] Report report_of(const ConformOptions& options, spec::Backend& backend, std::ostream& console);

/// Prints the ids of all cases that a run would ask, one per line; it needs no backend.
/// \returns 0, or 2 when there are none.
[[nodiscard]] int list_cases(const ConformOptions& options, std::ostream& console);

/// Prints one case with its numbers and what is expected of it; it needs no backend.
/// \param what an id, or the path of a case file
/// \returns 0. \throws SpecViolation, IoError
[[nodiscard]] int show_case(const ConformOptions& options, const std::string& what, std::ostream& console);

}  // namespace etalon::conformance
