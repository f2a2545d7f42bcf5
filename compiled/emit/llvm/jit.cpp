#include "compiled/emit/llvm/jit.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include <boost/core/noncopyable.hpp>

#include <llvm/ExecutionEngine/Orc/Debugging/DebuggerSupport.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/TargetParser/Host.h>

#include "compiled/emit/llvm/jit_dump.hpp"
#include "compiled/emit/llvm/object_generator.hpp"
#include "compiled/emit/llvm/perf_map.hpp"
#include "compiled/emit/llvm/required.hpp"
#include "compiled/emit/llvm/sleef.hpp"
#include "compiled/emit/llvm/stack_sizes.hpp"
#include "compiled/machine/instructions.hpp"
#include "compiled/machine/last_cache.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace orc = llvm::orc;

namespace {

bool has_all(const llvm::StringMap<bool>& has, std::string_view features) {
  for (std::size_t begin = 0; begin < features.size();) {
    const std::size_t end = std::min(features.find(',', begin), features.size());
    if (!has.lookup(llvm::StringRef(features.data() + begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

/// The most that this machine is, up to the machine given where that is of the same architecture.
Machine host_machine(const Machine& most) {
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  const std::string architecture = llvm::Triple(llvm::sys::getProcessTriple()).getArchName().str();
  const Machine* found = nullptr;
  bool beyond = false;
  for (const Machine& machine : machines::all) {
    if (machine.architecture != architecture || beyond) continue;
    if (has_all(features, machine.features)) found = &machine;
    beyond = machine.name == most.name;
  }
  if (found == nullptr) throw InternalError("codegen: no machine of architecture " + architecture + " is known");
  return *found;
}

Machine with_caches(Machine machine) {
  if (const long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0) machine.near_bytes = bytes;
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) machine.middle_bytes = bytes;
  machine.last_bytes = last_cache_bytes().value_or(machine.last_bytes);
  return machine;
}

/// With what single instructions of the table ask for and the host has.
Machine with_features(Machine machine) {
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  std::size_t next = 0;
  for (const Instruction& i : instructions) {
    const bool is_known = std::find(machine.beyond.begin(), machine.beyond.end(), i.feature) != machine.beyond.end();
    if (i.feature.empty() || is_known || !features.lookup(llvm::StringRef(i.feature))) continue;
    machine.beyond.at(next++) = i.feature;
  }
  return machine;
}

/// The host's machine, with caches and features, unless it is to be less.
Machine machine_on_host(const Machine& machine) {
  return with_caches(machine.name == host_machine(machines::all.back()).name ? with_features(machine) : machine);
}

/// With all that the host has, unless it is to be less.
orc::JITTargetMachineBuilder target_on_host(const Machine& machine) {
  return target_of_host(machine.name == host_machine(machines::all.back()).name ? "" : machine.model);
}

/// Removes the code of one program when its last executable goes.
struct Held : boost::noncopyable {
  std::shared_ptr<void> jit;
  orc::JITDylib& program;
  Held(std::shared_ptr<void> j, orc::JITDylib& p) : jit(std::move(j)), program(p) {}
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

}  // namespace

struct Jit::State {
  std::shared_ptr<ObjectGenerator> objects;
  std::unique_ptr<orc::LLJIT> jit;  ///< it serves whoever makes an object
  std::uint64_t programs = 0;
  bool debugged = false;

  State(const Machine& machine, const std::filesystem::path& cache)
      : objects(std::make_shared<ObjectGenerator>(machine_on_host(machine), target_on_host(machine), cache)),
        jit(required(orc::LLJITBuilder().setJITTargetMachineBuilder(target_on_host(machine)).create())) {
    define_functions();
  }

  /// From now on gdb hears of code that carries lines; other code is none of its business.
  void tell_debugger() {
    if (!debugged) required(orc::enableDebuggerSupport(*jit));
    debugged = true;
  }

  void define_functions() {
    orc::SymbolMap symbols;
    for (const SleefSymbol& s : sleef_symbols()) {
      symbols[jit->mangleAndIntern(s.name)] = {orc::ExecutorAddr::fromPtr(s.address), llvm::JITSymbolFlags::Exported};
    }
    required(jit->getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols))));
  }
};

Jit::Jit(const Machine& most, const std::filesystem::path& cache) : state_(std::make_shared<State>(host_machine(most), cache)) {}

Jit::~Jit() = default;

Machine Jit::machine() const { return state_->objects->machine(); }

class Jit::Making final : public Generation, private ObjectGeneration {
 public:
  Making(std::shared_ptr<State> state, Wanted wanted) : ObjectGeneration(state->objects, std::move(wanted)), state_(std::move(state)) {}

  using ObjectGeneration::emit;
  [[nodiscard]] CodeGenerator& stages() override { return *this; }
  [[nodiscard]] Code take() override { return std::move(code_); }

  void link() override {
    const std::map<std::string, std::uint64_t> stacks = stack_sizes(*object_);
    if (lines_) state_->tell_debugger();
    auto& program = required(state_->jit->createJITDylib("program_" + std::to_string(state_->programs++)));
    program.addToLinkOrder(state_->jit->getMainJITDylib());
    code_.keep = std::make_shared<Held>(state_, program);
    const auto profiled = wants_perf_map() ? functions_of(*object_, lines_.has_value()) : std::map<std::string, FunctionOf>{};
    required(state_->jit->addObjectFile(program, std::move(object_)));
    for (std::size_t i = 0; i < models_.size(); ++i) {
      if (const std::size_t model = models_[i]; model != i) {
        code_.kernels.push_back(code_.kernels[model]);
        continue;
      }
      const auto address = required(state_->jit->lookup(program, symbol(i)));
      code_.kernels.push_back(address.toPtr<KernelFunction>());
      code_.stack_bytes = std::max(code_.stack_bytes, stack_of(symbol(i), names_[i], stacks));
    }
    code_.blocks = blocks_;
    code_.cached = cached_;
    tell_profiler(profiled);
    ObjectGeneration::link();
  }

 private:
  void tell_profiler(const std::map<std::string, FunctionOf>& profiled) const {
    std::vector<NamedFunction> named;
    for (std::size_t i = 0; i < models_.size(); ++i) {
      const auto found = profiled.find(symbol(i));
      if (models_[i] != i || found == profiled.end()) continue;
      const auto& [size, lines] = found->second;
      named.push_back({std::bit_cast<std::uintptr_t>(code_.kernels[i]), size, "etalon:" + std::to_string(i) + ":" + names_[i]});
      if (!lines.empty()) jit_dump_of_process(source_->file.parent_path()).add(named.back().name, named.back().address, size, lines);
    }
    if (!named.empty()) add_to_perf_map(named);
  }

  std::shared_ptr<State> state_;
  Code code_;
};

bool Jit::has(const Instruction& i) const { return is_had_by(i, machine()); }

Code Jit::alone(const Instruction& i, DType type, std::int64_t lanes) {
  if (!has(i)) throw Unsupported("codegen: this machine has no " + std::string(name_of(i)));
  Making making(state_, {});
  making.emit(i, type, lanes);
  CodeGenerator& stages = making.stages();
  stages.verify();
  stages.merge();
  stages.look_up();
  stages.simplify();
  stages.generate();
  stages.link();
  return making.take();
}

std::unique_ptr<Generation> Jit::begin(Wanted wanted) { return std::make_unique<Making>(state_, std::move(wanted)); }

}  // namespace etalon::compiled
