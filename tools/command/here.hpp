/// \file
/// Where steps of a run are computed again, as options of a command; and commands that a build without the compiled backend lacks.
#pragma once

#include <string>

#include "tools/command/command.hpp"
#ifdef ETALON_HAS_COMPILED
#include "compiled/cache_folder.hpp"
#include "tools/command/devices.hpp"
#include "training/report.hpp"
#else
#include "spec/error.hpp"
#endif

namespace etalon::command {

#ifdef ETALON_HAS_COMPILED
/// Where intervals are computed, and with what.
struct Here {
  std::string data, backend = "cpu";
  unsigned threads = 1;

  void add_to(const Command& command) {
    command.option("--backend", backend, "Where steps run: cpu, cuda-emulated or cuda").with_default();
    command.option("--threads", threads, "Of the compiled step; the numbers do not depend on it").with_default();
    command.option("--data", data, "The run's data in a file of your own");
  }
  /// \throws SpecViolation for an unknown device, DeviceError where there is none
  [[nodiscard]] training::TrainOptions options() const {
    training::TrainOptions all;
    all.threads = threads;
    all.data = data;
    all.cache = compiled::default_cache_folder();
    all.device = device_named(backend, all.cache);
    return all;
  }
};
#else
/// A command of that name that says it is not there.
inline void add_missing(Command app, const std::string& name, const std::string& meaning, const char* examples) {
  Command command = app.command(name, meaning + " (not in this build)");
  command.footer(examples);
  command.allow_extras();
  command.callback([name] { throw Unsupported(name + ": not in this build"); });
}
#endif

}  // namespace etalon::command
