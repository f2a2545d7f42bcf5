#include <boost/hana/define_struct.hpp>

#include "spec/library/operations.hpp"
#include "training/data/random_streams.hpp"
#include "training/tasks/augment.hpp"
#include "training/tasks/tasks.hpp"

namespace etalon::training {

namespace {

using namespace etalon::ops;

template <template <class> class V, class Weight, class Bias>
struct LayerOf {
  BOOST_HANA_DEFINE_STRUCT(LayerOf, (V<Weight>, weight), (V<Bias>, bias));
};
/// Weights with the outputs as their first axis.
template <template <class> class V, std::int64_t outputs, std::int64_t... inputs>
using Layer = LayerOf<V, Shape<outputs, inputs...>, Shape<outputs>>;

template <template <class> class V>
struct Mlp {
  using Hidden = Layer<V, 64, 64>;
  using Narrow = Layer<V, 32, 64>;
  using Output = Layer<V, 10, 32>;
  BOOST_HANA_DEFINE_STRUCT(Mlp, (Hidden, hidden), (Narrow, narrow), (Output, output));
};

template <template <class> class V>
struct Cnn {
  using Edges = Layer<V, 16, 1, 3, 3>;
  using Shapes = Layer<V, 32, 16, 3, 3>;
  using Output = Layer<V, 10, 128>;
  BOOST_HANA_DEFINE_STRUCT(Cnn, (Edges, edges), (Shapes, shapes), (Output, output));
};

/// Weights are drawn and decay; the other parameters start at 0.
template <class Model>
Model drawn_weights() {
  Model model;
  for_each_leaf(model, [](const std::string&, Parameter& parameter) {
    parameter.decays = parameter.dims.rank > 1;
    parameter.initialiser = Initialiser{parameter.decays ? "kaiming_uniform" : "zeros"};
  });
  return model;
}

/// Drops a part of the values in training; `stream` tells the random operations of one model apart.
Traced dropped(const Traced& x, const Noise<Untyped>* noise, double p, std::int64_t stream) {
  if (noise == nullptr) return x;
  return dropout.set("p", p).set("stream", static_cast<std::int64_t>(Stream::model_streams) + stream)(x, noise->seed,
                                                                                                      noise->step);
}

/// Rows of pixels; in training as they might also have been written.
Traced written(const Traced& x, const Noise<Untyped>* noise) {
  if (noise == nullptr) return x;
  const std::int64_t rows = x.dims()[0];
  const Traced images = reshape.set("shape", std::vector<std::int64_t>{rows, 8, 8})(x);
  const Traced other = augmented(images, *noise, {0.7, 0.175, 0.2}, static_cast<std::int64_t>(Stream::model_streams) + 2);
  return reshape.set("shape", std::vector<std::int64_t>{rows, 64})(other);
}

Traced mlp_forward(const Mlp<Untyped>& m, const Traced& x, const Noise<Untyped>* noise) {
  const Traced wide = relu(linear(written(x, noise), m.hidden.weight, m.hidden.bias));
  const Traced narrow = relu(linear(dropped(wide, noise, 0.1, 1), m.narrow.weight, m.narrow.bias));
  return linear(narrow, m.output.weight, m.output.bias);
}

Traced pooled(const Traced& x) {
  const std::vector<std::int64_t> two{2, 2};
  return max_pool2d.set("kernel", two).set("stride", two)(x);
}

template <class Layer>
Traced convolved(const Traced& x, const Layer& l) {
  return relu(conv2d.set("padding", std::vector<std::int64_t>{1, 1})(x, l.weight, l.bias));
}

Traced cnn_forward(const Cnn<Untyped>& m, const Traced& x, const Noise<Untyped>* noise) {
  const std::int64_t rows = x.dims()[0];
  const Traced image = reshape.set("shape", std::vector<std::int64_t>{rows, 1, 8, 8})(written(x, noise));
  const Traced shapes = pooled(convolved(pooled(convolved(image, m.edges)), m.shapes));
  const std::int64_t features = shapes.dims().count() / rows;
  const Traced flat = reshape.set("shape", std::vector<std::int64_t>{rows, features})(shapes);
  return linear(dropped(flat, noise, 0.2, 1), m.output.weight, m.output.bias);
}

/// Cross-entropy, and AdamW whose rate falls linearly from `peak` to 0.
Task classifier(std::string name, double peak, double weight_decay) {
  Task task;
  task.name = std::move(name);
  task.loss = [](const Traced& answers, const Traced& classes) {
    return cross_entropy(answers, classes, spec::absent);
  };
  task.rate = [peak](const Traced& step_n, std::int64_t steps) {
    return linear_schedule.set("initial", peak).set("steps", steps)(step_n);
  };
  task.groups = {{"*", {"adamw", {}, weight_decay}}};
  return task;
}

}  // namespace

Task digits_mlp() {
  Task task = classifier("digits (MLP)", 0.005, 0.01);
  use_model(task, drawn_weights<Mlp<Declared>>(), mlp_forward);
  return task;
}

Task digits_cnn() {
  Task task = classifier("digits (CNN)", 0.005, 0.01);
  use_model(task, drawn_weights<Cnn<Declared>>(), cnn_forward);
  return task;
}

}  // namespace etalon::training
