/// \file
/// Layers of models: structs over a world with the call that each makes. A dense layer is `m.hidden(x)` on tensors of the
/// reference, on handles of a session and in a program that is traced. Parameters are named by the members; `started`
/// gives them their first values. It knows no model and no data.
#pragma once

#include <boost/hana/define_struct.hpp>
#include <cstdint>

#include "spec/library/operations.hpp"
#include "spec/source_line.hpp"
#include "training/model/parameter.hpp"
#include "training/model/structure.hpp"

namespace etalon::training::layers {

using spec::FixedText;

/// x[…, inputs] → […, outputs]: rows times weights plus bias. As in all layers, weights have the outputs as their first
/// axis.
template <template <class> class V, std::int64_t inputs, std::int64_t outputs>
struct Linear {
  using Weight = V<Shape<outputs, inputs>>;
  using Bias = V<Shape<outputs>>;
  BOOST_HANA_DEFINE_STRUCT(Linear, (Weight, weight), (Bias, bias));

  template <class X>
  [[nodiscard]] auto operator()(const X& x, SourceLine line = SourceLine::current()) const {
    return ops::linear.at(line)(x, weight, bias);
  }
};

/// x[b, inputs, r, c] → [b, outputs, …] by a window of `rows` by `columns`; `how` are attributes of conv2d, such as
/// `padding=[1, 1], stride=[2, 2]`.
template <template <class> class V, std::int64_t inputs, std::int64_t outputs, std::int64_t rows, std::int64_t columns,
          FixedText how = "">
struct Convolution {
  using Weight = V<Shape<outputs, inputs, rows, columns>>;
  using Bias = V<Shape<outputs>>;
  BOOST_HANA_DEFINE_STRUCT(Convolution, (Weight, weight), (Bias, bias));

  template <class X>
  [[nodiscard]] auto operator()(const X& x, SourceLine line = SourceLine::current()) const {
    return ops::conv2d.template with<how>.at(line)(x, weight, bias);
  }
};

/// A row of `width` numbers for each of `count` integers.
template <template <class> class V, std::int64_t count, std::int64_t width>
struct Embedding {
  using Rows = V<Shape<count, width>>;
  BOOST_HANA_DEFINE_STRUCT(Embedding, (Rows, rows));

  /// t[…] → […, width].
  template <class T>
  [[nodiscard]] auto operator()(const T& t, SourceLine line = SourceLine::current()) const {
    return ops::embedding.at(line)(rows, t);
  }
  /// The other way: x[…, width] → […, count], how much x is like each row. It ties a model's answers to what it reads in.
  template <class X>
  [[nodiscard]] auto likeness(const X& x, SourceLine line = SourceLine::current()) const {
    return ops::linear.at(line)(x, rows, spec::absent);
  }
};

/// Each x[…, :] to mean 0 and variance 1, times a gain, plus a shift.
template <template <class> class V, std::int64_t width>
struct LayerNorm {
  using Vector = V<Shape<width>>;
  BOOST_HANA_DEFINE_STRUCT(LayerNorm, (Vector, gain), (Vector, shift));

  template <class X>
  [[nodiscard]] auto operator()(const X& x, SourceLine line = SourceLine::current()) const {
    return ops::layer_norm.at(line)(x, gain, shift);
  }
};

/// Each x[…, :] to mean square 1, times a gain.
template <template <class> class V, std::int64_t width>
struct RmsNorm {
  using Vector = V<Shape<width>>;
  BOOST_HANA_DEFINE_STRUCT(RmsNorm, (Vector, gain));

  template <class X>
  [[nodiscard]] auto operator()(const X& x, SourceLine line = SourceLine::current()) const {
    return ops::rms_norm.at(line)(x, gain);
  }
};

/// x[b, channels, …] to mean 0 and variance 1 over each group of channels; `how` is `groups=4`. Norms over a batch keep
/// statistics that no gradient updates: `batch_norm` is an operation, and its results are the model's to keep.
template <template <class> class V, std::int64_t channels, FixedText how>
struct GroupNorm {
  using Vector = V<Shape<channels>>;
  BOOST_HANA_DEFINE_STRUCT(GroupNorm, (Vector, gain), (Vector, shift));

  template <class X>
  [[nodiscard]] auto operator()(const X& x, SourceLine line = SourceLine::current()) const {
    return ops::group_norm.template with<how>.at(line)(x, gain, shift);
  }
};

/// Up to `inner` numbers, gelu, and down again: x[…, width] → […, width].
template <template <class> class V, std::int64_t width, std::int64_t inner>
struct FeedForward {
  using Up = Linear<V, width, inner>;
  using Down = Linear<V, inner, width>;
  BOOST_HANA_DEFINE_STRUCT(FeedForward, (Up, up), (Down, down));

  template <class X>
  [[nodiscard]] auto operator()(const X& x, SourceLine line = SourceLine::current()) const {
    return down(ops::gelu.at(line)(up(x, line)), line);
  }
};

}  // namespace etalon::training::layers
