#include "tools/bench/peers/libtorch_models.hpp"

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <limits>
#include <map>

#include "tools/bench/competitor.hpp"

namespace etalon::bench::libtorch {
namespace {

namespace optim = torch::optim;

/// Reads parameters one after the other.
class Reader {
 public:
  explicit Reader(const Tensors& parameters, std::size_t from = 0) : parameters_(parameters), next_(from) {}
  const at::Tensor& next() { return parameters_.at(next_++); }
  at::Tensor dense(const at::Tensor& x) {
    const at::Tensor& weight = next();
    return at::linear(x, weight, next());
  }
  at::Tensor bare_dense(const at::Tensor& x) { return at::linear(x, next()); }
  at::Tensor norm(const at::Tensor& x) {
    const at::Tensor& gamma = next();
    return at::layer_norm(x, {128}, gamma, next());
  }

 private:
  const Tensors& parameters_;
  std::size_t next_;
};

at::Tensor dense_answers(const Tensors& p, const at::Tensor& x, bool last_has_bias) {
  Reader r(p);
  const at::Tensor first = at::relu(r.dense(x));
  const at::Tensor second = at::relu(r.dense(first));
  return last_has_bias ? r.dense(second) : r.bare_dense(second);
}

at::Tensor stage(Reader& r, const at::Tensor& image) {
  const at::Tensor& kernel = r.next();
  return at::max_pool2d(at::relu(at::conv2d(image, kernel, r.next(), 1, 1)), 2);
}

at::Tensor cnn_answers(const Tensors& p, const at::Tensor& x) {
  Reader r(p);
  const at::Tensor small = stage(r, x);
  return r.dense(stage(r, small).reshape({64, -1}));
}

at::Tensor block(Reader& r, const at::Tensor& x) {
  const at::Tensor normal = r.norm(x);
  const auto heads = [&] { return r.bare_dense(normal).view({8, 64, 4, 32}).transpose(1, 2); };
  const at::Tensor q = heads(), k = heads(), v = heads();
  const at::Tensor attended = x + r.bare_dense(causal_attention(q, k, v).transpose(1, 2).reshape({8, 64, 128}));
  const at::Tensor wide = at::gelu(r.dense(r.norm(attended)), "tanh");
  return attended + r.dense(wide);
}

at::Tensor gpt_answers(const Tensors& p, const at::Tensor& text) {
  Reader r(p);
  const at::Tensor tokens = at::embedding(r.next(), text);
  const at::Tensor first = block(r, tokens + r.next());
  const at::Tensor second = block(r, first);
  return r.bare_dense(r.norm(second));
}

at::Tensor class_loss(const at::Tensor& answers, const at::Tensor& targets) {
  return at::cross_entropy_loss(answers.reshape({-1, answers.size(-1)}), targets.reshape({-1}));
}

at::Tensor hinge(const at::Tensor& answers, const at::Tensor& targets) {
  return at::relu(1 - targets * answers).mean();
}

std::vector<std::vector<std::int64_t>> gpt_shapes() {
  std::vector<std::vector<std::int64_t>> shapes{{96, 128}, {64, 128}};
  for (int b = 0; b < 2; ++b) {
    for (const std::vector<std::int64_t>& s : std::vector<std::vector<std::int64_t>>{{128},
                                                                                     {128},
                                                                                     {128, 128},
                                                                                     {128, 128},
                                                                                     {128, 128},
                                                                                     {128, 128},
                                                                                     {128},
                                                                                     {128},
                                                                                     {512, 128},
                                                                                     {512},
                                                                                     {128, 512},
                                                                                     {128}})
      shapes.push_back(s);
  }
  shapes.insert(shapes.end(), {{128}, {128}, {96, 128}});
  return shapes;
}

template <class Algorithm, class Options>
auto optimizer(const Options& options) {
  return [options](const Tensors& p) -> std::unique_ptr<optim::Optimizer> {
    return std::make_unique<Algorithm>(p, options);
  };
}

template <class State, class Member>
auto state(Member member) {
  return [member](optim::Optimizer& o, const at::Tensor& p) {
    return (static_cast<State&>(*o.state().at(c10::guts::to_string(p.unsafeGetTensorImpl()))).*member)();
  };
}

template <class State>
auto first_moment() {
  return state<State>(static_cast<const at::Tensor& (State::*)() const noexcept>(&State::exp_avg));
}

Model moons() {
  return {{{16, 2}, {16}, {16, 16}, {16}, {1, 16}},
          {10, 2},
          {10, 1},
          false,
          false,
          [](const Tensors& p, const at::Tensor& x) { return dense_answers(p, x, false); },
          hinge,
          optimizer<optim::SGD>(optim::SGDOptions(0.1).weight_decay(1e-4)),
          {}};
}

Model mlp() {
  return {{{512, 784}, {512}, {256, 512}, {256}, {10, 256}, {10}},
          {128, 784},
          {128},
          false,
          true,
          [](const Tensors& p, const at::Tensor& x) { return dense_answers(p, x, true); },
          class_loss,
          optimizer<optim::Adam>(optim::AdamOptions(1e-3)),
          first_moment<optim::AdamParamState>()};
}

Model cnn() {
  using State = optim::SGDParamState;
  return {{{16, 1, 3, 3}, {16}, {32, 16, 3, 3}, {32}, {10, 1568}, {10}},
          {64, 1, 28, 28},
          {64},
          false,
          true,
          cnn_answers,
          class_loss,
          optimizer<optim::SGD>(optim::SGDOptions(0.01).momentum(0.9)),
          state<State>(static_cast<const at::Tensor& (State::*)() const noexcept>(&State::momentum_buffer))};
}

Model gpt() {
  return {gpt_shapes(),
          {8, 64},
          {8, 64},
          true,
          true,
          gpt_answers,
          class_loss,
          optimizer<optim::AdamW>(optim::AdamWOptions(1e-3).weight_decay(0.01)),
          first_moment<optim::AdamWParamState>()};
}

}  // namespace

at::Tensor causal_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  static std::map<std::int64_t, at::Tensor> by_length;  // made once, as a model does
  at::Tensor& hidden = by_length[q.size(2)];
  if (!hidden.defined()) hidden = at::ones({q.size(2), q.size(2)}).triu(1).to(at::kBool);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const at::Tensor scores = at::matmul(q, k.transpose(-2, -1)) * scale;
  return at::matmul(at::softmax(scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()), -1), v);
}

const Model& model_named(const std::string& name) {
  static const std::map<std::string, Model> models{{"moons", moons()}, {"mlp", mlp()}, {"cnn", cnn()}, {"gpt", gpt()}};
  const auto found = models.find(name);
  if (found == models.end()) throw NotOffered("no such recipe");
  return found->second;
}

}  // namespace etalon::bench::libtorch
