/// \file
/// Kernels of a program that differ in names alone: the text of one serves them all, with other operands. It prints nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiled/emit/text/program_text.hpp"
#include "compiled/ir/script.hpp"

namespace etalon::cuda {

/// Which text each kernel has. Kernels share one where they are alike (compiled/ir/alike.hpp), read no constant, which stands in the text, and
/// the same ones of their operands share memory.
class SharedKernels {
 public:
  /// The program outlives it.
  explicit SharedKernels(const compiled::source::ProgramText& program);

  /// The kernel whose text it has; perhaps itself.
  [[nodiscard]] std::size_t model_of(std::size_t kernel) const { return models_[kernel]; }
  [[nodiscard]] std::string name_of(std::size_t kernel) const { return program_.kernel_name(model_of(kernel)); }
  /// What it is given but for constants, in the order of its text's parameters.
  [[nodiscard]] const std::vector<compiled::Operand>& operands_of(std::size_t kernel) const { return operands_[kernel]; }
  /// Of each operand, whether nobody else touches its memory in that kernel.
  [[nodiscard]] const std::vector<bool>& restricted(std::size_t kernel) const { return restricted_[kernel]; }

 private:
  [[nodiscard]] std::vector<bool> restricted_of(std::size_t kernel) const;

  const compiled::source::ProgramText& program_;
  std::vector<std::size_t> models_;
  std::vector<std::vector<compiled::Operand>> operands_;
  std::vector<std::vector<bool>> restricted_;
};

}  // namespace etalon::cuda
