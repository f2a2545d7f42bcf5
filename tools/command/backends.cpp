#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/isolation/exec_backend.hpp"
#include "conformance/isolation/plugin_backend.hpp"
#include "conformance/pjrt/backend.hpp"
#include "conformance/shell_word.hpp"
#include "reference/backend.hpp"
#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "tools/command/command.hpp"

#ifdef ETALON_HAS_COMPILED
#include "compiled/runtime/backend.hpp"
#include "compiled/runtime/c_backend.hpp"
#include "tools/command/devices.hpp"
#endif

namespace etalon::command {
namespace {

constexpr std::string_view process = "exec:", plugin = "plugin:", pjrt = "pjrt:";

#ifdef ETALON_HAS_COMPILED
constexpr std::string_view threaded = "cpu:", drawn = "cpu-drawn:";

/// Schedules of every kind, those that order sums otherwise too: a contract speaks of errors, not of bits.
compiled::Drawing drawing_of(const std::string& seed) {
  compiled::Drawing drawing{.reorder_sums = true};
  const char* const end = seed.data() + seed.size();
  const auto [stop, wrong] = std::from_chars(seed.data(), end, drawing.seed);
  if (wrong != std::errc() || stop != end) throw SpecViolation("backend cpu-drawn:SEED: expected a number, found '" + seed + "'");
  return drawing;
}

/// So many threads, and every kernel is shared among them however short it is: cases are small.
compiled::CompileOptions shared_by(const std::string& threads) {
  constexpr unsigned most = 256;
  compiled::CompileOptions options;
  const char* const end = threads.data() + threads.size();
  const auto [stop, wrong] = std::from_chars(threads.data(), end, options.threads);
  if (wrong != std::errc() || stop != end || options.threads < 1 || options.threads > most)
    throw SpecViolation("backend cpu:THREADS: expected a number of threads from 1 to 256, found '" + threads + "'");
  options.least_shared_work = 0;
  return options;
}

/// The compiled backend's values: what is asked for is an output of the system that is compiled, and so is stored.
logging::Runner compiled_runner(const compiled::CompileOptions& options) {
  return [options](const spec::System& system, std::span<const HostTensor> inputs) { return compiled::compile_system(system, options).run(inputs); };
}

/// The processor, with arithmetic that a shipped contract admits and `cpu` does not, in every contraction: cases are small.
compiled::CompileOptions promising(const std::string& contract) {
  compiled::CompileOptions options;
  options.schedule.promises = spec::contract_named(contract);
  options.schedule.always = true;
  return options;
}

bool is_device(const std::string& name) { return name == "cuda" || name == "cuda-bf16" || name.starts_with("cuda-emulated"); }

compiled::CompileOptions on_device(const std::string& name) {
  compiled::CompileOptions options;
  options.device = device_named(name);
  return options;
}
#endif

}  // namespace

bool is_library(const std::string& name) { return name.starts_with(plugin) || name.starts_with(pjrt); }

std::unique_ptr<spec::Backend> load_library(const std::string& name) {
  if (name.starts_with(pjrt)) return conformance::pjrt::load_backend(name.substr(pjrt.size()));
  return conformance::load_plugin(name.substr(plugin.size()));
}

std::string command_of(const std::string& name) {
  if (name.starts_with(process)) return name.substr(process.size());
  if (!is_library(name)) return name;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  return "exec " + conformance::shell_word(self) + " serve --backend " + conformance::shell_word(name);
}

std::vector<std::string> backend_names() {
  return {"reference", "cpu", "cpu-bf16", "cpu-c", "cuda-emulated", "cuda-emulated:races", "cuda-emulated-bf16", "cuda", "cuda-bf16"};
}

std::unique_ptr<spec::Backend> make_backend(const std::string& name, const conformance::Limits& limits) {
  if (name.starts_with(process) || is_library(name)) return conformance::make_exec_backend(command_of(name), limits, name);
  if (name == "reference") return reference::make_reference_backend();
#ifdef ETALON_HAS_COMPILED
  if (name == "cpu") return compiled::make_cpu_backend();
  if (name.starts_with(threaded)) return compiled::make_cpu_backend(shared_by(name.substr(threaded.size())));
  if (name.starts_with(drawn)) return compiled::make_cpu_backend({}, drawing_of(name.substr(drawn.size())));
  if (name == "cpu-bf16") return compiled::make_cpu_backend(promising(name));
  if (name == "cpu-c") return compiled::source::make_c_backend();
  if (is_device(name)) return make_device_backend(name);
#endif
  const std::vector<std::string> names = backend_names();
  for (const std::string& known : names) {
    if (name == known) throw Unsupported(name + ": not in this build");
  }
  throw SpecViolation(unknown_name("backend", name, names) + " (a process that speaks Protocol 1 is exec:COMMAND, a plug-in plugin:PATH.so, one of PJRT pjrt:PATH.so)");
}

logging::Recorder make_recorder(const std::string& name) {
  const auto promised = [&] { return make_backend(name)->describe(); };
  if (name == "reference") return {name, promised().contract, logging::run_on_reference};
#ifdef ETALON_HAS_COMPILED
  if (name == "cpu") return {name, promised().contract, compiled_runner({})};
  if (name == "cpu-bf16") return {name, promised().contract, compiled_runner(promising(name))};
  if (name.starts_with(threaded)) return {name, promised().contract, compiled_runner(shared_by(name.substr(threaded.size())))};
  if (is_device(name)) return {name, promised().contract, compiled_runner(on_device(name))};
#endif
  (void)promised();
  throw Unsupported("--log-assignments: backend " + name + " tells only what it is asked for; those that log are reference, cpu, cpu:N and devices");
}

}  // namespace etalon::command
