/// \file
/// What the subcommands of `etalon` share: how each adds itself to the command line, and how a failure ends.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/isolation/child_process.hpp"
#include "conformance/reports/formats.hpp"
#include "spec/backend.hpp"
#include "spec/library/library.hpp"
#include "tools/command/options.hpp"
#include "tools/log/record.hpp"

namespace etalon::command {

/// The exit status of the subcommand that ran: 0 done, 1 the answer is no, 2 usage or set-up error, 3 the machine does not repeat itself,
/// 4 storage failed.
struct Outcome {
  int status = 0;
};

void add_explain(Command app, Outcome& outcome);
void add_door(Command app, Outcome& outcome);
void add_spec(Command app, Outcome& outcome);
void add_check(Command app, Outcome& outcome);
void add_run(Command app, Outcome& outcome);
void add_import(Command app, Outcome& outcome);
void add_log(Command app, Outcome& outcome);
void add_compile(Command app, Outcome& outcome);
void add_tune(Command app, Outcome& outcome);
void add_serve(Command app, Outcome& outcome);
void add_conform(Command app, Outcome& outcome);
void add_judge(Command app, Outcome& outcome);
void add_judge_kernel(Command app, Outcome& outcome);
void add_pack(Command app, Outcome& outcome);
void add_contract(Command app, Outcome& outcome);
void add_report(Command app, Outcome& outcome);
void add_adapter(Command app, Outcome& outcome);
void add_train(Command app, Outcome& outcome);
void add_resume(Command app, Outcome& outcome);
void add_export(Command app, Outcome& outcome);
void add_certify(Command app, Outcome& outcome);
void add_verify(Command app, Outcome& outcome);
void add_audit(Command app, Outcome& outcome);
void add_dispute(Command app, Outcome& outcome);
void add_trace(Command app, Outcome& outcome);
void add_certify_robust(Command app, Outcome& outcome);
void add_bench(Command app, Outcome& outcome);
void add_devices(Command app, Outcome& outcome);
void add_config(Command app, Outcome& outcome);
void add_complete(Command app, Outcome& outcome);

/// The options that name files of a report's formats.
void add_formats(Command command, conformance::Formats& formats);

/// Whether the name is of a library that a process of its own hosts: `plugin:PATH.so`, `pjrt:PATH.so`.
[[nodiscard]] bool is_library(const std::string& name);

/// That library as a backend in this process, its host. \throws IoError
[[nodiscard]] std::unique_ptr<spec::Backend> load_library(const std::string& name);

/// The command for the shell behind `exec:COMMAND`, behind a library (this program as its host), or the name itself.
[[nodiscard]] std::string command_of(const std::string& name);

/// The names of all backends that some build has.
[[nodiscard]] std::vector<std::string> backend_names();

/// The backend of that name; `cpu:N` is the compiled one with N threads that share every kernel; `exec:COMMAND` is a process that speaks Protocol 1, `plugin:PATH.so` and `pjrt:PATH.so` a library in one. \throws IoError when that does not
/// describe itself, Unsupported for a device that is not there, SpecViolation for an unknown name.
[[nodiscard]] std::unique_ptr<spec::Backend> make_backend(const std::string& name,
                                                          const conformance::Limits& limits = {});

/// Who computes the values of a log: `reference`, `cpu`, `cpu:N` or a device.
/// \throws Unsupported for a backend whose values cannot be asked for, SpecViolation for an unknown name.
[[nodiscard]] logging::Recorder make_recorder(const std::string& name);

/// What comes with Etalon and the definitions in the file of that path, if any is given.
/// \throws IoError, or SpecViolation `file:line:column: what is wrong`.
[[nodiscard]] spec::Library library_with(const std::string& path);

/// The shipped contract of that name, or the one in the file: a name has neither dot nor slash.
/// \throws SpecViolation, IoError naming the file
[[nodiscard]] spec::Contract contract_of(const std::string& text);

}  // namespace etalon::command
