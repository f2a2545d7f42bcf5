/// \file
/// One step of recurrent networks, in PyTorch's form: two biases, gates stacked in one matrix.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct RnnCellText {
  static constexpr std::string_view text = R"(-- One step of Elman's network: tanh or relu of wi x + bi + wh h + bh.
rnn_cell(x[..., a], h[..., n], wi[n, a], wh[n, n], bi[n]?, bh[n]?) {nonlinearity = tanh | relu} -> h1[..., n]
  z[..., k] = (bi[k] else 0) + (bh[k] else 0) + (sum[j] wi[k, j] * x[..., j]) + (sum[j] wh[k, j] * h[..., j])
  h1[..., k] when nonlinearity == tanh = tanh(z[..., k])
  h1[..., k] when nonlinearity == relu = if z[..., k] <= 0 then 0 else z[..., k]
)";
};
inline constexpr Operation<RnnCellText> rnn_cell{};

struct LstmCellText {
  static constexpr std::string_view text = R"(-- One step of long short-term memory; the rows of wi and wh are the input, forget, cell and output gates, in turn.
lstm_cell(x[..., a], h[..., n], c[..., n], wi[4*n, a], wh[4*n, n], bi[4*n]?, bh[4*n]?) -> h1[..., n], c1[..., n]
  z[..., k < 4*n] = (bi[k] else 0) + (bh[k] else 0) + (sum[j] wi[k, j] * x[..., j]) + (sum[j] wh[k, j] * h[..., j])
  -- The sigmoid, with e only raised to powers that do not overflow; the cell gate does not need it.
  gate[..., k < 4*n] = if z[..., k] < 0 then exp(z[..., k]) / (1 + exp(z[..., k])) else 1 / (1 + exp(-z[..., k]))
  c1[..., k] = gate[..., n + k]*c[..., k] + gate[..., k]*tanh(z[..., 2*n + k])
  h1[..., k] = gate[..., 3*n + k]*tanh(c1[..., k])
)";
};
inline constexpr Operation<LstmCellText> lstm_cell{};

struct GruCellText {
  static constexpr std::string_view text = R"(-- One step of the gated recurrent unit; the rows of wi and wh are the reset, update and new gates, in turn.
gru_cell(x[..., a], h[..., n], wi[3*n, a], wh[3*n, n], bi[3*n]?, bh[3*n]?) -> h1[..., n]
  s[..., k < 3*n] = (bi[k] else 0) + sum[j] wi[k, j] * x[..., j]
  t[..., k < 3*n] = (bh[k] else 0) + sum[j] wh[k, j] * h[..., j]
  z[..., k < 2*n] = s[..., k] + t[..., k]
  -- The sigmoid, with e only raised to powers that do not overflow.
  gate[..., k < 2*n] = if z[..., k] < 0 then exp(z[..., k]) / (1 + exp(z[..., k])) else 1 / (1 + exp(-z[..., k]))
  new[..., k < n] = tanh(s[..., 2*n + k] + gate[..., k]*t[..., 2*n + k])
  h1[..., k] = (1 - gate[..., n + k])*new[..., k] + gate[..., n + k]*h[..., k]
  also
  h1[..., k] = new[..., k] + gate[..., n + k]*(h[..., k] - new[..., k])
)";
};
inline constexpr Operation<GruCellText> gru_cell{};

/// What the library registers of this family.
using RecurrentOperations = spec::OperationList<RnnCellText, LstmCellText, GruCellText>;

}  // namespace etalon::ops
