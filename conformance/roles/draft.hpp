/// \file
/// A program that grows call by call: what calls gave, who reads it, what stays hidden. A call is kept whole or leaves nothing
/// behind. It knows no roles, and no operation by name.
#pragma once

#include <span>
#include <string>

#include "conformance/roles/calls.hpp"

namespace etalon::conformance {

/// What a call gave.
struct Result {
  std::string name;
  spec::ValueType type;
  bool of_subject = false;  ///< of the definition that the program is about
  bool read = false;
  bool hidden = false;  ///< no output where a call reads it
};

/// Some results that follow each other.
struct Window {
  std::size_t first = 0, behind = std::string::npos;
};

/// Per operand of a call the value of the program that it reads, or nothing.
using Taken = std::vector<std::optional<std::string>>;

/// Operands of this type read the values, in order, as far as both reach.
[[nodiscard]] Taken taken_where(const DrawnCall& call, const spec::ValueType& type, const std::vector<std::string>& values);

class Draft {
 public:
  Draft(const ProgramWish& wish, Draw& draw, Calls& calls, const Admission& admits) : wish_(wish), draw_(draw), drawing_(calls), admits_(admits) {}

  /// Whether the first call is to be doubled, have twins or be alike, where that is wished for. It is from the beginning.
  void insist(bool insists) { insists_ = insists; }

  /// Adds the call. Operands that take nothing, and those beyond the end of `taken`, read an input that is there, as often as
  /// wished, or a new one.
  /// \returns whether it may stay
  bool add(DrawnCall call, Taken taken = {});
  /// The same, and its first result is hidden. \returns the name of that; nothing where the call may not stay
  std::optional<std::string> add_hidden(DrawnCall call, Taken taken = {});
  void hide(std::size_t result) { results_[result].hidden = true; }

  [[nodiscard]] bool empty() const { return calls_.empty(); }
  [[nodiscard]] const std::vector<DrawnCall>& calls() const { return calls_; }
  /// What a call reads.
  [[nodiscard]] const Taken& read_by(std::size_t call) const;
  [[nodiscard]] const std::vector<Result>& results() const { return results_; }
  [[nodiscard]] std::span<const Result> results(const Window& window) const;
  [[nodiscard]] const std::vector<spec::Input>& inputs() const { return program_.inputs; }
  /// Names of the inputs of this type.
  [[nodiscard]] std::vector<std::string> inputs_of(const spec::ValueType& type) const;

  /// The program, whose outputs are drawn now. To be called once, and last.
  [[nodiscard]] RandomProgram finished();

 private:
  [[nodiscard]] bool is_wished_for(const DrawnCall& first);
  void share_inputs(const DrawnCall& call, Taken& taken);
  [[nodiscard]] Taken operands_of(const DrawnCall& call, const Taken& taken);
  std::string add_input(const spec::ValueType& type);
  void keep(DrawnCall call, const Taken& taken);

  const ProgramWish& wish_;
  Draw& draw_;
  Calls& drawing_;
  const Admission& admits_;
  bool insists_ = true;
  spec::Program program_;
  std::vector<DrawnCall> calls_;
  std::vector<Result> results_;
};

}  // namespace etalon::conformance
