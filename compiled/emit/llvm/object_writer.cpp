#include "compiled/emit/llvm/object_writer.hpp"

#include <initializer_list>

#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include "spec/error.hpp"

namespace etalon::compiled {
namespace {

// Of machine code what orders instructions and saves a few; what leaves loops stays.
const std::initializer_list<llvm::AnalysisID> left_out_in_haste{
    &llvm::BranchFolderPassID,    &llvm::DetectDeadLanesID,  &llvm::EarlyIfConverterID,          &llvm::EarlyTailDuplicateID,
    &llvm::LiveRangeShrinkID,     &llvm::MachineCombinerID,  &llvm::MachineCSEID,                &llvm::MachineLateInstrsCleanupID,
    &llvm::MachineSchedulerID,    &llvm::OptimizePHIsID,     &llvm::PostMachineSchedulerID,      &llvm::PostRAMachineSinkingID,
    &llvm::PostRASchedulerID,     &llvm::StackColoringID,    &llvm::RenameIndependentSubregsID,  &llvm::StackSlotColoringID,
    &llvm::TailDuplicateID};

/// In haste each instruction is selected as it stands, without what LLVM does to the code before.
void select_instructions(llvm::TargetPassConfig& config, llvm::TargetMachine& target, Effort effort) {
  const llvm::CodeGenOptLevel level = target.getOptLevel();
  target.setO0WantsFastISel(false);  // that one knows no vectors
  if (effort == Effort::hasty) target.setOptLevel(llvm::CodeGenOptLevel::None);
  const bool failed = config.addISelPasses();
  target.setOptLevel(level);
  if (failed) throw InternalError("codegen: this machine has no instructions");
}

}  // namespace

// As LLVM's `addPassesToEmitFile` does it, which leaves no choice.
void add_code_passes(llvm::legacy::PassManager& passes, llvm::TargetMachine& target, llvm::raw_pwrite_stream& out, llvm::CodeGenFileType form,
                     Effort effort) {
  auto& machine = static_cast<llvm::LLVMTargetMachine&>(target);
  auto* functions = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  passes.add(config);
  passes.add(functions);
  config->setDisableVerify(true);
  if (effort == Effort::hasty) {
    for (const llvm::AnalysisID pass : left_out_in_haste) config->disablePass(pass);
  }
  select_instructions(*config, target, effort);
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, out, nullptr, form, functions->getMMI().getContext())) {
    throw InternalError("codegen: this machine has no objects or no assembly");
  }
  passes.add(llvm::createFreeMachineFunctionPass());
}

ObjectWriter::ObjectWriter(llvm::TargetMachine& target, Effort effort) {
  add_code_passes(passes_, target, out_, llvm::CodeGenFileType::ObjectFile, effort);
}

std::unique_ptr<llvm::MemoryBuffer> ObjectWriter::object_of(llvm::Module& module) {
  bytes_.clear();
  passes_.run(module);
  return llvm::MemoryBuffer::getMemBufferCopy({bytes_.data(), bytes_.size()}, module.getModuleIdentifier());
}

}  // namespace etalon::compiled
