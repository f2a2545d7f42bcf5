#include "compiled/emit/llvm/object_writer.hpp"

#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include "spec/error.hpp"

namespace etalon::compiled {

ObjectWriter::ObjectWriter(llvm::TargetMachine& target) {
  llvm::MCContext* context = nullptr;
  if (target.addPassesToEmitMC(passes_, context, out_)) throw InternalError("codegen: this machine has no objects");
}

std::unique_ptr<llvm::MemoryBuffer> ObjectWriter::object_of(llvm::Module& module) {
  bytes_.clear();
  passes_.run(module);
  return llvm::MemoryBuffer::getMemBufferCopy({bytes_.data(), bytes_.size()}, module.getModuleIdentifier());
}

}  // namespace etalon::compiled
