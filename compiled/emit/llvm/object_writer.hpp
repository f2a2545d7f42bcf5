/// \file
/// Objects from intermediate code. LLVM's passes are set up once: for the small modules of a program that costs as much
/// as running them.
#pragma once

#include <memory>

#include <boost/core/noncopyable.hpp>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Support/raw_ostream.h>

#include "compiled/emit/llvm/effort.hpp"

namespace llvm {
class MemoryBuffer;
class Module;
class TargetMachine;
}  // namespace llvm

namespace etalon::compiled {

/// Adds all passes that make machine code of intermediate code. \throws InternalError where the machine has no such form
void add_code_passes(llvm::legacy::PassManager& passes, llvm::TargetMachine& target, llvm::raw_pwrite_stream& out, llvm::CodeGenFileType form,
                     Effort effort);

/// Writes one object after another, on one thread at a time. The machine outlives it.
class ObjectWriter : boost::noncopyable {
 public:
  /// \throws InternalError where the machine has no objects
  ObjectWriter(llvm::TargetMachine& target, Effort effort);

  /// The object of a module, which becomes machine code on the way.
  [[nodiscard]] std::unique_ptr<llvm::MemoryBuffer> object_of(llvm::Module& module);

 private:
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream out_{bytes_};
  llvm::legacy::PassManager passes_;
};

}  // namespace etalon::compiled
