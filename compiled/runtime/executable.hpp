/// \file
/// A compiled program and the way to run it: on a store, or on host tensors, with derivatives. It knows nothing of how
/// code is made.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiled/options.hpp"
#include "compiled/report.hpp"
#include "compiled/runtime/store.hpp"
#include "spec/host_tensor.hpp"
#include "spec/program/program.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

/// Outputs with what a derivative gives besides.
struct Derivatives {
  std::vector<HostTensor> outputs;
  std::vector<std::optional<HostTensor>> results;  ///< jvp: tangent per output; vjp: cotangent per input
};

/// An executable bound to one store, for many short runs: names and types are looked up once, and nothing is allocated by
/// a run that repeats the one before. It runs on its executable's memory: to run at the same time as that, it is bound from a copy. The
/// store outlives it.
class Bound {
 public:
  struct Run;
  explicit Bound(std::shared_ptr<Run> run) : run_(std::move(run)) {}

  /// As Executable::run_into with what was given at the binding.
  /// \throws SpecViolation before anything is written: an input without value, or an index outside its range; DeviceError.
  void run_into(std::vector<HostTensor>& outputs) const;
  /// The same, where nobody asks for the outputs: they are not copied from the device. \throws as run_into
  void run() const;

 private:
  std::shared_ptr<Run> run_;
};

/// Compiled code on a device (CompileOptions::device), with memory of its own for intermediates and captured values. Copies share the
/// code, whose making is safe from any thread, and have memory of their own, which is taken at the first run.
///
/// An executable and what is bound to it run one at a time; executables run at the same time, copies as well as others, each on a
/// thread of its own. Stores are the caller's: executables that run at the same time may read one store where none of them updates it
/// and each has run on it before (the first run may decide how parameters lie); else each has its own. Results do not depend on what
/// else runs.
class Executable {
 public:
  class Body;
  explicit Executable(std::shared_ptr<Body> body) : body_(std::move(body)) {}
  Executable(const Executable& other);
  Executable& operator=(const Executable& other);
  Executable(Executable&&) noexcept = default;
  Executable& operator=(Executable&&) noexcept = default;
  ~Executable() = default;

  using Named = std::map<std::string, HostTensor>;

  /// Declares in the store what the program reads from it: parameters, inputs and indices.
  void declare(Store& store) const;
  /// Runs on the store: parameters, and inputs that `given` does not hold, are read from it by name; updates are
  /// written to it when everything else is done. Inputs in `given` are used where they lie and do not enter the store.
  /// \returns the program's outputs in order.
  /// \throws SpecViolation before anything is written: an input missing, without value, of another type, not an input
  /// of the program, or an index outside its range; DeviceError where the device fails: then each value in the store is the one before.
  std::vector<HostTensor> run(Store& store, const Named& given = {}) const;

  /// The same into `outputs`, whose memory is used again where the types are the program's; others are made anew.
  void run_into(std::vector<HostTensor>& outputs, Store& store, const Named& given = {}) const;

  /// For runs on this store that are all given the same tensors, which outlive what is returned; their numbers may change
  /// between runs, not their types.
  /// \throws SpecViolation when an input is neither given nor in the store, or has another type there, or what is given is
  /// no input.
  [[nodiscard]] Bound bind(Store& store, const Named& given = {}) const;

  /// Runs on tensors in the order of the inputs (constants included or, when there are fewer tensors, left out).
  [[nodiscard]] std::vector<HostTensor> run(std::span<const HostTensor> inputs) const;
  /// Tangents of the outputs (captured values not among them) for tangents of the inputs; an absent tangent means that the input is a constant.
  [[nodiscard]] Derivatives jvp(std::span<const HostTensor> inputs,
                                std::span<const std::optional<HostTensor>> tangents) const;
  /// Cotangents of the inputs that `wrt` marks for cotangents of the outputs; for an absent cotangent zeros are filled in.
  [[nodiscard]] Derivatives vjp(std::span<const HostTensor> inputs, const std::vector<bool>& wrt,
                                std::span<const std::optional<HostTensor>> cotangents) const;

  /// The names of captured values, in the order of the program's wishes.
  [[nodiscard]] std::vector<std::string> captures() const;
  /// A captured value of the last run, good until the next one. \throws SpecViolation for another name, or before a run.
  [[nodiscard]] const HostTensor& captured(const std::string& name) const;

  [[nodiscard]] const Report& report() const;
  /// The system that was compiled, passes applied.
  [[nodiscard]] const spec::System& system() const;

 private:
  std::shared_ptr<Body> body_;
};

/// \throws SpecViolation for an ill-typed program, Unsupported for what this backend does not do.
[[nodiscard]] Executable compile(const spec::Program& program, const CompileOptions& options = {});
/// The same for a bare system; its inputs are plain inputs and it has no updates.
[[nodiscard]] Executable compile_system(const spec::System& system, const CompileOptions& options = {});

}  // namespace etalon::compiled
