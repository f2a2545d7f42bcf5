#include <string_view>
#include <vector>

#include "conformance/isolation/exec_backend.hpp"
#include "reference/backend.hpp"
#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "tools/command/command.hpp"

#ifdef ETALON_HAS_COMPILED
#include "compiled/backend.hpp"
#endif

namespace etalon::command {

std::unique_ptr<spec::Backend> make_backend(const std::string& name, const conformance::Limits& limits) {
  constexpr std::string_view process = "exec:";
  if (name.starts_with(process)) return conformance::make_exec_backend(name.substr(process.size()), limits);
  if (name == "reference") return reference::make_reference_backend();
#ifdef ETALON_HAS_COMPILED
  if (name == "cpu") return compiled::make_cpu_backend();
#endif
  const std::vector<std::string> names{"reference", "cpu", "cuda"};
  for (const std::string& known : names) {
    if (name == known) throw Unsupported(name + ": not in this build");
  }
  throw SpecViolation(unknown_name("backend", name, names) + " (a process that speaks Protocol 1 is exec:COMMAND)");
}

}  // namespace etalon::command
