#include "tools/bench/model.hpp"

#include <fmt/format.h>

#include <cmath>

#include "spec/library/operations.hpp"

namespace etalon::bench {
namespace {

using namespace etalon::ops;

/// Drawn as PyTorch draws a layer: within one over the root of what a unit reads.
InputSpec drawn(std::string name, const Dims& dims, std::int64_t reads) {
  const double limit = 1 / std::sqrt(static_cast<double>(reads));
  return {std::move(name), dims, -limit, limit, Values::uniform, true};
}

void add_dense(Model& model, const std::string& name, std::int64_t out, std::int64_t in, bool bias = true) {
  model.parameters.push_back(drawn("w" + name, {out, in}, in));
  if (bias) model.parameters.push_back(drawn("b" + name, {out}, in));
}

Traced dense(Reader& p, const Traced& x) {
  const Traced weight = p.next();
  return linear(x, weight, p.next());
}

Traced bare_dense(Reader& p, const Traced& x) { return linear(x, p.next(), spec::absent); }

InputSpec classes(const Dims& dims, std::int64_t count) {
  return {"targets", dims, 0, static_cast<double>(count - 1), Values::classes, false, DType::i64};
}

Traced class_loss(const Traced& answers, const Traced& targets) {
  return cross_entropy(answers, targets, spec::absent);
}

Traced block(Reader& p, const Traced& x) {
  const Traced gamma = p.next(), beta = p.next();
  const Traced normal = layer_norm(x, gamma, beta);
  const Traced wq = p.next(), wk = p.next(), wv = p.next(), wo = p.next();
  const Traced attended = x + multi_head_attention.set("heads", std::int64_t{4})
                                  .set("causal", true)(normal, wq, wk, wv, wo, spec::absent, spec::absent, spec::absent,
                                                       spec::absent, spec::absent);
  const Traced gamma2 = p.next(), beta2 = p.next();
  const Traced wide = gelu.set("approximate", std::string("tanh"))(dense(p, layer_norm(attended, gamma2, beta2)));
  return attended + dense(p, wide);
}

void add_norm(Model& model, const std::string& name, std::int64_t width) {
  model.parameters.push_back({"gamma" + name, {width}, 0.5, 1.5, Values::uniform, true});
  model.parameters.push_back({"beta" + name, {width}, -0.1, 0.1, Values::uniform, true});
}

}  // namespace

Model moons_model() {
  Model m;
  m.name = "moons";
  m.what = "MLP 2-16-16-1, batch 10, hinge, SGD with weight decay";
  add_dense(m, "1", 16, 2);
  add_dense(m, "2", 16, 16);
  add_dense(m, "3", 1, 16, false);
  m.data = {"x", {10, 2}};
  m.targets = {"targets", {10, 1}, -1, 1, Values::signs};
  m.answers = [](Reader p, const Traced& x) {
    const Traced first = relu(dense(p, x));
    const Traced second = relu(dense(p, first));
    return bare_dense(p, second);
  };
  m.loss = [](const Traced& answers, const Traced& targets) { return hinge(answers, targets); };
  m.optimizer = "sgd";
  m.attributes = {{"lr", 0.1}, {"weight_decay", 1e-4}};
  m.state = {"velocity"};
  m.compares_first_state = false;
  m.flops = 6.0 * 10 * (2 * 16 + 16 * 16 + 16);
  return m;
}

Model mlp_model() {
  Model m;
  m.name = "mlp";
  m.what = "MLP 784-512-256-10, batch 128, cross-entropy, Adam";
  add_dense(m, "1", 512, 784);
  add_dense(m, "2", 256, 512);
  add_dense(m, "3", 10, 256);
  m.data = {"x", {128, 784}, 0, 1};
  m.targets = classes({128}, 10);
  m.answers = [](Reader p, const Traced& x) {
    const Traced first = relu(dense(p, x));
    const Traced second = relu(dense(p, first));
    return dense(p, second);
  };
  m.loss = class_loss;
  m.optimizer = "adam";
  m.attributes = {{"lr", 1e-3}};
  m.state = {"m", "v"};
  m.flops = 2.0 * 128 * (2.0 * 784 * 512 + 3.0 * (512 * 256 + 256 * 10));
  return m;
}

Model cnn_model() {
  Model m;
  m.name = "cnn";
  m.what = "CNN conv3x3(1→16)-relu-pool-conv3x3(16→32)-relu-pool-linear(10), 28×28, batch 64, SGD with momentum";
  m.parameters = {drawn("k1", {16, 1, 3, 3}, 9), drawn("b1", {16}, 9), drawn("k2", {32, 16, 3, 3}, 144),
                  drawn("b2", {32}, 144)};
  add_dense(m, "3", 10, 32 * 7 * 7);
  m.data = {"x", {64, 1, 28, 28}, 0, 1};
  m.targets = classes({64}, 10);
  m.answers = [](Reader p, const Traced& x) {
    const auto stage = [&p](const Traced& image) {
      const Traced kernel = p.next(), bias = p.next();
      const Traced active = relu(conv2d.set("padding", std::vector<std::int64_t>{1, 1})(image, kernel, bias));
      return max_pool2d.set("kernel", std::vector<std::int64_t>{2, 2})(active);
    };
    const Traced small = stage(x);
    const Traced smaller = stage(small);
    return dense(p, reshape.set("shape", std::vector<std::int64_t>{64, 32 * 7 * 7})(smaller));
  };
  m.loss = class_loss;
  m.optimizer = "sgd";
  m.attributes = {{"lr", 0.01}, {"momentum", 0.9}};
  m.state = {"velocity"};
  m.flops = 2.0 * 64 * (2.0 * 28 * 28 * 16 * 9 + 3.0 * (14 * 14 * 32 * 144 + 1568 * 10));
  return m;
}

// The projections of attention have no bias: the softmax does not see that of the keys, so its gradient is nothing but
// rounding, which Adam scales up to whole steps, and no two systems would agree on it.
Model gpt_model() {
  const std::int64_t vocabulary = 96, width = 128, length = 64, batch = 8;
  Model m;
  m.name = "gpt";
  m.what = "GPT of 2 blocks, width 128, 4 heads, sequence 64, batch 8, vocabulary 96, AdamW";
  m.parameters = {{"tokens", {vocabulary, width}, -0.1, 0.1, Values::uniform, true},
                  {"positions", {length, width}, -0.1, 0.1, Values::uniform, true}};
  for (const std::string b : {"1", "2"}) {
    add_norm(m, b + "a", width);
    for (const char* part : {"q", "k", "v", "o"}) add_dense(m, part + b, width, width, false);
    add_norm(m, b + "b", width);
    add_dense(m, "in" + b, 4 * width, width);
    add_dense(m, "out" + b, width, 4 * width);
  }
  add_norm(m, "last", width);
  add_dense(m, "head", vocabulary, width, false);
  m.data = {"text", {batch, length}, 0, static_cast<double>(vocabulary - 1), Values::classes, false, DType::i64};
  m.targets = classes({batch, length}, vocabulary);
  m.answers = [](Reader p, const Traced& text) {
    const Traced tokens = p.next(), positions = p.next();
    const Traced first = block(p, embedding(tokens, text) + positions);
    const Traced second = block(p, first);
    const Traced gamma = p.next(), beta = p.next();
    return bare_dense(p, layer_norm(second, gamma, beta));
  };
  m.loss = class_loss;
  m.optimizer = "adamw";
  m.attributes = {{"lr", 1e-3}, {"weight_decay", 0.01}};
  m.state = {"m", "v"};
  m.flops = 6.0 * 512 * (2.0 * 12 * 128 * 128 + 96 * 128) + 3.0 * 2 * 4 * 8 * 4 * 64 * 64 * 32;
  return m;
}

}  // namespace etalon::bench
