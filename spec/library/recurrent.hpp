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
  vjp
  u[..., k < n] = tanh(c1[..., k])
  g[..., k < n] = tanh(z[..., 2*n + k])
  s[..., k < n] = c1~[..., k] + h1~[..., k]*gate[..., 3*n + k]*(1 - u[..., k]*u[..., k])
  d[..., k < 4*n] = gate[..., k]*(1 - gate[..., k])
  z1[..., k < 4*n] = if k < n then s[..., k]*g[..., k]*d[..., k] else if k < 2*n then s[..., k - n]*c[..., k - n]*d[..., k] else if k < 3*n then s[..., k - 2*n]*gate[..., k - 2*n]*(1 - g[..., k - 2*n]*g[..., k - 2*n]) else h1~[..., k - 3*n]*u[..., k - 3*n]*d[..., k]
  c~[..., k] = s[..., k]*gate[..., n + k]
  x~[..., j] = sum[k] wi[k, j]*z1[..., k]
  h~[..., j] = sum[k] wh[k, j]*z1[..., k]
  wi~[k, j] = sum[...] z1[..., k]*x[..., j]
  wh~[k, j] = sum[...] z1[..., k]*h[..., j]
  bi~[k] = sum[...] z1[..., k]
  bh~[k] = sum[...] z1[..., k]
  jvp
  u[..., k < n] = tanh(c1[..., k])
  g[..., k < n] = tanh(z[..., 2*n + k])
  z1[..., k < 4*n] = (bi'[k] else 0) + (bh'[k] else 0) + (sum[j] (wi'[k, j]*x[..., j] + wi[k, j]*x'[..., j])) + (sum[j] (wh'[k, j]*h[..., j] + wh[k, j]*h'[..., j]))
  d[..., k < 4*n] = z1[..., k]*gate[..., k]*(1 - gate[..., k])
  c1'[..., k] = d[..., n + k]*c[..., k] + gate[..., n + k]*c'[..., k] + d[..., k]*g[..., k] + gate[..., k]*z1[..., 2*n + k]*(1 - g[..., k]*g[..., k])
  h1'[..., k] = d[..., 3*n + k]*u[..., k] + gate[..., 3*n + k]*c1'[..., k]*(1 - u[..., k]*u[..., k])
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
  vjp
  d[..., k < 2*n] = gate[..., k]*(1 - gate[..., k])
  a[..., k < n] = (h1~[..., k] - gate[..., n + k]*h1~[..., k])*(1 - new[..., k]*new[..., k])
  s1[..., k < 3*n] = if k < n then a[..., k]*t[..., 2*n + k]*d[..., k] else if k < 2*n then h1~[..., k - n]*(h[..., k - n] - new[..., k - n])*d[..., k] else a[..., k - 2*n]
  t1[..., k < 3*n] = if k < 2*n then s1[..., k] else a[..., k - 2*n]*gate[..., k - 2*n]
  x~[..., j] = sum[k] wi[k, j]*s1[..., k]
  h~[..., j] = h1~[..., j]*gate[..., n + j] + sum[k] wh[k, j]*t1[..., k]
  wi~[k, j] = sum[...] s1[..., k]*x[..., j]
  wh~[k, j] = sum[...] t1[..., k]*h[..., j]
  bi~[k] = sum[...] s1[..., k]
  bh~[k] = sum[...] t1[..., k]
  jvp
  s1[..., k < 3*n] = (bi'[k] else 0) + sum[j] (wi'[k, j]*x[..., j] + wi[k, j]*x'[..., j])
  t1[..., k < 3*n] = (bh'[k] else 0) + sum[j] (wh'[k, j]*h[..., j] + wh[k, j]*h'[..., j])
  d[..., k < 2*n] = (s1[..., k] + t1[..., k])*gate[..., k]*(1 - gate[..., k])
  a[..., k < n] = (s1[..., 2*n + k] + d[..., k]*t[..., 2*n + k] + gate[..., k]*t1[..., 2*n + k])*(1 - new[..., k]*new[..., k])
  h1'[..., k] = a[..., k] + d[..., n + k]*(h[..., k] - new[..., k]) + gate[..., n + k]*(h'[..., k] - a[..., k])
)";
};
inline constexpr Operation<GruCellText> gru_cell{};

/// What the library registers of this family.
using RecurrentOperations = spec::OperationList<RnnCellText, LstmCellText, GruCellText>;

}  // namespace etalon::ops
