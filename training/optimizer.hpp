/// \file
/// How parameters follow their gradients: groups of parameters with an optimizer each, and the steps of a program that
/// they come to. What an optimizer keeps between steps is read off its definition.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec/program/trace.hpp"
#include "training/loss_scale.hpp"
#include "training/model/parameters.hpp"

namespace etalon::training {

/// An operation `(p, g, state…, t) {lr, …} -> (p, state…)` of the library; t is the number of the step, from 1, where
/// the operation has it.
struct Optimizer {
  std::string operation;
  spec::Attributes attributes = {};            ///< without the learning rate and the weight decay
  double weight_decay = 0;                     ///< for the parameters that decay
  std::map<std::string, double> first = {};    ///< of state tensors that do not start at 0, by their names in the definition
};

/// A tensor that is kept between steps.
struct StateTensor {
  std::string name;  ///< `hidden.weight.m`
  DType dtype = DType::f32;
  Dims dims;
  double first = 0;
};

/// An operation on gradients before they are followed, such as clipping; one over a pack sees all gradients of the step. One that
/// keeps something is `(g#, kept…, step) -> (f, kept…)`: all gradients are multiplied by f. Its last operand is the step's
/// number, from 1, where the operation has it.
struct GradientOperation {
  std::string operation;
  spec::Attributes attributes = {};
  std::string text = {};  ///< the definition of one that keeps something
  std::vector<StateTensor> kept = {};
};

/// Parameters that follow one optimizer. Every trained parameter belongs to the first group that its name matches.
struct Group {
  std::string pattern = "*";  ///< of names; `*` stands for any text
  Optimizer optimizer;
  double rate = 1;            ///< times the learning rate of the step
};

/// Which parameter follows what.
class Optimization {
 public:
  Optimization() = default;
  /// \throws SpecViolation: a group that no trained parameter belongs to, a parameter without a group, an operation that
  /// is no optimizer; where the loss is scaled, as require_sound, or for a trained parameter that is not f32.
  Optimization(const Parameters& parameters, std::vector<Group> groups, std::vector<GradientOperation> before = {},
               const std::optional<LossScaling>& loss_scaling = {});

  struct Entry {
    std::string name;
    Parameter parameter;
    std::size_t group = 0;
    std::vector<StateTensor> state;
  };
  /// The trained parameters, in the model's order.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  /// Where gradients are those of a scaled loss.
  [[nodiscard]] const std::optional<LossScaling>& loss_scaling() const { return loss_scaling_; }

  /// All that is kept between steps: the entries' state, what operations on gradients keep, scale and count of good steps.
  [[nodiscard]] std::vector<StateTensor> kept() const;

  /// What a step knows when it updates.
  struct Inputs {
    std::map<std::string, Traced> values;         ///< parameters by name
    std::vector<Traced> gradients;                ///< of the entries, in their order
    Traced count;                                 ///< i64, of this step, from 1
    Traced rate;                                  ///< the learning rate
    std::optional<Traced> guard{};                ///< a scalar; where it is not finite, everything stays what it was
  };
  /// Writes the updates of parameters and state.
  void write(spec::Tracer& tracer, const Inputs& inputs) const;

 private:
  [[nodiscard]] std::vector<Traced> prepared(spec::Tracer& tracer, const Inputs& inputs) const;
  void update(spec::Tracer& tracer, const Entry& entry, const Traced& gradient, const Inputs& inputs) const;

  std::vector<Group> groups_;
  std::vector<GradientOperation> before_;
  std::vector<Entry> entries_;
  std::optional<LossScaling> loss_scaling_;
};

/// `value` where `guard` is finite, else `old`. Both have one type.
[[nodiscard]] Traced finite_or_kept(const Traced& value, const Traced& old, const Traced& guard);

}  // namespace etalon::training
