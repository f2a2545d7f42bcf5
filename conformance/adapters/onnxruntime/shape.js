"use strict";
// Operators that move elements, and those that read or write at computed places.
const { need, size } = require("../javascript/protocol");
const { TYPES, tensor } = require("./model");
const { rows, from0, each, reshaped, inside } = require("./table");

const BEFORE = -2147483648; // a stop before the first element

function sliced(g, x, start, stop, step) {
  const count = step.map((s, i) => Math.max(0, Math.ceil((stop[i] - start[i]) / s)));
  const first = start.map((b, i) => (count[i] ? b : 0));
  const end = stop.map((e, i) => (count[i] ? (e < 0 ? BEFORE : e) : 0));
  const axes = x.shape.map((_, i) => i);
  return g.node("Slice", [x, ...[first, end, axes, step.map((s, i) => (count[i] ? s : 1))].map((v) => g.integers(v))]);
}

function transposed(g, x, i, j) {
  const perm = [...x.shape.keys()];
  [perm[i], perm[j]] = [perm[j], perm[i]];
  return g.node("Transpose", [x], { perm });
}

function filled(g, a, value) {
  need(a.dtype in TYPES, "dtype", `${a.dtype} is not offered`);
  need(a.dtype !== "bool" || Number.isInteger(Number(value)), "attribute", "a real as a truth value");
  return g.node("ConstantOfShape", [g.integers(a.shape)], { value: tensor(a.dtype, [1], [value]) });
}

const trilu = (upper) => (g, a, x) => g.node("Trilu", [x, g.constant("i64", [], [a.diagonal])], { upper });

rows({
  reshape: (g, a, x) => reshaped(g, x, a.shape),
  literal: (g, a, x) => reshaped(g, x, a.shape),
  flatten(g, a, x) {
    const rank = Math.max(1, x.shape.length), start = from0(a.start, rank), end = from0(a.end, rank);
    const middle = size(x.shape.slice(start, end + 1));
    return reshaped(g, x, [...x.shape.slice(0, start), middle, ...x.shape.slice(end + 1)]);
  },
  transpose: (g, a, x) => g.node("Transpose", [x], { perm: a.permutation.map((axis) => from0(axis, x.shape.length)) }),
  swap_axes: (g, a, x) => transposed(g, x, from0(a.axis1, x.shape.length), from0(a.axis2, x.shape.length)),
  broadcast_to: (g, a, x) => g.node("Expand", [x, g.integers(a.shape)]),
  concat: (g, a, ...x) => g.node("Concat", x, { axis: a.axis }),
  stack: (g, a, ...x) => g.node("Concat", x.map((t) => g.node("Unsqueeze", [t, g.integers([a.axis])])), { axis: a.axis }),
  split: (g, a, x) => g.node("Split", [x, g.integers(a.sizes)], { axis: a.axis }, a.sizes.length),
  slice: (g, a, x) => sliced(g, x, each(a.start, x.shape.length), a.stop, each(a.step, x.shape.length)),
  select: (g, a, x) => g.node("Gather", [x, g.constant("i64", [], [a.index])], { axis: a.axis }),
  flip(g, a, x) {
    const turned = x.shape.map((_, i) => a.axes.some((axis) => from0(axis, x.shape.length) === i));
    return sliced(g, x, x.shape.map((n, i) => (turned[i] ? n - 1 : 0)), x.shape.map((n, i) => (turned[i] ? -1 : n)),
                  turned.map((t) => (t ? -1 : 1)));
  },
  pad(g, a, x) {
    const widths = [...each(a.low, x.shape.length), ...each(a.high, x.shape.length)];
    return g.node("Pad", [x, g.integers(widths), g.constant(x.dtype, [], [a.value])]);
  },
  tril: trilu(0), triu: trilu(1),
  gather: (g, a, x, t) => (inside(t, x.shape[from0(a.axis, x.shape.length)]), g.node("Gather", [x, t], { axis: a.axis })),
  embedding: (g, a, w, t) => (inside(t, w.shape[0]), g.node("Gather", [w, t])),
  take_along_axis(g, a, x, t) {
    inside(t, x.shape[from0(a.axis, x.shape.length)]);
    return g.node("GatherElements", [x, t], { axis: a.axis });
  },
  scatter_add_along_axis(g, a, x, t, s) {
    inside(t, x.shape[from0(a.axis, x.shape.length)]);
    return g.node("ScatterElements", [x, t, s], { axis: a.axis, reduction: "add" });
  },
  one_hot(g, a, t) {
    inside(t, a.classes);
    const depth = g.constant("i64", [1], [a.classes]);
    return g.node("OneHot", [t, depth, g.constant(a.dtype, [2], [0, 1])], { axis: a.axis });
  },
  arange(g, a) {
    const numbers = [a.start, a.stop, a.step];
    need(a.dtype !== "f32" || numbers.every((v) => Math.fround(v) === v), "attribute", "a number that f32 does not have, written into a model");
    return g.node("Range", numbers.map((v) => g.constant(a.dtype, [], [v])));
  },
  full: (g, a) => filled(g, a, a.value), constant: (g, a) => filled(g, a, a.value),
  zeros: (g, a) => filled(g, a, 0), ones: (g, a) => filled(g, a, 1),
});
