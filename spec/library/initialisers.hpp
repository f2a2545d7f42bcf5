/// \file
/// First values of parameters. The draws are those of uniform and normal.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct ZerosText {
  static constexpr std::string_view text = R"(-- Zeros of a given shape.
zeros() {shape[..s], dtype = f32} -> y[..shape] : dtype
  y[..i] = 0
)";
};
inline constexpr Operation<ZerosText> zeros{};

struct OnesText {
  static constexpr std::string_view text = R"(-- Ones of a given shape.
ones() {shape[..s], dtype = f32} -> y[..shape] : dtype
  y[..i] = 1
)";
};
inline constexpr Operation<OnesText> ones{};

struct ConstantText {
  static constexpr std::string_view text = R"(-- One number everywhere.
constant() {shape[..s], value : real, dtype = f32} -> y[..shape] : dtype
  y[..i] = value
)";
};
inline constexpr Operation<ConstantText> constant{};

struct LiteralText {
  static constexpr std::string_view text = R"(-- The given values, in row-major order.
literal(values[n] : any) {shape[..s]} -> y[..shape]
  requires n == size(..shape)
  y[..i] = values[flat(..i, ..shape)]
)";
};
inline constexpr Operation<LiteralText> literal{};

struct XavierUniformText {
  static constexpr std::string_view text = R"(-- Uniform in gain*[-sqrt(6/fans), sqrt(6/fans)), fans the sum of both (Glorot and Bengio, 2010).
xavier_uniform(seed : int, step : int) {shape[..s], gain = 1.0, dtype = f32, stream = 0} -> y[..shape] : dtype
  requires dtype == f32 or dtype == f64
  requires stream >= 0
  requires rank(..shape) >= 2
  -- A weight is [out, in, window...]: each output hears in*window numbers, each input is heard by out*window.
  let fans = size(part(..shape, 1, rank(..shape))) + size(part(..shape, 0, 1))*size(part(..shape, 2, rank(..shape)))
  limit = gain*sqrt(6/fans)
  u[..i < ..shape] when dtype == f32 = philox(seed, step, stream, flat(..i)) // 256 / 16777216
  u[..i < ..shape] when dtype == f64 = (philox(seed, step, stream, 2*flat(..i)) // 2048 + 2097152*philox(seed, step, stream, 2*flat(..i) + 1)) / 9007199254740992
  y[..i] = limit*(2*u[..i] - 1)
)";
};
inline constexpr Operation<XavierUniformText> xavier_uniform{};

