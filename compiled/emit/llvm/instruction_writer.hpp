/// \file
/// Instructions of the table as instructions of a module, from their texts. It knows no row.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiled/machine/instruction.hpp"

namespace etalon::compiled {

/// Writes into one module, which outlives it.
class InstructionWriter {
 public:
  explicit InstructionWriter(llvm::Module& module) : module_(module) {}

  /// Writes it where the builder stands.
  /// \param type a vector of T, or T alone
  /// \param values operands, then the result's address, without those that the text does not name
  /// \param align of what the address is a multiple
  /// \returns the result; null where it lies in memory
  /// \throws InternalError for a text that is not in LLVM's assembly, with what LLVM says of it
  llvm::Value* write(llvm::IRBuilder<>& builder, const Instruction& i, llvm::Type* type, const std::vector<llvm::Value*>& values,
                     llvm::Align align = llvm::Align(1));

 private:
  [[nodiscard]] const llvm::Function& body_of(const Instruction& i, llvm::Type* type, const std::vector<llvm::Value*>& values, llvm::Align align);

  llvm::Module& module_;
  std::map<std::tuple<std::string_view, llvm::Type*, std::uint64_t>, std::unique_ptr<llvm::Module>> bodies_;  ///< each of one function
};

/// The names of the values that the instruction's text takes, in their order.
[[nodiscard]] std::vector<std::string> values_named(const Instruction& i);

}  // namespace etalon::compiled
