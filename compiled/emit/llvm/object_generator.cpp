#include "compiled/emit/llvm/object_generator.hpp"

#include <utility>

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiled/emit/llvm/instruction_alone.hpp"
#include "compiled/emit/llvm/nest_emitter.hpp"
#include "compiled/emit/llvm/required.hpp"
#include "compiled/ir/alike.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace orc = llvm::orc;

namespace {

// Kernels that are not alike and whose code is equal become one.
constexpr const char* merging = "mergefunc";
// What LLVM's code generator expects of those who call it.
constexpr const char* simplification = "function(mem2reg,early-cse<memssa>,loop-mssa(licm))";

void run_passes(const char* pipeline, llvm::Module& module, llvm::TargetMachine& target) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  required(builder.parsePassPipeline(passes, pipeline));
  passes.run(module, modules);
}

/// What the module is as text for an assembler; the module stays as it is.
std::string assembly_of(const llvm::Module& module, llvm::TargetMachine& target, Effort effort) {
  const auto copy = llvm::CloneModule(module);
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  add_code_passes(passes, target, out, llvm::CodeGenFileType::AssemblyFile, effort);
  passes.run(*copy);
  return {text.data(), text.size()};
}

/// Bits depend on these settings, so that all machines have them.
orc::JITTargetMachineBuilder with_settings(orc::JITTargetMachineBuilder builder) {
  // LLVM 19 widens a mask of eight lanes by `kmovb`, and then takes that for a copy: where the mask is constant, the lanes
  // above it are those of the constant and not off.
  if (builder.getTargetTriple().isX86()) builder.addFeatures({"-avx512dq"});
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  builder.getOptions().EmitStackSizeSection = true;
  return builder;
}

/// LLVM's list of targets is the process's.
void know_all_targets() {
  static const bool known = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  (void)known;
}

/// All that an object depends on besides its module.
std::string described(const llvm::TargetMachine& target) {
  return "LLVM " LLVM_VERSION_STRING " " + target.getTargetTriple().str() + " " + target.getTargetCPU().str() + " " +
         target.getTargetFeatureString().str() + " " + simplification + " level " + std::to_string(static_cast<int>(target.getOptLevel())) +
         " fusion " + std::to_string(static_cast<int>(target.Options.AllowFPOpFusion)) + " with stack sizes";
}

std::string bitcode_of(const llvm::Module& module) {
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  llvm::WriteBitcodeToFile(module, out);
  return bytes;
}

}  // namespace

orc::JITTargetMachineBuilder target_of(const Machine& machine) {
  know_all_targets();
  orc::JITTargetMachineBuilder builder{llvm::Triple(std::string(machine.architecture) + "-linux-gnu")};
  builder.setCPU(std::string(machine.model));
  builder.setRelocationModel(llvm::Reloc::PIC_);
  return with_settings(std::move(builder));
}

orc::JITTargetMachineBuilder target_of_host(std::string_view model) {
  static const bool known = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  if (!known) throw InternalError("codegen: LLVM does not know this machine");
  orc::JITTargetMachineBuilder builder = required(orc::JITTargetMachineBuilder::detectHost());
  if (!model.empty()) builder.setCPU(std::string(model)).setFeatures("");
  return with_settings(std::move(builder));
}

ObjectGenerator::ObjectGenerator(const Machine& machine, orc::JITTargetMachineBuilder target, const std::filesystem::path& cache)
    : machine_(machine),
      target_(required(target.createTargetMachine())),
      writer_(*target_, Effort::full),
      hasty_writer_(*target_, Effort::hasty),
      kept_(cache),
      maker_(described(*target_)) {}

ObjectGeneration::ObjectGeneration(std::shared_ptr<ObjectGenerator> generator, Wanted wanted)
    : generator_(std::move(generator)), wanted_(std::move(wanted)) {
  context_->setDiscardValueNames(!wanted_.text);  // names are for readers
  module_->setDataLayout(generator_->target_->createDataLayout());
  module_->setTargetTriple(generator_->target_->getTargetTriple().str());
}

void ObjectGeneration::emit(const spec::System& system, const std::vector<loops::Nest>& nests) {
  effort_ = effort_for(nests);
  if (effort_ == Effort::hasty) module_->setSourceFileName("hasty: instructions as they stand");  // kept code is another, too
  if (wanted_.debug.is_on()) {
    listing_.emplace(system, nests);
    source_.emplace(Source{*listing_, wanted_.debug.write("loops", listing_->text())});
    lines_.emplace(*module_, *source_);
  }
  const std::vector<loops::Likeness> alike = loops::find_alike(system, nests);
  for (std::size_t i = 0; i < nests.size(); ++i) {
    names_.push_back(nests[i].name);
    models_.push_back(lines_ ? i : alike[i].model);  // equal kernels stand in different lines
    if (const std::size_t model = models_[i]; model != i) {
      blocks_.push_back(blocks_[model]);
      continue;
    }
    blocks_.push_back(emit_nest(instructions_, *module_, symbol(i), system, nests[i], generator_->machine_, lines_ ? &*lines_ : nullptr));
  }
  if (lines_) lines_->finish();
}

void ObjectGeneration::emit(const Instruction& i, DType type, std::int64_t lanes) {
  emit_alone(instructions_, *module_, symbol(0), i, type, lanes, generator_->machine_);
  names_.emplace_back(name_of(i));
  models_.push_back(0);
  blocks_.push_back(1);
}

void ObjectGeneration::merge() {
  alone_ = std::unique_lock(generator_->mutex_);
  if (!lines_) run_passes(merging, *module_, *generator_->target_);
}

void ObjectGeneration::look_up() {
  if (!generator_->kept_.is_on()) return;
  key_ = KeptCode::key_of(generator_->maker_, bitcode_of(*module_));
  // A copy: the linker wants objects aligned.
  if (const auto object = generator_->kept_.find(key_)) object_ = llvm::MemoryBuffer::getMemBufferCopy(*object, key_);
  cached_ = object_ != nullptr;
}

void ObjectGeneration::simplify() {
  if (!cached_ || wanted_.text || wanted_.assembly) run_passes(simplification, *module_, *generator_->target_);
}

void ObjectGeneration::generate() {
  if (wanted_.assembly) assembly_ = assembly_of(*module_, *generator_->target_, effort_);
  if (cached_) return;
  object_ = (effort_ == Effort::hasty ? generator_->hasty_writer_ : generator_->writer_).object_of(*module_);
  generator_->kept_.keep(key_, object_->getBuffer());
}

void ObjectGeneration::verify() const {
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  if (llvm::verifyModule(*module_, &stream)) throw InternalError("codegen: " + complaint);
}

std::string ObjectGeneration::text() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << *module_;
  return text;
}

}  // namespace etalon::compiled
