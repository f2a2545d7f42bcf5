#include "compiled/codegen/jit.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Scalar.h>
#include <llvm/Transforms/Utils.h>

#include "compiled/codegen/nest_emitter.hpp"
#include "compiled/codegen/object_cache.hpp"
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

void simplify(llvm::Module& module) {
  llvm::legacy::FunctionPassManager passes(&module);
  passes.add(llvm::createPromoteMemoryToRegisterPass());
  passes.add(llvm::createEarlyCSEPass());
  passes.add(llvm::createLICMPass());
  passes.doInitialization();
  for (llvm::Function& f : module) {
    if (!f.isDeclaration()) passes.run(f);
  }
  passes.doFinalization();
}

}  // namespace

struct Jit::State {
  VectorLevel level = host_level();
  std::unique_ptr<orc::LLJIT> jit;
  std::unique_ptr<llvm::TargetMachine> target;
  std::optional<ObjectCache> cache;
  std::uint64_t programs = 0;

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
           target->getTargetFeatureString().str();
  }

  /// From disk, or compiled and kept there.
  std::unique_ptr<llvm::MemoryBuffer> object_of(llvm::Module& module, bool& cached) {
    const std::string key = cache->is_on() ? cache->key_of(module) : "";
    if (auto kept = cache->find(key)) {
      cached = true;
      return kept;
    }
    auto object = require(orc::SimpleCompiler(*target)(module));
    cache->keep(key, *object);
    return object;
  }
};

Jit::Jit(VectorLevel most, const std::filesystem::path& cache) : state_(std::make_shared<State>()) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = require(orc::JITTargetMachineBuilder::detectHost());
  if (most < state_->level) {
    state_->level = most;
    builder.setCPU(most == VectorLevel::avx2 ? "haswell" : "x86-64");
    builder.setFeatures("");
  }
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  state_->target = require(builder.createTargetMachine());
  state_->cache.emplace(cache, state_->generator());
  state_->jit = require(orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create());
  state_->define_functions();
}

Jit::~Jit() = default;

Machine Jit::machine() const {
  Machine m;
  m.lanes_f32 = state_->level == VectorLevel::avx512 ? 16 : state_->level == VectorLevel::avx2 ? 8 : 1;
  if (const long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0) m.near_bytes = bytes;
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) m.middle_bytes = bytes;
  m.vector_registers = state_->level == VectorLevel::avx512 ? 32 : 16;
  return m;
}

Code Jit::generate(const spec::System& system, const std::vector<loops::Nest>& nests,
                   const std::function<void(const std::string&)>& dump) {
  Code code;
  auto start = std::chrono::steady_clock::now();
  const auto done = [&](const char* stage) {
    const auto now = std::chrono::steady_clock::now();
    code.stages.emplace_back(stage, std::chrono::duration<double>(now - start).count());
    start = now;
  };
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("etalon", *context);
  module->setDataLayout(state_->jit->getDataLayout());
  const std::string prefix = "kernel_";
  for (std::size_t i = 0; i < nests.size(); ++i) {
    code.blocks.push_back(emit_nest(*module, prefix + std::to_string(i), system, nests[i], state_->level));
  }
  done("emit");
#ifndef NDEBUG
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  if (llvm::verifyModule(*module, &stream)) throw InternalError("codegen: " + complaint);
#endif
  simplify(*module);
  done("llvm");
  if (dump) {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << *module;
    dump(text);
  }
  auto& program = require(state_->jit->createJITDylib("program_" + std::to_string(state_->programs++)));
  program.addToLinkOrder(state_->jit->getMainJITDylib());
  code.keep = std::make_shared<Held>(state_, program);
  auto object = state_->object_of(*module, code.cached);
  done(code.cached ? "read" : "generate");
  require(state_->jit->addObjectFile(program, std::move(object)));
  for (std::size_t i = 0; i < nests.size(); ++i) {
    const auto address = require(state_->jit->lookup(program, prefix + std::to_string(i)));
    code.kernels.push_back(address.toPtr<KernelFunction>());
  }
  done("link");
  return code;
}

}  // namespace etalon::compiled
