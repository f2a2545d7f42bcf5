/// \file
/// What is certified of a training run, as an in-toto Statement (version 1) with a predicate of our own. It signs nothing
/// and runs nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "training/run/environment.hpp"

namespace etalon::training {

/// What auditors are promised.
enum class Level : std::uint8_t {
  bitwise,   ///< who computes an interval again gets its digests
  explained  ///< a trace exists whose values lie within the bounds of their equations and whose updates are the states
};

/// Which steps were checked while a run trained, and what that came to: as the journal says, which nobody need believe.
struct Checked {
  std::string policy;          ///< as in the declaration
  std::int64_t replayed = 0;   ///< steps
  std::int64_t judged = 0;     ///< steps
  std::int64_t transient = 0;  ///< faults that did not repeat
  friend bool operator==(const Checked&, const Checked&) = default;
};

struct Certificate {
  struct Subject {
    std::string name;    ///< of a file
    std::string sha256;  ///< of its bytes, 64 digits
    friend bool operator==(const Subject&, const Subject&) = default;
  };

  std::vector<Subject> subjects;  ///< the trained model's files
  std::string declaration;        ///< the text of run.json
  std::string start;              ///< digest of the state before the first step
  std::string end;                ///< digest of the last state
  std::int64_t leaves = 0;        ///< how many intervals
  std::string root;               ///< Merkle root of the intervals' lines
  std::vector<Environment> environments;  ///< on which it was begun, and gone on with: the trainer's word
  std::map<std::string, double> metrics;  ///< finite numbers
  Level level = Level::bitwise;
  std::optional<Checked> checked{};       ///< nothing where no step was to be checked

  /// SHA-256 of the declaration.
  [[nodiscard]] std::string run() const;
  friend bool operator==(const Certificate&, const Certificate&) = default;
};

/// The media type of statements.
inline constexpr std::string_view statement_type = "application/vnd.in-toto+json";

/// The statement's text: the same certificate gives the same bytes; numbers are hexadecimal.
/// \throws SpecViolation naming a metric that is not finite
[[nodiscard]] std::string to_statement(const Certificate& certificate);

/// \param source what the statement is called in errors
/// \throws IoError: as StrictJson, another type of statement or predicate, a field nobody knows, a declaration whose digest
/// is not the run's, no subject, or a number that is none
[[nodiscard]] Certificate read_statement(std::string_view json, const std::string& source);

}  // namespace etalon::training
