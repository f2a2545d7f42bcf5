/// \file
/// Operations that move elements.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct TransposeText {
  static constexpr std::string_view text = R"(-- Axis i of the result is axis permutation[i] of x; without a permutation the axes are reversed.
transpose(x[..s @ permutation] : any) {permutation = reversed} -> y[..s]
  y[..i] = x[..i @ permutation]
)";
};
inline constexpr Operation<TransposeText> transpose{};

struct ReshapeText {
  static constexpr std::string_view text = R"(-- The same elements in row-major order; one extent may be -1 and follows from the others.
reshape(x[..r] : any) {shape[..s]} -> y[..o]
  let ..o = completed(..shape, size(..r))
  requires size(..r) == size(..o)
  y[..i] = x[..unflat(flat(..i), ..r)]
)";
};
inline constexpr Operation<ReshapeText> reshape{};

struct FlattenText {
  static constexpr std::string_view text = R"(-- Makes one axis of the axes from start to end, end included.
flatten(x[..r] : any) {start = 0, end = -1} -> y[..before, size(..joined), ..after]
  let rank = maximum(1, rank(..r))
  requires -rank <= start and start < rank
  requires -rank <= end and end < rank
  requires start % rank <= end % rank
  let ..before = part(..r, 0, start % rank)
  let ..joined = part(..r, start % rank, end % rank + 1)
  let ..after = part(..r, end % rank + 1, rank)
  y[..i, j, ..k] = x[..i, ..unflat(j, ..joined), ..k]
)";
};
inline constexpr Operation<FlattenText> flatten{};

struct SwapAxesText {
  static constexpr std::string_view text = R"(-- Exchanges two axes.
swap_axes(x[..rest, m @ axis1, n @ axis2] : any) {axis1 : axis, axis2 : axis} -> y[..rest, n @ axis1, m @ axis2]
  y[..i, k @ axis1, j @ axis2] = x[..i, j @ axis1, k @ axis2]
)";
};
inline constexpr Operation<SwapAxesText> swap_axes{};

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

struct SplitText {
  static constexpr std::string_view text = R"(-- Consecutive pieces of the given sizes along an axis.
split(x[..rest, n @ axis] : any) {sizes#, axis = 0} -> y#[..rest, sizes# @ axis]
  requires total(sizes#) == n
  y#t[..i, j @ axis] = x[..i, before(sizes#t) + j @ axis]
)";
};
inline constexpr Operation<SplitText> split{};

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

struct SelectText {
  static constexpr std::string_view text = R"(-- What stands at one index of an axis, which is dropped; a negative index counts from the end.
select(x[..rest, n @ axis] : any) {axis = 0, index : int} -> y[..rest]
  requires -n <= index and index < n
  y[..i] = x[..i, index % n @ axis]
)";
};
inline constexpr Operation<SelectText> select{};

struct PadText {
  static constexpr std::string_view text = R"(-- Surrounds x with a value: low elements before and high ones after, along every axis; negative ones crop.
pad(x[..r] : any) {low[..r] = 0, high[..r] = 0, value : value = 0} -> y[..(low + r + high)]
  y[..i] = x[..(i - low)] else value
)";
};
inline constexpr Operation<PadText> pad{};

struct FlipText {
  static constexpr std::string_view text = R"(-- Reverses the order along axes.
flip(x[..rest, ..f @ axes] : any) {axes = all} -> y[..rest, ..f @ axes]
  y[..i, ..j @ axes] = x[..i, ..(f - 1 - j) @ axes]
)";
};
inline constexpr Operation<FlipText> flip{};

struct RollText {
  static constexpr std::string_view text = R"(-- Moves elements along axes by shift places, those that leave at the end come in at the start.
roll(x[..rest, ..f @ axes] : any) {shift[..f], axes : axes} -> y[..rest, ..f @ axes]
  y[..i, ..j @ axes] = x[..i, ..((j - shift) % f) @ axes]
)";
};
inline constexpr Operation<RollText> roll{};

struct TrilText {
  static constexpr std::string_view text = R"(-- Keeps the elements of matrices on and below a diagonal, 0 elsewhere.
tril(x[..., m, n] : any) {diagonal = 0} -> y[..., m, n]
  y[..., i, j] = if j <= i + diagonal then x[..., i, j] else 0
)";
};
inline constexpr Operation<TrilText> tril{};

struct TriuText {
  static constexpr std::string_view text = R"(-- Keeps the elements of matrices on and above a diagonal, 0 elsewhere.
triu(x[..., m, n] : any) {diagonal = 0} -> y[..., m, n]
  y[..., i, j] = if j >= i + diagonal then x[..., i, j] else 0
)";
};
inline constexpr Operation<TriuText> triu{};

struct InterleaveText {
  static constexpr std::string_view text = R"(-- Elements of a at the even and of b at the odd places of an axis.
interleave(a[..rest, n @ axis] : any, b[..rest, n @ axis] : any) {axis = -1} -> y[..rest, 2*n @ axis]
  y[..i, 2*j @ axis] = a[..i, j @ axis]
  y[..i, 2*j + 1 @ axis] = b[..i, j @ axis]
)";
};
inline constexpr Operation<InterleaveText> interleave{};

struct DeinterleaveText {
  static constexpr std::string_view text = R"(-- The elements at the even places of an axis, and those at the odd places.
deinterleave(x[..rest, n @ axis] : any) {axis = -1} -> a[..rest, n // 2 @ axis], b[..rest, n // 2 @ axis]
  requires n % 2 == 0
  a[..i, j @ axis] = x[..i, 2*j @ axis]
  b[..i, j @ axis] = x[..i, 2*j + 1 @ axis]
)";
};
inline constexpr Operation<DeinterleaveText> deinterleave{};

/// What the library registers of this family.
using ShapeOperations =
    spec::OperationList<TransposeText, ReshapeText, FlattenText, SwapAxesText, BroadcastToText, ConcatText, StackText,
                        SplitText, SliceText, SelectText, PadText, FlipText, RollText, TrilText, TriuText,
                        InterleaveText, DeinterleaveText>;

}  // namespace etalon::ops
