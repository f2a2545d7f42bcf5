/// \file
/// The four models of `etalon bench` as libtorch says them. It knows nothing of who asks or of clocks.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace etalon::bench::libtorch {

using Tensors = std::vector<at::Tensor>;

struct Model {
  std::vector<std::vector<std::int64_t>> shapes;  ///< of the parameters
  std::vector<std::int64_t> data, targets;        ///< their shapes
  bool reads_classes = false, aims_at_classes = true;
  std::function<at::Tensor(const Tensors& parameters, const at::Tensor& data)> answers;
  std::function<at::Tensor(const at::Tensor& answers, const at::Tensor& targets)> loss;
  std::function<std::unique_ptr<torch::optim::Optimizer>(const Tensors& parameters)> optimizer;
  /// The state that is compared along with the parameter; none where the optimizer has none.
  std::function<at::Tensor(torch::optim::Optimizer&, const at::Tensor& parameter)> state;
};

/// \throws NotOffered for another name than moons, mlp, cnn and gpt
[[nodiscard]] const Model& model_named(const std::string& name);

/// softmax(q·kᵀ/√width)·v; no position sees a later one.
[[nodiscard]] at::Tensor causal_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

}  // namespace etalon::bench::libtorch
