/// \file
/// What a session has written down since its last step, the values that were looked at, and gradients: the untyped core
/// behind handles. It knows no shapes at compile time and no optimizer.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spec/program/trace.hpp"
#include "training/outcome.hpp"
#include "training/state.hpp"
#include "training/target.hpp"

namespace etalon::training {

/// One stretch of a session, from one step to the next.
class Record {
 public:
  Record(Target target, State state, DType real);

  [[nodiscard]] spec::Tracer& tracer() { return tracer_; }
  [[nodiscard]] bool open() const { return open_; }
  /// Nothing more is recorded or computed; values that were looked at stay.
  void close() { open_ = false; }

  /// The parameter of the state, or its step count or seed, declared at its first use.
  [[nodiscard]] Traced entry(const std::string& name);
  /// A value from outside; an empty name is numbered.
  [[nodiscard]] Traced input(const std::string& name, HostTensor value, bool requires_gradient);

  /// The value, computed at the first look. \throws SpecViolation when the record has ended, Unsupported where the
  /// backend gives no numbers.
  [[nodiscard]] HostTensor value(const Traced& of);

  /// Adds the cotangent of a value to what gradients are taken of; without one the value is a scalar and it is 1.
  void backward(const Traced& of, std::optional<HostTensor> cotangent);
  /// The gradient that all `backward` so far give the value. \throws SpecViolation: there was none, or it requires none.
  [[nodiscard]] Traced gradient(const Traced& of);
  /// Those of several values that need not require one; exactly zero where nothing leads there.
  [[nodiscard]] std::vector<Traced> gradients(std::span<const Traced> of);
  /// What `backward` was called with, summed, where that is scalars.
  [[nodiscard]] std::optional<Traced> loss() const;

  /// The names that captured values have.
  [[nodiscard]] std::vector<std::string> captures() const;
  /// A captured value. \throws as `value`.
  [[nodiscard]] HostTensor captured(const std::string& name);

  /// Runs what was written with its updates; the values of `looked_at` are outputs. What it captures is in the outcome; where
  /// the guard finds what is not finite, nothing is updated and the outcome says so. \throws as `value`.
  [[nodiscard]] Outcome run_updates(std::span<const Traced> looked_at, const Guard& guard);
  [[nodiscard]] const State& state() const { return state_; }

 private:
  [[nodiscard]] HostTensor value_named(const std::string& name);
  [[nodiscard]] spec::Program program(std::vector<std::string> outputs, bool updates);
  [[nodiscard]] Named given_to(const spec::Program& program) const;
  void require_open(const std::string& name) const;

  Target target_;
  State state_;
  spec::Tracer tracer_;
  bool open_ = true;
  int unnamed_ = 0;
  std::map<std::string, Traced> entries_;
  std::vector<Traced> requiring_;  ///< parameters that are trained, and inputs that say so
  Named given_;
  Named values_;
  std::vector<Traced> roots_;
  std::vector<Traced> cotangents_;
  std::map<std::string, Traced> gradients_;
};

}  // namespace etalon::training
