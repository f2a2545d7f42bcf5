/// \file
/// What the texts of all languages have in common: identifiers of a program's tensors, what its kernels are called and say of
/// themselves, and where memory lies. It writes no statement.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compiled/compile.hpp"
#include "compiled/emit/text/names.hpp"
#include "compiled/emit/text/text.hpp"
#include "compiled/emit/text/words.hpp"
#include "compiled/task.hpp"

namespace etalon::compiled::source {

/// Passes, plan and loops for a text: one thread, or the threads of a grid, and contractions as plain loops.
/// \param machine one without vectors
[[nodiscard]] Compilation lower_for_text(const Task& task, const CompileOptions& options = {}, const Machine& machine = {});

/// One argument of the program: an input, or an output that is no update.
struct Argument {
  std::string name;
  spec::TensorId tensor = -1;
  bool written = false;
  bool is_output = false;
  const HostTensor* constant = nullptr;  ///< the value of an input that the text itself holds: no argument
};

/// A program with identifiers for everything.
class ProgramText {
 public:
  /// \param name what the program is called; made an identifier
  ProgramText(const Task& task, const Compilation& lowered, const std::string& name, Names&& file = Names()) : ProgramText(task, lowered, name, file) {}
  /// One of several programs of one text.
  /// \param file the identifiers that the text has so far; those of this program are added
  ProgramText(const Task& task, const Compilation& lowered, const std::string& name, Names& file);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Compilation& lowered() const { return lowered_; }
  [[nodiscard]] const Task& task() const { return task_; }
  /// Inputs in order, then outputs in order.
  [[nodiscard]] const std::vector<Argument>& arguments() const { return arguments_; }
  /// The identifier of each tensor; that of an output in place is its input's.
  [[nodiscard]] const std::vector<std::string>& tensors() const { return tensors_; }
  /// A scope with all of these taken.
  [[nodiscard]] const Names& names() const { return names_; }
  [[nodiscard]] std::string kernel_name(std::size_t k) const { return kernels_.at(k); }
  /// Its equations and where they come from, as comments.
  void describe_kernel(std::size_t k, Text& text) const;
  /// How long what the header says of a tensor is: `f32[4, 3]`.
  [[nodiscard]] std::string type_text(spec::TensorId t) const;
  /// Whether the memory of a tensor holds bytes of one of the others; memory of a kernel's own does not.
  [[nodiscard]] bool overlaps(spec::TensorId t, std::span<const spec::TensorId> others) const;
  /// Where memory begins: an argument, with `before` in front of its name, a constant, or a place in the workspace, as bytes.
  [[nodiscard]] std::string address(const Memory& memory, const std::string& before) const;
  /// The same as a pointer to elements of the tensor that lies there.
  [[nodiscard]] std::string pointer(const Operand& operand, const std::string& before) const;
  /// The constant that a tensor is, or nothing.
  [[nodiscard]] const Argument* constant(spec::TensorId t) const;

 private:
  void claim_arguments(Names& file);

  const Task& task_;
  const Compilation& lowered_;
  Names names_;
  std::string name_;
  std::vector<Argument> arguments_;
  std::vector<std::string> tensors_;
  std::vector<std::string> kernels_;
};

/// The elements of a constant, as an initialiser: numbers that read back bit for bit, NaN payloads aside.
[[nodiscard]] std::string initialiser(const HostTensor& value);

}  // namespace etalon::compiled::source
