/// \file
/// Recurrent layers: one step at a time, the state given and returned.
#pragma once

#include <boost/hana/ext/std/array.hpp>
#include <boost/hana/unpack.hpp>

#include "training/layers/layers.hpp"

namespace etalon::training::layers {

/// x[…, inputs], h[…, width] → the next h.
template <template <class> class V, std::int64_t inputs, std::int64_t width>
struct Gru {
  using Input = V<Shape<3 * width, inputs>>;
  using Hidden = V<Shape<3 * width, width>>;
  using Bias = V<Shape<3 * width>>;
  BOOST_HANA_DEFINE_STRUCT(Gru, (Input, input), (Hidden, hidden), (Bias, input_bias), (Bias, hidden_bias));

  template <class X, class H>
  [[nodiscard]] auto operator()(const X& x, const H& h, SourceLine line = SourceLine::current()) const {
    return ops::gru_cell.at(line)(x, h, input, hidden, input_bias, hidden_bias);
  }
};

/// What an Lstm leaves for the next step.
template <class T>
struct LstmState {
  T h;  ///< is its answer, too
  T c;
};

/// x[…, inputs], h[…, width], c[…, width] → the next h and c.
template <template <class> class V, std::int64_t inputs, std::int64_t width>
struct Lstm {
  using Input = V<Shape<4 * width, inputs>>;
  using Hidden = V<Shape<4 * width, width>>;
  using Bias = V<Shape<4 * width>>;
  BOOST_HANA_DEFINE_STRUCT(Lstm, (Input, input), (Hidden, hidden), (Bias, input_bias), (Bias, hidden_bias));

  template <class X, class H, class C>
  [[nodiscard]] auto operator()(const X& x, const H& h, const C& c, SourceLine line = SourceLine::current()) const {
    const auto next = ops::lstm_cell.at(line)(x, h, c, input, hidden, input_bias, hidden_bias);
    return boost::hana::unpack(next, []<class T>(const T& h1, const T& c1) { return LstmState<T>{h1, c1}; });
  }
};

}  // namespace etalon::training::layers
