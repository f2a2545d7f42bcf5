/// \file
/// What was decided about a program as a list of lines that can be written out, changed and read back: one decision about one
/// value per line, such as `tile y rows=14 columns=32` or `join z off`. It knows what lines look like, not what they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::compiled {

/// A kind of decision. Some are switches: their lines say `on` or `off`. Those with parameters may be `off` where that is a decision too.
struct DecisionKind {
  std::string_view name;
  std::string_view what;
  std::vector<std::string_view> parameters{};
  bool has_off = true;
  bool orders_sums = false;  ///< a choice other than `off` may add terms in another order too
};

/// In the order in which they are taken.
[[nodiscard]] const std::vector<DecisionKind>& decision_kinds();

/// One decision. Its words are the kind's parameters in their order, or one of `on` and `off` without a value.
struct DecisionLine {
  std::string kind;
  std::string value;  ///< the address (below) of the equation that it is about, or the name of an input
  std::vector<std::pair<std::string, std::string>> words{};
  std::string where{};  ///< where it was read, such as `step.schedule:7`

  [[nodiscard]] bool is(std::string_view word) const { return words.size() == 1 && words[0].first == word; }
  /// The text of a parameter; empty where it has another form.
  [[nodiscard]] std::string_view word(std::string_view parameter) const;
  /// \throws SpecViolation where it is no number from `least` to `most`.
  [[nodiscard]] std::int64_t number(std::string_view parameter, std::int64_t least, std::int64_t most) const;
  /// \throws SpecViolation `step.schedule:7: tile y: why`, always
  [[noreturn]] void refuse(const std::string& why) const;
};

/// A switch's line.
[[nodiscard]] DecisionLine switched(std::string kind, std::string value, bool on);

/// `tile y rows=14 columns=32`
[[nodiscard]] std::string to_text(const DecisionLine& line);
[[nodiscard]] std::string to_text(std::span<const DecisionLine> lines);

/// Reads lines; what follows a # and empty lines say nothing.
/// \param file for messages
/// \throws SpecViolation naming file and line, for an unknown kind or parameter, one that is missing, and a decision that is there twice.
[[nodiscard]] std::vector<DecisionLine> decisions_in(const std::string& text, const std::string& file);

/// Per equation, by what name decisions speak of it: its target, and from the second equation with a target of that name on its number
/// among them, as in `y#2`.
[[nodiscard]] std::vector<std::string> addresses(const spec::System& system);

/// The decisions that are given and those that were taken. Each that is given must be taken as it is.
class Deciding {
 public:
  Deciding() = default;
  explicit Deciding(std::vector<DecisionLine> given) : given_(std::move(given)) {}

  /// What is given about a value, or null.
  [[nodiscard]] const DecisionLine* given(std::string_view kind, std::string_view value) const;
  [[nodiscard]] bool gives(std::string_view kind) const;
  /// Whether a switch is on: as given, else as `by_cost` says.
  [[nodiscard]] bool on(std::string_view kind, std::string_view value, bool by_cost) const;
  /// \throws SpecViolation where something else was given.
  void take(DecisionLine line);
  /// \throws SpecViolation for a line that is given about what there is nothing to decide.
  void check_all_taken() const;
  [[nodiscard]] const std::vector<DecisionLine>& taken() const { return taken_; }

 private:
  std::vector<DecisionLine> given_;
  std::vector<DecisionLine> taken_;
};

}  // namespace etalon::compiled
