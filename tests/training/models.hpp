// Models of the tests, each written once over a world.
#pragma once

#include <boost/hana/define_struct.hpp>
#include <array>

#include "spec/library/operations.hpp"
#include "training/model/parameter.hpp"
#include "training/model/structure.hpp"

namespace etalon::test {

using training::Declared;

template <template <class> class V, class Weight, class Bias>
struct Layer {
  BOOST_HANA_DEFINE_STRUCT(Layer, (V<Weight>, weight), (V<Bias>, bias));
};
template <template <class> class V, std::int64_t outputs, std::int64_t... inputs>
using Dense = Layer<V, Shape<outputs, inputs...>, Shape<outputs>>;

/// Weights are drawn and decay; vectors start at 0.
template <class Model>
Model drawn() {
  Model model;
  training::for_each_leaf(model, [](const std::string&, training::Parameter& p) {
    p.decays = p.dims.rank > 1;
    p.initialiser = training::Initialiser{p.decays ? "xavier_uniform" : "zeros"};
  });
  return model;
}

/// 64 pixels → 3 → 10 classes.
template <template <class> class V>
struct Mlp {
  using Hidden = Dense<V, 3, 64>;
  using Output = Dense<V, 10, 3>;
  BOOST_HANA_DEFINE_STRUCT(Mlp, (Hidden, hidden), (Output, output));
};

/// One convolution, pooling, one layer.
template <template <class> class V>
struct Cnn {
  using Edges = Dense<V, 2, 1, 3, 3>;
  using Output = Dense<V, 10, 8>;
  BOOST_HANA_DEFINE_STRUCT(Cnn, (Edges, edges), (Output, output));
};

template <template <class> class V>
struct Digits {
  using Images = V<Shape<3, 64>>;
  using Classes = V<spec::Typed<std::int64_t, Shape<3>>>;
  BOOST_HANA_DEFINE_STRUCT(Digits, (Images, images), (Classes, classes));
};

template <template <class> class V>
struct Norm {
  using Vector = V<Shape<4>>;
  BOOST_HANA_DEFINE_STRUCT(Norm, (Vector, gain), (Vector, shift));
};

template <template <class> class V>
struct Block {
  using Square = V<Shape<4, 4>>;
  using Up = Dense<V, 6, 4>;
  using Down = Dense<V, 4, 6>;
  BOOST_HANA_DEFINE_STRUCT(Block, (Norm<V>, before), (Square, queries), (Square, keys), (Square, values), (Square, joined),
                           (Norm<V>, between), (Up, up), (Down, down));
};

/// A GPT of one block over 16 characters; what reads them in also tells them apart (tied weights).
template <template <class> class V>
struct Gpt {
  using Tokens = V<Shape<16, 4>>;
  using Positions = V<Shape<5, 4>>;
  using Blocks = std::array<Block<V>, 1>;
  BOOST_HANA_DEFINE_STRUCT(Gpt, (Tokens, tokens), (Positions, positions), (Blocks, blocks), (Tokens, head));
};

template <template <class> class V>
struct Text {
  using Characters = V<spec::Typed<std::int64_t, Shape<2, 5>>>;
  BOOST_HANA_DEFINE_STRUCT(Text, (Characters, read), (Characters, next));
};

// --- what they compute ---

inline constexpr auto mlp_loss = [](const auto& m, const auto& batch, const auto& noise) {
  const auto hidden = ops::tanh(ops::linear(batch.images, m.hidden.weight, m.hidden.bias));
  const auto some = ops::dropout.with<"p=0.25, stream=65537">(hidden, noise.seed, noise.step);
  return ops::cross_entropy(ops::linear(some, m.output.weight, m.output.bias), batch.classes, spec::absent);
};

inline constexpr auto cnn_loss = [](const auto& m, const auto& batch, const auto&) {
  const auto image = ops::reshape.with<"shape=[3, 1, 8, 8]">(batch.images);
  const auto edges = ops::relu(ops::conv2d.with<"padding=[1, 1]">(image, m.edges.weight, m.edges.bias));
  const auto flat = ops::flatten.with<"start=1">(ops::max_pool2d.with<"kernel=[4, 4]">(edges));
  return ops::cross_entropy(ops::linear(flat, m.output.weight, m.output.bias), batch.classes, spec::absent);
};

inline constexpr auto gpt_block = [](const auto& b, const auto& x) {
  const auto seen = ops::layer_norm(x, b.before.gain, b.before.shift);
  const auto attended = x + ops::multi_head_attention.with<"heads=2, causal=true">(seen, b.queries, b.keys, b.values, b.joined, spec::absent,
                                                                                   spec::absent, spec::absent, spec::absent, spec::absent);
  const auto again = ops::layer_norm(attended, b.between.gain, b.between.shift);
  return attended + ops::linear(ops::gelu(ops::linear(again, b.up.weight, b.up.bias)), b.down.weight, b.down.bias);
};

inline constexpr auto gpt_loss = [](const auto& m, const auto& batch, const auto&) {
  const auto x = ops::embedding(m.tokens, batch.read) + m.positions;
  return ops::cross_entropy(ops::linear(gpt_block(m.blocks[0], x), m.head, spec::absent), batch.next, spec::absent);
};

/// Gains start at 1, and the head is the embedding.
template <class G>
G drawn_gpt() {
  G model = drawn<G>();
  training::for_each_leaf(model, [](const std::string& path, training::Parameter& p) {
    if (path.ends_with("gain")) p.initialiser = training::Initialiser{"ones"};
  });
  tie(model.tokens, model.head);
  return model;
}

}  // namespace etalon::test
