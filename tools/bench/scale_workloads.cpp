#include <fmt/format.h>

#include <cmath>

#include "spec/library/operations.hpp"
#include "tools/bench/model.hpp"
#include "tools/bench/workload_families.hpp"

namespace etalon::bench {
namespace {

using namespace etalon::ops;

InputSpec drawn(std::string name, const Dims& dims, std::int64_t reads) {
  const double limit = 1 / std::sqrt(static_cast<double>(reads));
  return {std::move(name), dims, -limit, limit, Values::uniform, true};
}

/// An MLP of equal layers, ten classes, cross-entropy, SGD with momentum.
Model equal_layers(std::int64_t width, std::int64_t depth, std::int64_t batch) {
  constexpr std::int64_t classes = 10;
  Model m;
  m.what = fmt::format("MLP of {} layers of {}, ten classes, batch {}, cross-entropy, SGD with momentum", depth, width, batch);
  for (std::int64_t l = 0; l <= depth; ++l) {
    const std::int64_t out = l < depth ? width : classes;
    m.parameters.push_back(drawn(fmt::format("w{}", l), {out, width}, width));
    m.parameters.push_back(drawn(fmt::format("b{}", l), {out}, width));
  }
  m.data = {"x", {batch, width}, 0, 1};
  m.targets = {"targets", {batch}, 0, classes - 1, Values::classes, false, DType::i64};
  m.answers = [depth](Reader p, const Traced& x) {
    Traced h = x;
    for (std::int64_t l = 0; l <= depth; ++l) {
      const Traced weight = p.next();
      h = linear(h, weight, p.next());
      if (l < depth) h = relu(h);
    }
    return h;
  };
  m.loss = [](const Traced& answers, const Traced& targets) { return cross_entropy(answers, targets, spec::absent); };
  m.optimizer = "sgd";
  m.attributes = {{"lr", 0.01}, {"momentum", 0.9}};
  m.state = {"velocity"};
  m.compares_first_state = false;
  const auto w = static_cast<double>(width);
  m.flops = 2 * static_cast<double>(batch) * (w * w * static_cast<double>(3 * depth - 1) + 3 * w * classes);
  return m;
}

/// Residual blocks of four calls, small tensors: what is measured is the compiler.
Model residual_blocks(std::int64_t blocks) {
  constexpr std::int64_t width = 32, batch = 8;
  Model m;
  m.what = fmt::format("{} blocks h + layer_norm(relu(linear(h))) of width {}, batch {}, mean, SGD with momentum", blocks, width, batch);
  for (std::int64_t b = 0; b < blocks; ++b) {
    m.parameters.push_back(drawn(fmt::format("w{}", b), {width, width}, width));
    m.parameters.push_back(drawn(fmt::format("b{}", b), {width}, width));
    m.parameters.push_back({fmt::format("gamma{}", b), {width}, 0.5, 1.5, Values::uniform, true});
    m.parameters.push_back({fmt::format("beta{}", b), {width}, -0.1, 0.1, Values::uniform, true});
  }
  m.data = {"x", {batch, width}};
  m.targets = {"targets", {batch, width}};
  m.answers = [blocks](Reader p, const Traced& x) {
    Traced h = x;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const Traced weight = p.next(), bias = p.next(), gamma = p.next(), beta = p.next();
      h = add(h, layer_norm(relu(linear(h, weight, bias)), gamma, beta));
    }
    return h;
  };
  m.loss = [](const Traced& answers, const Traced& targets) { return mse(answers, targets); };
  m.optimizer = "sgd";
  m.attributes = {{"lr", 0.001}, {"momentum", 0.9}};
  m.state = {"velocity"};
  m.compares_first_state = false;
  return m;
}

void add_sweep(std::vector<Workload>& all, const std::string& group, const std::vector<std::int64_t>& sizes,
               const std::function<Model(std::int64_t)>& model) {
  for (const std::int64_t size : sizes) {
    Workload w = training_workload(model(size));
    w.name = fmt::format("{}-{}", group, size);
    w.group = group;
    w.recipe = "scale";
    w.size = static_cast<double>(size);
    all.push_back(std::move(w));
  }
}

/// \param per_block, besides calls of a program of that many blocks
void add_calls(std::vector<Workload>& all, const std::string& group, const std::vector<std::int64_t>& blocks, std::int64_t per_block,
               std::int64_t besides, const std::function<Workload(const Model&)>& workload) {
  for (const std::int64_t count : blocks) {
    Workload w = workload(residual_blocks(count));
    const std::int64_t calls = per_block * count + besides;
    w.name = fmt::format("{}-{}", group, calls);
    w.group = group;
    w.recipe = "scale";
    w.quantity = Quantity::first_call;
    w.flops = 0;
    w.size = static_cast<double>(calls);
    all.push_back(std::move(w));
  }
}

}  // namespace

std::vector<Workload> scale_workloads() {
  std::vector<Workload> all;
  add_sweep(all, "width", {64, 128, 256, 512, 1024, 2048}, [](std::int64_t width) { return equal_layers(width, 4, 64); });
  add_sweep(all, "depth", {1, 2, 4, 8, 16, 32}, [](std::int64_t depth) { return equal_layers(256, depth, 64); });
  add_sweep(all, "batch", {1, 4, 16, 64, 256, 1024}, [](std::int64_t batch) { return equal_layers(256, 4, batch); });
  // A block calls linear, relu, layer_norm and add; its step also updates four parameters. Besides: the loss, the
  // gradient, the number of steps.
  add_calls(all, "calls", {3, 25, 250, 2500}, 4, 0, forward_workload);
  add_calls(all, "step-calls", {1, 12, 125, 1250}, 8, 3, training_workload);
  return all;
}

}  // namespace etalon::bench
