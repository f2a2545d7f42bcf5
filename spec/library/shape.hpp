/// \file
/// Operations that move elements.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct TransposeText {
  static constexpr std::string_view text = R"(-- Axis i of the result is axis permutation[i] of x.
transpose(x[..s @ permutation] : any) {permutation : axes} -> y[..s]
  y[..i] = x[..i @ permutation]
)";
};
inline constexpr Operation<TransposeText> transpose{};

struct ReshapeText {
  static constexpr std::string_view text = R"(-- The same elements in row-major order.
reshape(x[..r] : any) {shape[..s]} -> y[..shape]
  requires size(..r) == size(..shape)
  y[..i] = x[..unflat(flat(..i, ..shape), ..r)]
)";
};
inline constexpr Operation<ReshapeText> reshape{};

struct BroadcastToText {
  static constexpr std::string_view text = R"(-- Repeats axes of extent 1, and adds leading axes.
broadcast_to(x[..p] : any) {shape[..q]} -> y[..shape]
  requires ..(p & shape) == ..shape
  let ..o = p & shape
  y[..i < ..o] = x[..i]
)";
};
inline constexpr Operation<BroadcastToText> broadcast_to{};

struct ConcatText {
  static constexpr std::string_view text = R"(-- Tensors one after the other along an axis.
concat(x#[..rest, n# @ axis] : any) {axis = 0} -> y[..rest, total(n#) @ axis]
  requires count(x#) > 0
  y[..i, before(n#t) + j @ axis] = x#t[..i, j @ axis]
)";
};
inline constexpr Operation<ConcatText> concat{};

struct StackText {
  static constexpr std::string_view text = R"(-- Tensors side by side along a new axis.
stack(x#[..rest] : any) {axis = 0} -> y[..rest, count(x#) @ axis]
  requires count(x#) > 0
  y[..i, t @ axis] = x#t[..i]
)";
};
inline constexpr Operation<StackText> stack{};

struct SliceText {
  static constexpr std::string_view text = R"(-- Elements start, start + step, … before stop, along every axis; a negative step runs backwards.
slice(x[..r] : any) {start[..r] = 0, stop[..r], step[..r] = 1} -> y[..n]
  requires ..step != 0
  let ..n = maximum(0, ((stop - start)*sign(step) + abs(step) - 1) // abs(step))
  requires ..(n*minimum(start, start + step*(n - 1))) >= 0
  requires ..(n*(maximum(start, start + step*(n - 1)) - r + 1)) <= 0
  y[..i] = x[..(start + step*i)]
)";
};
inline constexpr Operation<SliceText> slice{};

struct GatherText {
  static constexpr std::string_view text = R"(-- Slices of x at the indices t along an axis; an index out of range gives 0 and has no derivative.
gather(x[..l, n @ axis, ..r] : number, t[..q] : int) {axis = 0} -> y[..l, ..q, ..r]
  y[..i, ..j, ..k] = x[..i, t[..j], ..k] else 0
)";
};
inline constexpr Operation<GatherText> gather{};

/// What the library registers of this family.
using ShapeOperations = spec::OperationList<TransposeText, ReshapeText, BroadcastToText, ConcatText, StackText,
                                            SliceText, GatherText>;

}  // namespace etalon::ops
