"use strict";
// Operations that move elements, and those that read or write at computed places.
const { tf } = require("./library");
const { need, size } = require("../javascript/protocol");
const { rows, places, from0, inside } = require("./table");

const DTYPES = { f32: "float32", i32: "int32", bool: "bool" };

/** One entry per axis; an attribute that was left to its default is one number for all. */
const each = (value, x) => (Array.isArray(value) ? value : x.shape.map(() => value));

function dtypeOf(name) {
  need(name in DTYPES, "dtype", `TensorFlow.js has no ${name}`);
  return DTYPES[name];
}

function swapped(rank, i, j) {
  const order = [...Array(rank).keys()];
  [order[i], order[j]] = [order[j], order[i]];
  return order;
}

rows({
  reshape: (a, x) => tf.reshape(x, a.shape),
  literal: (a, x) => tf.reshape(x, a.shape),
  flatten(a, x) {
    const [start, end] = [from0(a.start, Math.max(1, x.rank)), from0(a.end, Math.max(1, x.rank))];
    const middle = size(x.shape.slice(start, end + 1));
    return tf.reshape(x, [...x.shape.slice(0, start), middle, ...x.shape.slice(end + 1)]);
  },
  transpose: (a, x) => tf.transpose(x, a.permutation.map((axis) => from0(axis, x.rank))),
  swap_axes: (a, x) => tf.transpose(x, swapped(x.rank, from0(a.axis1, x.rank), from0(a.axis2, x.rank))),
  broadcast_to: (a, x) => tf.broadcastTo(x, a.shape),
  concat: (a, ...x) => tf.concat(x, from0(a.axis, x[0].rank)),
  stack: (a, ...x) => tf.stack(x, from0(a.axis, x[0].rank + 1)),
  split: (a, x) => tf.split(x, a.sizes, from0(a.axis, x.rank)),
  slice(a, x) {
    const [start, step] = [each(a.start, x), each(a.step, x)];
    const count = step.map((s, i) => Math.max(0, Math.ceil((a.stop[i] - start[i]) / s)));
    if (step.every((s) => s === 1)) return tf.slice(x, count.map((n, i) => (n ? start[i] : 0)), count);
    // To a strided slice a negative stop counts from the end.
    need(a.stop.every((n) => n >= 0) && start.every((n) => n >= 0), "attribute",
         "a stop before the start counts from the end in TensorFlow.js");
    return tf.stridedSlice(x, start, a.stop, step);
  },
  select: (a, x) => tf.unstack(x, from0(a.axis, x.rank))[from0(a.index, x.shape[from0(a.axis, x.rank)])],
  pad(a, x) {
    const [low, high] = [each(a.low, x), each(a.high, x)];
    need([...low, ...high].every((n) => n >= 0), "attribute", "TensorFlow.js does not crop by padding");
    return tf.pad(x, low.map((n, i) => [n, high[i]]), numberFor(x.dtype, a.value));
  },
  flip: (a, x) => tf.reverse(x, a.axes),
  tril(a, x) {
    need(a.diagonal >= 0, "attribute", "a band of TensorFlow.js has the main diagonal");
    return tf.linalg.bandPart(x, -1, a.diagonal);
  },
  triu(a, x) {
    need(a.diagonal <= 0, "attribute", "a band of TensorFlow.js has the main diagonal");
    return tf.linalg.bandPart(x, -a.diagonal, -1);
  },
  gather: (a, x, t) => tf.gather(x, inside(places(t), x.shape[from0(a.axis, x.rank)]), from0(a.axis, x.rank)),
  embedding(a, w, t) {
    need(a.padding_idx < 0 || a.padding_idx >= w.shape[0], "attribute", "TensorFlow.js has no row without derivative");
    return tf.gather(w, inside(places(t), w.shape[0]), 0);
  },
  one_hot(a, t) {
    // TensorFlow.js has no index out of range here either: the row is then all off.
    const hot = tf.oneHot(places(t), a.classes, 1, 0, dtypeOf(a.dtype));
    const last = hot.rank - 1, axis = from0(a.axis, hot.rank);
    const order = [...Array(last).keys()];
    order.splice(axis, 0, last);
    return axis === last ? hot : tf.transpose(hot, order);
  },
});

/** TensorFlow.js writes what it is given into truth values. */
const numberFor = (dtype, value) => (dtype === "bool" ? Number(Number(value) !== 0) : Number(value));

function filled(a) {
  need(a.dtype === "f32" || Number.isInteger(Number(a.value)), "attribute", "a real as an integer or a truth value");
  return tf.fill(a.shape, numberFor(a.dtype, a.value), dtypeOf(a.dtype));
}

rows({
  arange(a) {
    need((a.stop - a.start) * a.step >= 0, "attribute", "a stop on the other side of the start is not stated");
    return tf.range(a.start, a.stop, a.step, dtypeOf(a.dtype));
  },
  full: filled,
  constant: filled,
  zeros: (a) => tf.zeros(a.shape, dtypeOf(a.dtype)),
  ones: (a) => tf.ones(a.shape, dtypeOf(a.dtype)),
});
