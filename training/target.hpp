/// \file
/// Where programs run: compiled for this processor, or asked of any backend behind the one interface.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compiled/executable.hpp"
#include "spec/backend.hpp"
#include "spec/program/program.hpp"
#include "training/model/parameters.hpp"

namespace etalon::training {

/// A value: copies mean the same place. A backend is the caller's and outlives it.
class Target {
 public:
  /// Compiled for this processor.
  [[nodiscard]] static Target cpu(compiled::CompileOptions options = {});
  /// The reference, a plug-in, or whatever else answers requests.
  [[nodiscard]] static Target backend(spec::Backend& backend);

  /// `cpu`, or what the backend calls itself.
  [[nodiscard]] std::string name() const;

 private:
  friend class Prepared;
  explicit Target(std::variant<compiled::CompileOptions, spec::Backend*> where) : where_(std::move(where)) {}
  std::variant<compiled::CompileOptions, spec::Backend*> where_;
};

/// What was made, and what it holds on to.
struct RoutineReport {
  std::string target;
  std::size_t kernels = 0;
  std::size_t arena_bytes = 0;     ///< intermediates
  std::size_t bound_bytes = 0;     ///< store entries that the program reads
  std::size_t given_bytes = 0;     ///< inputs given at a run
  std::size_t output_bytes = 0;
  std::size_t peak_bytes = 0;      ///< all of them, while it runs; constants and code not counted
  double compile_seconds = 0;      ///< passes and code
  bool cached = false;             ///< the code was read from the cache
};

/// Lines for people, and one JSON object for scripts.
[[nodiscard]] std::string to_text(const RoutineReport& report);
[[nodiscard]] std::string to_json(const RoutineReport& report);

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
  [[nodiscard]] std::vector<HostTensor> run(compiled::Store& store, const Named& given) const;
  /// Kernels and memory of what was compiled are 0 for a backend, which does not say.
  [[nodiscard]] RoutineReport report() const;

 private:
  [[nodiscard]] std::vector<HostTensor> ask(spec::Backend& backend, compiled::Store& store, const Named& given) const;

  spec::Program program_;
  std::variant<compiled::Executable, spec::Backend*> made_;
  std::string target_;
};

}  // namespace etalon::training