struct XavierNormalText {
  static constexpr std::string_view text = R"(-- Normal with the standard deviation gain*sqrt(2/fans), fans the sum of both (Glorot and Bengio, 2010).
xavier_normal(seed : int, step : int) {shape[..s], gain = 1.0, dtype = f32, stream = 0} -> y[..shape] : dtype
  requires dtype == f32 or dtype == f64
  requires stream >= 0
  requires rank(..shape) >= 2
  let fans = size(part(..shape, 1, rank(..shape))) + size(part(..shape, 0, 1))*size(part(..shape, 2, rank(..shape)))
  std = gain*sqrt(2/fans)
  u1[..i < ..shape] when dtype == f32 = (philox(seed, step, stream, 2*flat(..i)) // 256 + 1) / 16777216
  u2[..i < ..shape] when dtype == f32 = philox(seed, step, stream, 2*flat(..i) + 1) // 256 / 16777216
  u1[..i < ..shape] when dtype == f64 = (philox(seed, step, stream, 4*flat(..i)) // 2048 + 2097152*philox(seed, step, stream, 4*flat(..i) + 1) + 1) / 9007199254740992
  u2[..i < ..shape] when dtype == f64 = (philox(seed, step, stream, 4*flat(..i) + 2) // 2048 + 2097152*philox(seed, step, stream, 4*flat(..i) + 3)) / 9007199254740992
  y[..i] = std*(sqrt(-2*log(u1[..i])) * cos(2*pi*u2[..i]))
)";
};
inline constexpr Operation<XavierNormalText> xavier_normal{};

struct KaimingUniformText {
  static constexpr std::string_view text = R"(-- Uniform in gain*[-sqrt(3/fan), sqrt(3/fan)), with the gain of the nonlinearity that follows (He et al., 2015).
kaiming_uniform(seed : int, step : int) {shape[..s], mode = fan_in | fan_out, nonlinearity = leaky_relu | relu | tanh | selu | sigmoid | linear, slope = 0.0, dtype = f32, stream = 0} -> y[..shape] : dtype
  requires dtype == f32 or dtype == f64
  requires stream >= 0
  requires rank(..shape) >= 2
  let fan = if mode == fan_in then size(part(..shape, 1, rank(..shape))) else size(part(..shape, 0, 1))*size(part(..shape, 2, rank(..shape)))
  gain = if nonlinearity == leaky_relu then sqrt(2/(1 + slope*slope)) else if nonlinearity == relu then sqrt(2) else if nonlinearity == tanh then 5/3 else if nonlinearity == selu then 3/4 else 1.0
  limit = gain*sqrt(3/fan)
  u[..i < ..shape] when dtype == f32 = philox(seed, step, stream, flat(..i)) // 256 / 16777216
  u[..i < ..shape] when dtype == f64 = (philox(seed, step, stream, 2*flat(..i)) // 2048 + 2097152*philox(seed, step, stream, 2*flat(..i) + 1)) / 9007199254740992
  y[..i] = limit*(2*u[..i] - 1)
)";
};
inline constexpr Operation<KaimingUniformText> kaiming_uniform{};

struct KaimingNormalText {
  static constexpr std::string_view text = R"(-- Normal with the standard deviation gain/sqrt(fan), with the gain of the nonlinearity that follows (He et al., 2015).
kaiming_normal(seed : int, step : int) {shape[..s], mode = fan_in | fan_out, nonlinearity = leaky_relu | relu | tanh | selu | sigmoid | linear, slope = 0.0, dtype = f32, stream = 0} -> y[..shape] : dtype
  requires dtype == f32 or dtype == f64
  requires stream >= 0
  requires rank(..shape) >= 2
  let fan = if mode == fan_in then size(part(..shape, 1, rank(..shape))) else size(part(..shape, 0, 1))*size(part(..shape, 2, rank(..shape)))
  gain = if nonlinearity == leaky_relu then sqrt(2/(1 + slope*slope)) else if nonlinearity == relu then sqrt(2) else if nonlinearity == tanh then 5/3 else if nonlinearity == selu then 3/4 else 1.0
  std = gain/sqrt(fan)
  u1[..i < ..shape] when dtype == f32 = (philox(seed, step, stream, 2*flat(..i)) // 256 + 1) / 16777216
  u2[..i < ..shape] when dtype == f32 = philox(seed, step, stream, 2*flat(..i) + 1) // 256 / 16777216
  u1[..i < ..shape] when dtype == f64 = (philox(seed, step, stream, 4*flat(..i)) // 2048 + 2097152*philox(seed, step, stream, 4*flat(..i) + 1) + 1) / 9007199254740992
  u2[..i < ..shape] when dtype == f64 = (philox(seed, step, stream, 4*flat(..i) + 2) // 2048 + 2097152*philox(seed, step, stream, 4*flat(..i) + 3)) / 9007199254740992
  y[..i] = std*(sqrt(-2*log(u1[..i])) * cos(2*pi*u2[..i]))
)";
};
inline constexpr Operation<KaimingNormalText> kaiming_normal{};

/// What the library registers of this family.
using InitialisersOperations = spec::OperationList<ZerosText, OnesText, ConstantText, LiteralText, XavierUniformText,
                                                   XavierNormalText, KaimingUniformText, KaimingNormalText>;

}  // namespace etalon::ops
