#include "compiled/emit/llvm/counting.hpp"

#include <llvm/IR/Function.h>

namespace etalon::compiled {

void count_up(llvm::IRBuilder<>& b, llvm::Value* begin, llvm::Value* end, const std::function<void(llvm::Value* i)>& body) {
  llvm::LLVMContext& context = b.getContext();
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::Function* function = before->getParent();
  auto* head = llvm::BasicBlock::Create(context, "loop", function);
  auto* inner = llvm::BasicBlock::Create(context, "body", function);
  auto* after = llvm::BasicBlock::Create(context, "after", function);
  b.CreateBr(head);
  b.SetInsertPoint(head);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(begin, before);
  b.CreateCondBr(b.CreateICmpSLT(i, end), inner, after);
  b.SetInsertPoint(inner);
  body(i);
  i->addIncoming(b.CreateNSWAdd(i, b.getInt64(1)), b.GetInsertBlock());
  b.CreateBr(head);
  b.SetInsertPoint(after);
}

void only_if(llvm::IRBuilder<>& b, llvm::Value* condition, const char* name, const std::function<void()>& body) {
  llvm::Function* function = b.GetInsertBlock()->getParent();
  auto* then = llvm::BasicBlock::Create(b.getContext(), name, function);
  auto* after = llvm::BasicBlock::Create(b.getContext(), "after", function);
  b.CreateCondBr(condition, then, after);
  b.SetInsertPoint(then);
  body();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

}  // namespace etalon::compiled
