#include "compiled/emit/llvm/debug_lines.hpp"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>

namespace etalon::compiled {

DebugLines::DebugLines(llvm::Module& module, const Source& source) : source_(source), debug_(module) {
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
  file_ = debug_.createFile(source.file.filename().string(), source.file.parent_path().string());
  // Debuggers know how to show a C program's lines and numbers; loops are no other language's.
  debug_.createCompileUnit(llvm::dwarf::DW_LANG_C99, file_, "etalon", true, "", 0);
  number_ = debug_.createBasicType("i64", 64, llvm::dwarf::DW_ATE_signed);
}

void DebugLines::begin(llvm::Function& function, const loops::Nest& nest) {
  const unsigned line = source_.listing.line_of(&nest);
  auto* type = debug_.createSubroutineType(debug_.getOrCreateTypeArray({nullptr}));
  function_ = debug_.createFunction(file_, function.getName(), function.getName(), file_, line, type, line, llvm::DINode::FlagZero,
                                    llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  function.setSubprogram(function_);
  // Callers of a kernel are found without guessing.
  function.setUWTableKind(llvm::UWTableKind::Default);
}

void DebugLines::at(llvm::IRBuilder<>& builder, const void* part) const {
  const unsigned line = source_.listing.line_of(part);
  if (line != 0) builder.SetCurrentDebugLocation(llvm::DILocation::get(builder.getContext(), line, 1, function_));
}

void DebugLines::is(llvm::IRBuilder<>& builder, const loops::Loop& loop, llvm::Value* value) {
  const llvm::DebugLoc& here = builder.getCurrentDebugLocation();
  if (!here) return;
  llvm::DILocalVariable* variable = debug_.createAutoVariable(function_, loop.binder.name, file_, here.getLine(), number_, true);
  debug_.insertDbgValueIntrinsic(value, variable, debug_.createExpression(), here, builder.GetInsertBlock());
}

void DebugLines::finish() { debug_.finalize(); }

}  // namespace etalon::compiled
