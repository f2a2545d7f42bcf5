#include "compiled/emit/llvm/instruction_alone.hpp"

#include <algorithm>

#include "compiled/emit/llvm/kernel_function.hpp"

namespace etalon::compiled {

using llvm::Value;

namespace {

llvm::Type* type_in_memory(llvm::LLVMContext& context, DType dtype) {
  if (dtype == DType::f32) return llvm::Type::getFloatTy(context);
  if (dtype == DType::f64) return llvm::Type::getDoubleTy(context);
  constexpr unsigned bits_of_a_byte = 8;
  return llvm::Type::getIntNTy(context, static_cast<unsigned>(size_of(dtype)) * bits_of_a_byte);
}

llvm::Type* of_lanes(llvm::Type* type, std::int64_t lanes) {
  if (lanes == 1) return type;
  return llvm::FixedVectorType::get(type, static_cast<unsigned>(lanes));
}

}  // namespace

void emit_alone(InstructionWriter& writer, llvm::Module& module, const std::string& name, const Instruction& i, DType type,
                std::int64_t lanes, const Machine& machine) {
  llvm::Function& f = kernel_function(module, name, machine);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module.getContext(), "entry", &f));
  const InstructionSignature signature = signature_of(i, type, lanes);
  const std::vector<std::string> named = values_named(i);
  std::uint64_t place = 0;
  const auto next_pointer = [&] { return b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), f.getArg(0), place++)); };
  std::vector<Value*> values;
  for (const InstructionValue& o : signature.operands) {
    Value* memory = next_pointer();
    if (std::find(named.begin(), named.end(), o.name) == named.end()) continue;
    if (!is_in_memory(i, o.name)) memory = b.CreateAlignedLoad(of_lanes(type_in_memory(b.getContext(), o.dtype), o.dims[0]), memory, llvm::Align(1));
    values.push_back(o.mask ? b.CreateICmpNE(memory, llvm::Constant::getNullValue(memory->getType())) : memory);
  }
  Value* result = next_pointer();
  if (is_in_memory(i, signature.result.name)) values.push_back(result);
  llvm::Type* vector = of_lanes(type_in_memory(b.getContext(), type), lanes);
  // What goes around the caches is stored in whole vectors.
  const llvm::Align align(std::max<std::uint64_t>(size_of(type), wants_whole_vectors(i) ? size_of(type) * static_cast<std::uint64_t>(lanes) : 1));
  if (Value* made = writer.write(b, i, vector, values, align)) b.CreateAlignedStore(made, result, llvm::Align(1));
  b.CreateRetVoid();
}

}  // namespace etalon::compiled
