#include "compiled/emit/llvm/kernel_function.hpp"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>

namespace etalon::compiled {

llvm::Function& kernel_function(llvm::Module& module, const std::string& name, VectorLevel level) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* number = llvm::Type::getInt64Ty(context);
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, number, number, pointer}, false);
  llvm::Function* f = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  f->setDoesNotThrow();
  f->addParamAttr(scratch_argument, llvm::Attribute::NoAlias);
  f->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  if (level == VectorLevel::avx512) {
    f->addFnAttr("prefer-vector-width", "512");
    f->addFnAttr("min-legal-vector-width", "512");
  }
  return *f;
}

}  // namespace etalon::compiled
