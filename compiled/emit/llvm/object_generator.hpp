/// \file
/// Objects from kernels, for any machine that LLVM makes code for, this one or another. It does not run them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include "compiled/emit/code_generator.hpp"
#include "compiled/emit/kept_code.hpp"
#include "compiled/emit/llvm/debug_lines.hpp"
#include "compiled/emit/llvm/effort.hpp"
#include "compiled/emit/llvm/instruction_writer.hpp"
#include "compiled/emit/llvm/object_writer.hpp"
#include "compiled/ir/listing.hpp"
#include "compiled/machine/machine.hpp"

namespace etalon::compiled {

/// A machine as LLVM sees it, with the settings of which bits depend. \throws InternalError where LLVM does not know it
[[nodiscard]] llvm::orc::JITTargetMachineBuilder target_of(const Machine& machine);
/// The same for the machine that this runs on. \param model with what that model of LLVM's has, or empty for all that is there
/// \throws InternalError
[[nodiscard]] llvm::orc::JITTargetMachineBuilder target_of_host(std::string_view model);

/// Makes objects for one machine. Several threads may use one at the same time.
class ObjectGenerator {
 public:
  /// \param cache a folder in which objects are kept; empty keeps none
  ObjectGenerator(const Machine& machine, llvm::orc::JITTargetMachineBuilder target, const std::filesystem::path& cache);

  [[nodiscard]] const Machine& machine() const { return machine_; }

 private:
  friend class ObjectGeneration;
  Machine machine_;
  std::mutex mutex_;  ///< of all below: LLVM's machines serve one thread at a time
  std::unique_ptr<llvm::TargetMachine> target_;
  ObjectWriter writer_, hasty_writer_;
  KeptCode kept_;
  std::string maker_;  ///< what objects depend on besides their module
};

/// The object of one program in the making. Kernel i is the function `kernel_i`, or that of the kernel that it is alike.
class ObjectGeneration : public CodeGenerator {
 public:
  ObjectGeneration(std::shared_ptr<ObjectGenerator> generator, Wanted wanted);

  void emit(const spec::System& system, const std::vector<loops::Nest>& nests) override;
  /// An instruction as a kernel of its own. \param lanes where its meaning leaves their number open
  void emit(const Instruction& i, DType type, std::int64_t lanes);
  void merge() override;
  void look_up() override;
  void simplify() override;
  void generate() override;
  /// An object is linked by others: nothing is left to do but to let other threads go on.
  void link() override { alone_.unlock(); }
  void verify() const override;
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] std::string assembly() const override { return assembly_; }

  /// After `link`.
  [[nodiscard]] std::unique_ptr<llvm::MemoryBuffer> take_object() { return std::move(object_); }
  /// Of each kernel, whose function it runs.
  [[nodiscard]] const std::vector<std::size_t>& models() const { return models_; }
  /// Extent of each kernel's parallel loop, in blocks; 1 without one.
  [[nodiscard]] const std::vector<std::int64_t>& blocks() const { return blocks_; }
  [[nodiscard]] static std::string symbol(std::size_t kernel) { return "kernel_" + std::to_string(kernel); }

 protected:
  std::shared_ptr<ObjectGenerator> generator_;
  Wanted wanted_;
  std::optional<Source> source_;
  std::optional<DebugLines> lines_;
  std::vector<std::string> names_;
  std::vector<std::size_t> models_;
  std::vector<std::int64_t> blocks_;
  bool cached_ = false;
  std::unique_ptr<llvm::MemoryBuffer> object_;
  std::unique_lock<std::mutex> alone_;

 private:
  Effort effort_ = Effort::full;
  std::unique_ptr<llvm::LLVMContext> context_ = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module_ = std::make_unique<llvm::Module>("etalon", *context_);
  InstructionWriter instructions_{*module_};
  std::optional<loops::Listing> listing_;
  std::string key_;
  std::string assembly_;
};

}  // namespace etalon::compiled
