/// \file
/// The four models of the training workloads: their parameters, forward pass, loss and optimizer. Their names are those
/// that peers know them by.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/bench/workload.hpp"

namespace etalon::bench {

/// Reads the parameters of a model one after the other, in the order in which they are declared.
class Reader {
 public:
  explicit Reader(std::vector<Traced> parameters) : parameters_(std::move(parameters)) {}
  [[nodiscard]] const Traced& next() { return parameters_.at(position_++); }

 private:
  std::vector<Traced> parameters_;
  std::size_t position_ = 0;
};

struct Model {
  std::string name;
  std::string what;
  std::vector<InputSpec> parameters;
  InputSpec data;
  InputSpec targets;
  std::function<Traced(Reader parameters, const Traced& data)> answers;
  std::function<Traced(const Traced& answers, const Traced& targets)> loss;
  std::string optimizer;             ///< of the library: p, g, state…, t in; p, state… out
  spec::Attributes attributes;       ///< of the optimizer
  std::vector<std::string> state;    ///< names of its state tensors
  bool compares_first_state = true;  ///< the first state holds the gradient, up to a factor
  double flops = 0;                  ///< of one training step
};

[[nodiscard]] Model moons_model();
[[nodiscard]] Model mlp_model();
[[nodiscard]] Model cnn_model();
[[nodiscard]] Model gpt_model();

/// One step of training: loss, gradients, the optimizer on every parameter.
[[nodiscard]] Workload training_workload(const Model& model);
/// The answers alone.
[[nodiscard]] Workload forward_workload(const Model& model);

}  // namespace etalon::bench
