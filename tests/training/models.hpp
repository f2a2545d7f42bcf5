// Models of the tests, each written once over a world.
#pragma once

#include <boost/hana/define_struct.hpp>
#include <array>

#include "spec/library/operations.hpp"
#include "training/layers.hpp"

namespace etalon::test {

using training::Declared;

namespace layers = training::layers;

/// Weights are drawn and decay; gains start at 1, other vectors at 0.
template <class Model>
Model drawn() {
  return training::started<Model>("xavier_uniform");
}

/// 64 pixels → 3 → 10 classes.
template <template <class> class V>
struct Mlp {
  using Hidden = layers::Linear<V, 64, 3>;
  using Output = layers::Linear<V, 3, 10>;
  BOOST_HANA_DEFINE_STRUCT(Mlp, (Hidden, hidden), (Output, output));
};

/// One convolution, pooling, one layer.
template <template <class> class V>
struct Cnn {
  using Edges = layers::Convolution<V, 1, 2, 3, 3, "padding=[1, 1]">;
  using Output = layers::Linear<V, 8, 10>;
  BOOST_HANA_DEFINE_STRUCT(Cnn, (Edges, edges), (Output, output));
};

template <template <class> class V>
struct Digits {
  using Images = V<Shape<3, 64>>;
  using Classes = V<spec::Typed<std::int64_t, Shape<3>>>;
  BOOST_HANA_DEFINE_STRUCT(Digits, (Images, images), (Classes, classes));
};

/// A GPT of one block over 16 characters; what reads them in also tells them apart (tied weights).
template <template <class> class V>
struct Gpt {
  using Tokens = layers::Embedding<V, 16, 4>;
  using Positions = V<Shape<5, 4>>;
  using Blocks = std::array<layers::EncoderBlock<V, 4, 6, "heads=2, causal=true">, 1>;
  BOOST_HANA_DEFINE_STRUCT(Gpt, (Tokens, tokens), (Positions, positions), (Blocks, blocks), (Tokens, head));
};

template <template <class> class V>
struct Text {
  using Characters = V<spec::Typed<std::int64_t, Shape<2, 5>>>;
  BOOST_HANA_DEFINE_STRUCT(Text, (Characters, read), (Characters, next));
};

/// A decoder that reads what an encoder made.
template <template <class> class V>
struct Translator {
  using Tokens = layers::Embedding<V, 16, 4>;
  using Encoder = layers::EncoderBlock<V, 4, 6, "heads=2">;
  using Decoder = layers::DecoderBlock<V, 4, 4, 6, "heads=2, causal=true", "heads=4">;
  BOOST_HANA_DEFINE_STRUCT(Translator, (Tokens, tokens), (Encoder, encoder), (Decoder, decoder));
};

/// Two recurrent layers over one step.
template <template <class> class V>
struct Recurrent {
  using Tokens = layers::Embedding<V, 16, 4>;
  using Norm = layers::RmsNorm<V, 4>;
  using Gru = layers::Gru<V, 4, 4>;
  using Lstm = layers::Lstm<V, 4, 4>;
  BOOST_HANA_DEFINE_STRUCT(Recurrent, (Tokens, tokens), (Norm, norm), (Gru, gru), (Lstm, lstm));
};

// --- what they compute ---

inline constexpr auto mlp_loss = [](const auto& m, const auto& batch, const auto& noise) {
  const auto some = ops::dropout.with<"p=0.25, stream=65537">(ops::tanh(m.hidden(batch.images)), noise.seed, noise.step);
  return ops::cross_entropy(m.output(some), batch.classes, spec::absent);
};

inline constexpr auto cnn_loss = [](const auto& m, const auto& batch, const auto&) {
  const auto edges = ops::relu(m.edges(ops::reshape.with<"shape=[3, 1, 8, 8]">(batch.images)));
  const auto flat = ops::flatten.with<"start=1">(ops::max_pool2d.with<"kernel=[4, 4]">(edges));
  return ops::cross_entropy(m.output(flat), batch.classes, spec::absent);
};

inline constexpr auto gpt_loss = [](const auto& m, const auto& batch, const auto&) {
  const auto x = m.blocks[0](m.tokens(batch.read) + m.positions);
  return ops::cross_entropy(m.head.likeness(x), batch.next, spec::absent);
};

inline constexpr auto translator_loss = [](const auto& m, const auto& batch, const auto&) {
  const auto read = m.tokens(batch.read);
  return ops::cross_entropy(m.tokens.likeness(m.decoder(read, m.encoder(read))), batch.next, spec::absent);
};

inline constexpr auto recurrent_loss = [](const auto& m, const auto& batch, const auto&) {
  const auto read = m.tokens(batch.read);
  const auto next = m.lstm(read, m.gru(m.norm(read), read), read);
  return ops::cross_entropy(m.tokens.likeness(next.h + next.c), batch.next, spec::absent);
};

/// The head is the embedding.
template <class G>
G drawn_gpt() {
  G model = drawn<G>();
  tie(model.tokens.rows, model.head.rows);
  return model;
}

}  // namespace etalon::test
