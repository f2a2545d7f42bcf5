/// \file
/// Intervals of a run explained by a trace: another system wrote down what each step computed, every value has to lie in the
/// interval that its equation gives on the trace's own operands, and the state that follows is the one committed to, to the
/// bit. It computes no step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "spec/contract/contract.hpp"
#include "tools/log/diff.hpp"
#include "tools/log/log.hpp"
#include "training/certificate/replay.hpp"
#include "training/declared_rows.hpp"
#include "training/leaves/tree_sum.hpp"

namespace etalon::assurance {

/// Reads a folder of safetensors files:
/// `data.safetensors`, the inputs of the step's program that are neither state nor indices, whose SHA-256 is the run's data: where
/// the run's task ships it may be missing, since rows and their order follow from the declaration;
/// `state-N.safetensors`, the state after N steps, for the first of an interval;
/// `step-N.safetensors`, the N-th step from 1: every value that the program names, and any of its locals, by name;
/// of a step of several leaves `step-N-leaf-J.safetensors`, J from 0, the same of each leaf, and `step-N.safetensors` that of the
/// update, with the sums that it is given.
class Explanation {
 public:
  /// \param contract what the other system keeps
  /// \param data of a task that ships, instead of the file that it has
  /// \throws IoError; SpecViolation where the data is not the run's, or a task that ships has another step
  Explanation(const training::Declaration& declaration, std::filesystem::path trace, const spec::Contract& contract,
              const std::filesystem::path& data = {});

  /// What was found of an interval, from the state before it: also that it has other steps than the declaration asks for, or that
  /// no element of it is held to a bound. \param lines of the journal \param at from 0
  /// \throws IoError for a file that is missing or no trace; SpecViolation where an assignment takes too long to judge
  [[nodiscard]] training::Replayed interval(const std::vector<training::JournalLine>& lines, std::size_t at);

  [[nodiscard]] std::size_t elements() const { return elements_; }    ///< that were held to bounds so far
  [[nodiscard]] std::size_t undecided() const { return undecided_; }  ///< beside them: the bound says nothing, and any value passes

  /// What the trace says of a step, from the state before it: one log, or of several leaves one of each, of the sums of what they
  /// gave, and of the update. \throws as interval
  [[nodiscard]] std::vector<logging::Log> logs_of(std::int64_t number, const training::Named& state);
  /// How an interval does not begin as the journal says, one line; nothing where it does. \param state is filled in \throws IoError
  [[nodiscard]] std::string begin(const std::vector<training::JournalLine>& lines, std::size_t at, training::Named& state) const;
  /// How the trace of an interval does not come to what the journal says of it, one line; nothing where it does. It judges no value.
  /// \throws as interval
  [[nodiscard]] std::string departure(const std::vector<training::JournalLine>& lines, std::size_t at);
  /// Makes the state that before a step the one after it. \param step the last of its logs
  /// \throws IoError where the trace does not say what it is
  static void advance(training::Named& state, const logging::Log& step);

 private:
  /// A step's trace held to the program: what is wrong, or nothing. The state becomes the one after it.
  [[nodiscard]] std::string step(std::int64_t number, training::Named& state, std::vector<double>& losses);
  [[nodiscard]] std::string length_fault(const std::vector<training::JournalLine>& lines, std::size_t at) const;
  /// The state after so many steps that the trace holds. \param digest is filled in with the SHA-256 of its file \throws IoError
  [[nodiscard]] training::Named state_after(std::int64_t number, std::string& digest) const;
  /// \param counted the step's number from 0, in a leaf's program times the leaves and the leaf's number
  [[nodiscard]] std::vector<HostTensor> inputs_of(const spec::Program& program, std::int64_t counted, const training::Named& data,
                                                  const training::Named& state) const;
  [[nodiscard]] logging::Log log_of(const spec::Program& program, std::vector<HostTensor> inputs, const training::Named& values,
                                    const std::string& file) const;
  [[nodiscard]] logging::Log log_of_sums(const std::vector<training::Summands>& terms, const training::Named& sums,
                                         const std::string& file) const;
  [[nodiscard]] std::filesystem::path file_of(std::int64_t number) const;

  std::vector<spec::Program> programs_;  ///< as step_programs
  std::int64_t leaves_;                  ///< of a step
  std::filesystem::path trace_;
  spec::Contract contract_;
  std::string start_;  ///< digest of the state before the first step
  std::int64_t interval_;  ///< steps of each interval but the last
  training::Named data_;                            ///< of all steps; empty where the declaration says which rows they are
  std::optional<training::DeclaredRows> rows_;
  std::size_t elements_ = 0;
  std::size_t undecided_ = 0;
};

/// Where two traces of one run first differ.
struct DisputedStep {
  std::int64_t step = 0;           ///< from 1
  logging::Comparison comparison;  ///< of both, each judged on its own operands, which are the same up to the first difference
};
/// A folder of a run: its trace and its journal.
struct Side {
  Explanation& trace;
  const std::vector<training::JournalLine>& lines;
};
/// What two folders of one run come to in an interval.
struct DisputedInterval {
  std::optional<DisputedStep> step;       ///< nothing where no value differs
  std::array<std::string, 2> departures;  ///< how each trace does not come to its own journal, which makes its side wrong
};
/// \param at from 0, the first interval in which the journals differ
/// \throws as Explanation::interval, but for files that are missing after the step that is found
[[nodiscard]] DisputedInterval dispute(const Side& first, const Side& second, std::size_t at);

}  // namespace etalon::assurance
