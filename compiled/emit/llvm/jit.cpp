#include "compiled/emit/llvm/jit.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <optional>

#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/Debugging/DebuggerSupport.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiled/emit/llvm/debug_lines.hpp"
#include "compiled/emit/llvm/effort.hpp"
#include "compiled/emit/llvm/instruction_alone.hpp"
#include "compiled/emit/llvm/jit_dump.hpp"
#include "compiled/emit/llvm/nest_emitter.hpp"
#include "compiled/emit/llvm/object_cache.hpp"
#include "compiled/emit/llvm/object_writer.hpp"
#include "compiled/emit/llvm/perf_map.hpp"
#include "compiled/emit/llvm/stack_sizes.hpp"
#include "compiled/ir/alike.hpp"
#include "compiled/ir/listing.hpp"
#include "compiled/machine/last_cache.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace orc = llvm::orc;

namespace {

void require(llvm::Error error) {
  if (error) throw InternalError("codegen: " + llvm::toString(std::move(error)));
}

template <class T>
T require(llvm::Expected<T> value) {
  if (!value) throw InternalError("codegen: " + llvm::toString(value.takeError()));
  return std::forward<T>(*value);
}

VectorLevel host_level() {
  const auto features = llvm::sys::getHostCPUFeatures();
  const auto has = [&](const char* name) { return features.lookup(name); };
  if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl")) return VectorLevel::avx512;
  return has("avx2") && has("fma") ? VectorLevel::avx2 : VectorLevel::scalar;
}

/// Removes the code of one program when its last executable goes.
struct Held {
  std::shared_ptr<void> jit;
  orc::JITDylib& program;
  Held(std::shared_ptr<void> j, orc::JITDylib& p) : jit(std::move(j)), program(p) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { llvm::consumeError(program.getExecutionSession().removeJITDylib(program)); }
};

/// What a kernel takes of the stack.
std::size_t stack_of(const std::string& symbol, const std::string& name, const std::map<std::string, std::uint64_t>& sizes) {
  const auto found = sizes.find(symbol);
  if (found == sizes.end()) throw InternalError("codegen: the stack of " + symbol + ", " + name + ", has no fixed size");
  if (found->second <= most_stack_bytes) return found->second;
  throw InternalError("codegen: " + symbol + ", " + name + ", takes " + std::to_string(found->second) + " bytes of stack; at most " +
                      std::to_string(most_stack_bytes) + " are allowed");
}

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
  require(builder.parsePassPipeline(passes, pipeline));
  passes.run(module, modules);
}

/// What the module is as text for an assembler; the module stays as it is.
std::string assembly_of(const llvm::Module& module, llvm::TargetMachine& target) {
  const auto copy = llvm::CloneModule(module);
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    throw InternalError("codegen: this machine has no assembly");
  }
  passes.run(*copy);
  return {text.data(), text.size()};
}

}  // namespace

struct Jit::State {
  VectorLevel level = host_level();
  std::mutex mutex;  ///< of all below: LLVM's machines and what is counted here serve one thread at a time
  std::unique_ptr<orc::LLJIT> jit;
  std::unique_ptr<llvm::TargetMachine> target;
  std::optional<ObjectWriter> writer;
  std::optional<ObjectCache> cache;
  std::uint64_t programs = 0;
  bool debugged = false;

  /// From now on gdb hears of code that carries lines; other code is none of its business.
  void tell_debugger() {
    if (!debugged) require(orc::enableDebuggerSupport(*jit));
    debugged = true;
  }

  void define_functions() {
    orc::SymbolMap symbols;
    for (const SleefSymbol& s : sleef_symbols()) {
      symbols[jit->mangleAndIntern(s.name)] = {orc::ExecutorAddr::fromPtr(s.address), llvm::JITSymbolFlags::Exported};
    }
    require(jit->getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols))));
  }

  /// All that the code of a module depends on besides the module.
  [[nodiscard]] std::string generator() const {
    return "LLVM " LLVM_VERSION_STRING " " + target->getTargetTriple().str() + " " + target->getTargetCPU().str() + " " +
           target->getTargetFeatureString().str() + " " + simplification + " level " +
           std::to_string(static_cast<int>(target->getOptLevel())) + " fusion " +
           std::to_string(static_cast<int>(target->Options.AllowFPOpFusion)) + " with stack sizes";
  }
};

Jit::Jit(VectorLevel most, const std::filesystem::path& cache) : state_(std::make_shared<State>()) {
  // LLVM's list of targets is the process's.
  static const bool known = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  if (!known) throw InternalError("codegen: LLVM does not know this machine");
  auto builder = require(orc::JITTargetMachineBuilder::detectHost());
  if (most < state_->level) {
    state_->level = most;
    builder.setCPU(std::string(vector_unit(most).model));
    builder.setFeatures("");
  }
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  builder.getOptions().EmitStackSizeSection = true;
  state_->target = require(builder.createTargetMachine());
  state_->writer.emplace(*state_->target);
  state_->cache.emplace(cache, state_->generator());
  state_->jit = require(orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create());
  state_->define_functions();
}

Jit::~Jit() = default;

Machine Jit::machine() const {
  Machine m;
  m.lanes_f32 = vector_unit(state_->level).lanes_f32;
  m.vector_registers = vector_unit(state_->level).vector_registers;
  if (const long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0) m.near_bytes = bytes;
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) m.middle_bytes = bytes;
  m.last_bytes = last_cache_bytes().value_or(m.last_bytes);
  return m;
}

class Jit::Making : public Generation {
 public:
  Making(std::shared_ptr<State> state, Wanted wanted) : state_(std::move(state)), wanted_(std::move(wanted)) {
    context_->setDiscardValueNames(!wanted_.text);  // names are for readers
    module_->setDataLayout(state_->jit->getDataLayout());
  }

