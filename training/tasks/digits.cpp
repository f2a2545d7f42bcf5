#include <boost/hana/define_struct.hpp>

#include "spec/library/operations.hpp"
#include "training/data/random_streams.hpp"
#include "training/layers.hpp"
#include "training/tasks/augment.hpp"
#include "training/tasks/classifier.hpp"
#include "training/tasks/tasks.hpp"

namespace etalon::training {

namespace {

using namespace etalon::ops;
using layers::Convolution;
using layers::Linear;

template <template <class> class V>
struct Mlp {
  using Hidden = Linear<V, 64, 64>;
  using Narrow = Linear<V, 64, 32>;
  using Output = Linear<V, 32, 10>;
  BOOST_HANA_DEFINE_STRUCT(Mlp, (Hidden, hidden), (Narrow, narrow), (Output, output));
};

template <template <class> class V>
struct Cnn {
  using Edges = Convolution<V, 1, 16, 3, 3, "padding=[1, 1]">;
  using Shapes = Convolution<V, 16, 32, 3, 3, "padding=[1, 1]">;
  using Output = Linear<V, 128, 10>;
  BOOST_HANA_DEFINE_STRUCT(Cnn, (Edges, edges), (Shapes, shapes), (Output, output));
};

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
  const Traced wide = relu(m.hidden(written(x, noise)));
  const Traced narrow = relu(m.narrow(dropped(wide, noise, 0.1, 1)));
  return m.output(narrow);
}

Traced pooled(const Traced& x) {
  const std::vector<std::int64_t> two{2, 2};
  return max_pool2d.set("kernel", two).set("stride", two)(x);
}

Traced cnn_forward(const Cnn<Untyped>& m, const Traced& x, const Noise<Untyped>* noise) {
  const std::int64_t rows = x.dims()[0];
  const Traced image = reshape.set("shape", std::vector<std::int64_t>{rows, 1, 8, 8})(written(x, noise));
  const Traced shapes = pooled(relu(m.shapes(pooled(relu(m.edges(image))))));
  const std::int64_t features = shapes.dims().count() / rows;
  const Traced flat = reshape.set("shape", std::vector<std::int64_t>{rows, features})(shapes);
  return m.output(dropped(flat, noise, 0.2, 1));
}

}  // namespace

Task digits_mlp() {
  Task task = classifier("digits (MLP)", 0.005, 0.01);
  use_model(task, started<Mlp<Declared>>(), mlp_forward);
  return task;
}

Task digits_cnn() {
  Task task = classifier("digits (CNN)", 0.005, 0.01);
  use_model(task, started<Cnn<Declared>>(), cnn_forward);
  return task;
}

}  // namespace etalon::training
