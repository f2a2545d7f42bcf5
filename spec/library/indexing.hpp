/// \file
/// Operations that read or write at computed places, and tensors made of places alone. An index out of range, negative
/// ones included, reads 0, has no derivative and adds nothing.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct GatherText {
  static constexpr std::string_view text = R"(-- Slices of x at the indices t along an axis; an index out of range gives 0 and has no derivative.
gather(x[..l, n @ axis, ..r] : any, t[..q] : int) {axis = 0} -> y[..l, ..q, ..r]
  y[..i, ..j, ..k] = x[..i, t[..j], ..k] else 0
)";
};
inline constexpr Operation<GatherText> gather{};

struct TakeAlongAxisText {
  static constexpr std::string_view text = R"(-- Elements of x at indices t along an axis, one index per element of the result.
take_along_axis(x[..rest, n @ axis] : any, t[..rest, m @ axis] : int) {axis = -1} -> y[..rest, m @ axis]
  y[..i, j @ axis] = x[..i, t[..i, j @ axis] @ axis] else 0
)";
};
inline constexpr Operation<TakeAlongAxisText> take_along_axis{};

struct ScatterAddText {
  static constexpr std::string_view text = R"(-- x, with the slices s added at the indices t along an axis; the transpose of gather.
scatter_add(x[..l, n @ axis, ..r] : number, t[..q] : int, s[..l, ..q, ..r] : number) {axis = 0} -> y[..l, n @ axis, ..r]
  y[..i, k @ axis, ..j] = x[..i, k @ axis, ..j] + sum[..u where t[..u] == k] s[..i, ..u, ..j]
)";
};
inline constexpr Operation<ScatterAddText> scatter_add{};

struct ScatterAddAlongAxisText {
  static constexpr std::string_view text = R"(-- x, with elements of s added at indices t along an axis; the transpose of take_along_axis.
scatter_add_along_axis(x[..rest, n @ axis] : number, t[..rest, m @ axis] : int, s[..rest, m @ axis] : number) {axis = -1} -> y[..rest, n @ axis]
  y[..i, k @ axis] = x[..i, k @ axis] + sum[j where t[..i, j @ axis] == k] s[..i, j @ axis]
)";
};
inline constexpr Operation<ScatterAddAlongAxisText> scatter_add_along_axis{};

struct OneHotText {
  static constexpr std::string_view text = R"(-- 1 at the place that an index names along a new axis, 0 elsewhere.
one_hot(t[..r] : int) {classes : int, axis = -1, dtype = f32} -> y[..r, classes @ axis] : dtype
  y[..i, k @ axis] when dtype == bool = t[..i] == k
  y[..i, k @ axis] when dtype != bool = if t[..i] == k then 1 else 0
)";
};
inline constexpr Operation<OneHotText> one_hot{};

struct EmbeddingText {
  static constexpr std::string_view text = R"(-- The rows of w that t names; the row padding_idx has no derivative.
embedding(w[v, d], t[..r] : int) {padding_idx = -1} -> y[..r, d]
  y[..i, j] = if t[..i] == padding_idx then detach(w[t[..i], j] else 0) else (w[t[..i], j] else 0)
)";
};
inline constexpr Operation<EmbeddingText> embedding{};

struct ArangeText {
  static constexpr std::string_view text = R"(-- start, start + step, … before stop.
arange() {start = 0, stop : int, step = 1, dtype = i64} -> y[n] : dtype
  requires step != 0
  requires dtype != bool
  let n = maximum(0, ((stop - start)*sign(step) + abs(step) - 1) // abs(step))
  y[i] = start + step*i
)";
};
inline constexpr Operation<ArangeText> arange{};

struct FullText {
  static constexpr std::string_view text = R"(-- A tensor of one value.
full() {shape[..s], value : value, dtype = f32} -> y[..shape] : dtype
  y[..i] = value
)";
};
inline constexpr Operation<FullText> full{};

/// What the library registers of this family.
using IndexingOperations = spec::OperationList<GatherText, TakeAlongAxisText, ScatterAddText, ScatterAddAlongAxisText,
                                               OneHotText, EmbeddingText, ArangeText, FullText>;

}  // namespace etalon::ops