  void emit(const spec::System& system, const std::vector<loops::Nest>& nests) override {
    if (is_hasty(nests)) {
      context_->setOptPassGate(hasty_);
      module_->setSourceFileName("hasty");  // kept code is another, too
    }
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
        code_.blocks.push_back(code_.blocks[model]);
        continue;
      }
      code_.blocks.push_back(emit_nest(writer_, *module_, symbol(i), system, nests[i], state_->level, lines_ ? &*lines_ : nullptr));
    }
    if (lines_) lines_->finish();
  }

  void emit(const Instruction& i, DType type, std::int64_t lanes) {
    emit_alone(writer_, *module_, symbol(0), i, type, lanes, state_->level);
    names_.emplace_back(name_of(i));
    models_.push_back(0);
    code_.blocks.push_back(1);
  }

  void merge() override {
    alone_ = std::unique_lock(state_->mutex);
    if (!lines_) run_passes(merging, *module_, *state_->target);
  }

  void look_up() override {
    key_ = state_->cache->is_on() ? state_->cache->key_of(*module_) : "";
    object_ = state_->cache->find(key_);
    code_.cached = object_ != nullptr;
  }

  void simplify() override {
    if (!code_.cached || wanted_.text || wanted_.assembly) run_passes(simplification, *module_, *state_->target);
  }

  void generate() override {
    if (wanted_.assembly) assembly_ = assembly_of(*module_, *state_->target);
    if (code_.cached) return;
    object_ = state_->writer->object_of(*module_);
    state_->cache->keep(key_, *object_);
  }

  void link() override {
    const std::map<std::string, std::uint64_t> stacks = stack_sizes(*object_);
    if (lines_) state_->tell_debugger();
    auto& program = require(state_->jit->createJITDylib("program_" + std::to_string(state_->programs++)));
    program.addToLinkOrder(state_->jit->getMainJITDylib());
    code_.keep = std::make_shared<Held>(state_, program);
    const Profiled profiled = profiled_functions();
    require(state_->jit->addObjectFile(program, std::move(object_)));
    for (std::size_t i = 0; i < models_.size(); ++i) {
      if (const std::size_t model = models_[i]; model != i) {
        code_.kernels.push_back(code_.kernels[model]);
        continue;
      }
      const auto address = require(state_->jit->lookup(program, symbol(i)));
      code_.kernels.push_back(address.toPtr<KernelFunction>());
      code_.stack_bytes = std::max(code_.stack_bytes, stack_of(symbol(i), names_[i], stacks));
    }
    tell_profiler(profiled);
    alone_.unlock();
  }

  void verify() const override {
    std::string complaint;
    llvm::raw_string_ostream stream(complaint);
    if (llvm::verifyModule(*module_, &stream)) throw InternalError("codegen: " + complaint);
  }

  std::string text() const override {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << *module_;
    return text;
  }

  std::string assembly() const override { return assembly_; }

  Code take() override { return std::move(code_); }

 private:
  /// What the profiler is to hear of the functions of an object.
  struct Profiled {
    std::map<std::string, std::uint64_t> sizes;
    std::map<std::string, std::vector<LineOf>> lines;
  };

  static std::string symbol(std::size_t kernel) { return "kernel_" + std::to_string(kernel); }

  Profiled profiled_functions() const {
    if (!wants_perf_map()) return {};
    return {sizes_of_functions(*object_), lines_ ? lines_of_functions(*object_) : std::map<std::string, std::vector<LineOf>>{}};
  }

  void tell_profiler(const Profiled& profiled) const {
    std::vector<NamedFunction> named;
    for (std::size_t i = 0; i < models_.size(); ++i) {
      const auto size = profiled.sizes.find(symbol(i));
      if (models_[i] != i || size == profiled.sizes.end()) continue;
      named.push_back({std::bit_cast<std::uintptr_t>(code_.kernels[i]), size->second, "etalon:" + std::to_string(i) + ":" + names_[i]});
      if (const auto found = profiled.lines.find(symbol(i)); found != profiled.lines.end()) {
        jit_dump_of_process(source_->file.parent_path()).add(named.back().name, named.back().address, named.back().size, found->second);
      }
    }
    if (!named.empty()) add_to_perf_map(named);
  }

  std::shared_ptr<State> state_;
  Wanted wanted_;
  HastyPasses hasty_;
  std::unique_ptr<llvm::LLVMContext> context_ = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module_ = std::make_unique<llvm::Module>("etalon", *context_);
  InstructionWriter writer_{*module_};
  std::optional<loops::Listing> listing_;
  std::optional<Source> source_;
  std::optional<DebugLines> lines_;
  std::vector<std::string> names_;
  std::vector<std::size_t> models_;  ///< of each kernel: whose code it runs
  Code code_;
  std::string key_;
  std::unique_ptr<llvm::MemoryBuffer> object_;
  std::string assembly_;
  std::unique_lock<std::mutex> alone_;  ///< LLVM's machines serve one thread at a time
};

bool Jit::has(const Instruction& i) const {
  return i.least <= state_->level && (i.feature.empty() || llvm::sys::getHostCPUFeatures().lookup(llvm::StringRef(i.feature)));
}

Code Jit::alone(const Instruction& i, DType type, std::int64_t lanes) {
  if (!has(i)) throw Unsupported("codegen: this machine has no " + std::string(name_of(i)));
  Making making(state_, {});
  making.emit(i, type, lanes);
  making.verify();
  making.merge();
  making.look_up();
  making.simplify();
  making.generate();
  making.link();
  return making.take();
}

std::unique_ptr<Generation> Jit::begin(Wanted wanted) { return std::make_unique<Making>(state_, std::move(wanted)); }

}  // namespace etalon::compiled
