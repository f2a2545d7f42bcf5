#include "compiled/emit/llvm/kernel_function.hpp"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>

namespace etalon::compiled {
namespace {

constexpr unsigned bits_of_f32 = 32;
constexpr unsigned preferred_bits = 256;  // wider vectors LLVM uses where it is told to

}  // namespace

llvm::Function& kernel_function(llvm::Module& module, const std::string& name, const Machine& machine) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* number = llvm::Type::getInt64Ty(context);
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, number, number, pointer}, false);
  llvm::Function* f = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  f->setDoesNotThrow();
  f->addParamAttr(scratch_argument, llvm::Attribute::NoAlias);
  f->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  if (const unsigned bits = machine.lanes_f32 * bits_of_f32; bits > preferred_bits) {
    f->addFnAttr("prefer-vector-width", std::to_string(bits));
    f->addFnAttr("min-legal-vector-width", std::to_string(bits));
  }
  return *f;
}

}  // namespace etalon::compiled
