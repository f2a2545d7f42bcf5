#include "compiled/emit/llvm/instruction_writer.hpp"

#include <string>
#include <utility>

#include <boost/core/noncopyable.hpp>

#include <llvm/ADT/DenseMap.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "spec/error.hpp"
#include "spec/notation/parse.hpp"

namespace etalon::compiled {

using llvm::Value;

namespace {

constexpr std::string_view open_vector = "<n x ";

std::string text_of(const llvm::Type& type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

void replace_all(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
}

/// `<n x i32>` and `splat (i32 16)` of one lane are `i32` and `16`.
void make_scalar(std::string& text) {
  for (std::size_t at = text.find(open_vector); at != std::string::npos; at = text.find(open_vector, at)) {
    text.erase(text.find('>', at), 1);
    text.erase(at, open_vector.size());
  }
  constexpr std::string_view splat = "splat (";
  for (std::size_t at = text.find(splat); at != std::string::npos; at = text.find(splat, at)) {
    text.erase(text.find(')', at), 1);
    text.erase(at, text.find(' ', at + splat.size()) + 1 - at);
  }
}

std::string instantiated(const Instruction& i, const llvm::Type& type, llvm::Align align) {
  std::string text(i.llvm);
  replace_all(text, "ALIGN", std::to_string(align.value()));
  replace_all(text, "<n x T>", text_of(type));
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type)) {
    replace_all(text, open_vector, "<" + std::to_string(vector->getNumElements()) + " x ");
  } else {
    make_scalar(text);
  }
  return text;
}

bool names(std::string_view text, const std::string& value) {
  const std::string word = "%" + value;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (text.find_first_of(" ,)\n", at) == at + word.size() || at + word.size() == text.size()) return true;
  }
  return false;
}

/// LLVM reads no text while it discards names.
class KeepingNames : boost::noncopyable {
 public:
  explicit KeepingNames(llvm::LLVMContext& context) : context_(context), discards_(context.shouldDiscardValueNames()) {
    context_.setDiscardValueNames(false);
  }
  ~KeepingNames() { context_.setDiscardValueNames(discards_); }

 private:
  llvm::LLVMContext& context_;
  bool discards_;
};

}  // namespace

std::vector<std::string> values_named(const Instruction& i) {
  const spec::Definition d = spec::parse(i.meaning);
  std::vector<std::string> values;
  for (std::size_t o = 0; o < d.operand_count; ++o) {
    if (std::string name(d.at(d.operands[o].name)); names(i.llvm, name)) values.push_back(std::move(name));
  }
  if (const std::string_view result = d.at(d.results[0].name); is_in_memory(i, result)) values.emplace_back(result);
  return values;
}

const llvm::Function& InstructionWriter::body_of(const Instruction& i, llvm::Type* type, const std::vector<Value*>& values, llvm::Align align) {
  std::unique_ptr<llvm::Module>& body = bodies_[{i.llvm, type, align.value()}];
  if (body == nullptr) {
    const std::vector<std::string> named = values_named(i);
    if (named.size() != values.size()) {
      throw InternalError("codegen: " + std::string(name_of(i)) + " takes " + std::to_string(named.size()) + " values, found " + std::to_string(values.size()));
    }
    std::string parameters;
    for (std::size_t v = 0; v < values.size(); ++v) parameters += (v == 0 ? "" : ", ") + text_of(*values[v]->getType()) + " %" + named[v];
    const std::string text = "define void @body(" + parameters + ") {\n" + instantiated(i, *type, align) + "\n  ret void\n}\n!0 = !{i32 1}\n";
    const KeepingNames keeping(module_.getContext());
    llvm::SMDiagnostic complaint;
    body = llvm::parseAssemblyString(text, complaint, module_.getContext());
    if (body == nullptr) throw InternalError("codegen: " + std::string(name_of(i)) + ": " + complaint.getMessage().str() + ": " + complaint.getLineContents().str());
  }
  return *body->getFunction("body");
}

Value* InstructionWriter::write(llvm::IRBuilder<>& builder, const Instruction& i, llvm::Type* type, const std::vector<Value*>& values, llvm::Align align) {
  const llvm::Function& body = body_of(i, type, values, align);
  llvm::DenseMap<const Value*, Value*> standing;  ///< what stands for the values of the body
  for (const llvm::Argument& a : body.args()) standing[&a] = values[a.getArgNo()];
  Value* last = nullptr;
  for (const llvm::Instruction& one : body.getEntryBlock()) {
    if (one.isTerminator()) break;
    llvm::Instruction* copy = one.clone();
    for (llvm::Use& operand : copy->operands()) {
      if (const auto found = standing.find(operand.get()); found != standing.end()) operand.set(found->second);
    }
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(copy)) {
      const llvm::Function* called = call->getCalledFunction();
      call->setCalledFunction(module_.getOrInsertFunction(called->getName(), called->getFunctionType(), called->getAttributes()));
    }
    standing[&one] = last = builder.Insert(copy);
  }
  return last != nullptr && last->getType()->isVoidTy() ? nullptr : last;
}

}  // namespace etalon::compiled
