/// \file
/// Where programs run: compiled for this processor, or asked of any backend behind the one interface.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiled/runtime/device.hpp"
#include "compiled/runtime/executable.hpp"
#include "spec/backend.hpp"
#include "spec/program/program.hpp"
#include "training/guard.hpp"
#include "training/model/parameters.hpp"

namespace etalon::training {

/// A value: copies mean the same place. A backend is the caller's and outlives it.
class Target {
 public:
  /// Compiled for this processor.
  [[nodiscard]] static Target cpu(compiled::CompileOptions options = {});
  /// Compiled for a device, which this shares: a GPU is `Target::on(std::make_shared<cuda::Driver>())`, whose constructor says in one line why
  /// there is none. \param options name no other one
  [[nodiscard]] static Target on(std::shared_ptr<compiled::Device> device, compiled::CompileOptions options = {});
  /// The reference, a plug-in, or whatever else answers requests.
  [[nodiscard]] static Target backend(spec::Backend& backend);

  /// `cpu`, or what the device or the backend calls itself.
  [[nodiscard]] std::string name() const;

 private:
  friend class Prepared;
  explicit Target(std::variant<compiled::CompileOptions, spec::Backend*> where) : where_(std::move(where)) {}
  std::variant<compiled::CompileOptions, spec::Backend*> where_;
};

/// What was made, and what it holds on to. What a backend does not say is not there.
struct RoutineReport {
  std::string target;
  std::optional<std::size_t> kernels;
  std::optional<std::size_t> arena_bytes;  ///< intermediates
  std::size_t bound_bytes = 0;     ///< store entries that the program reads
  std::size_t given_bytes = 0;     ///< inputs given at a run
  std::size_t output_bytes = 0;    ///< captured values among them
  std::optional<std::size_t> peak_bytes;   ///< all of them, while it runs; constants and code not counted
  std::optional<double> compile_seconds;   ///< passes and code
  bool cached = false;             ///< the code was read from the cache
};

/// Lines for people, and one JSON object for scripts, with `not reported` and null for what a backend does not say.
[[nodiscard]] std::string to_text(const RoutineReport& report);
[[nodiscard]] std::string to_json(const RoutineReport& report);

/// What a run leaves besides what it writes to the store.
struct Values {
  NamedValues outputs;   ///< in the program's order
  NamedValues captures;  ///< in the order of the program's wishes
};

/// A program made ready for a target.
class Prepared {
 public:
  /// \throws SpecViolation for an ill-typed program, Unsupported for what the target does not do.
  Prepared(const spec::Program& program, const Target& target);

  [[nodiscard]] const spec::Program& program() const { return program_; }
  /// Declares in the store what the program reads from it.
  void declare(compiled::Store& store) const;
  /// Runs on the store as compiled::Executable does; a backend gets copies, and its answers are written back.
  /// \throws SpecViolation for what the caller gave; Unsupported with the reason where the backend gives no numbers.
  [[nodiscard]] Values run(compiled::Store& store, const Named& given) const;
  /// For repeated runs on this store with `given`, whose numbers may change between runs: nothing is looked up in a run.
  /// Both outlive what is returned, which is nothing where the target is a backend.
  /// \throws SpecViolation for an input that is neither in the store nor given, or has another type there.
  [[nodiscard]] std::optional<compiled::Bound> bind(compiled::Store& store, const Named& given) const;
  /// One run of what `bind` returned.
  [[nodiscard]] Values run(const compiled::Bound& bound) const;
  [[nodiscard]] RoutineReport report() const;

 private:
  [[nodiscard]] std::optional<spec::Making> making() const;
  [[nodiscard]] Values named(std::vector<HostTensor> outputs, const compiled::Executable& executable) const;
  [[nodiscard]] Values ask(spec::Backend& backend, compiled::Store& store, const Named& given) const;

  spec::Program program_;
  std::variant<compiled::Executable, spec::Backend*> made_;
  std::string target_;
  std::vector<std::string> captures_;
};

}  // namespace etalon::training
