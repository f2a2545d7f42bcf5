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
  u[..., k < n] = tanh(z[..., 2*n + k])
  w[..., k] = tanh(c1[..., k])
  e[..., k] = c1~[..., k] + h1~[..., k]*gate[..., 3*n + k]*(1 - w[..., k]*w[..., k])
  -- The cotangent of z: the cell gate is tanh, the others have the derivative (1 - y)*y.
  one[..., k < 4*n] = if k < n then e[..., k % n]*u[..., k % n] else if k < 2*n then e[..., k % n]*c[..., k % n] else h1~[..., k % n]*w[..., k % n]
  p[..., k < 4*n] = if k // n == 2 then e[..., k % n]*gate[..., k % n]*(1 - u[..., k % n]*u[..., k % n]) else one[..., k]*gate[..., k]*(1 - gate[..., k])
  x~[..., j] = sum[k] wi[k, j]*p[..., k]
  h~[..., j] = sum[k] wh[k, j]*p[..., k]
  c~[..., k] = e[..., k]*gate[..., n + k]
  wi~[k, j] = sum[...] p[..., k]*x[..., j]
  wh~[k, j] = sum[...] p[..., k]*h[..., j]
  bi~[k] = sum[...] p[..., k]
  bh~[k] = sum[...] p[..., k]
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
  vjp
  -- The cotangents of the sums that the gates are functions of: one of new, then of reset and update, then of s and t.
  one[..., k] = h1~[..., k]*(1 - gate[..., n + k])*(1 - new[..., k]*new[..., k])
  two[..., k < 2*n] = (if k < n then one[..., k % n]*t[..., 2*n + k % n] else h1~[..., k % n]*(h[..., k % n] - new[..., k % n]))*gate[..., k]*(1 - gate[..., k])
  p[..., k < 3*n] = if k < 2*n then two[..., k % (2*n)] else one[..., k % n]
  q[..., k < 3*n] = if k < 2*n then two[..., k % (2*n)] else one[..., k % n]*gate[..., k % n]
  x~[..., j] = sum[k] wi[k, j]*p[..., k]
  h~[..., j] = gate[..., n + j]*h1~[..., j] + sum[k] wh[k, j]*q[..., k]
  wi~[k, j] = sum[...] p[..., k]*x[..., j]
  wh~[k, j] = sum[...] q[..., k]*h[..., j]
  bi~[k] = sum[...] p[..., k]
  bh~[k] = sum[...] q[..., k]
)";
};
inline constexpr Operation<GruCellText> gru_cell{};

/// What the library registers of this family.
using RecurrentOperations = spec::OperationList<RnnCellText, LstmCellText, GruCellText>;

}  // namespace etalon::ops
