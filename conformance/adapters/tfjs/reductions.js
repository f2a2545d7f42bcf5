"use strict";
// Reductions.
const { tf } = require("./library");
const { need, size } = require("../javascript/protocol");
const { rows, widened } = require("./table");
const { moves, some } = require("./moving");

/** TensorFlow.js takes all axes for a scalar as no axes. */
const over = (f) => (a, x) => f(x, a.axes, a.keepdims);

/** Several axes as one, the last, in the order in which they are listed. */
function joined(a, x, f) {
  const axes = a.axes.map((axis) => (axis < 0 ? axis + x.rank : axis));
  const kept = [...x.shape.keys()].filter((axis) => !axes.includes(axis));
  const gone = size(axes.map((axis) => x.shape[axis]));
  const rows = tf.reshape(tf.transpose(x, [...kept, ...axes]), [...kept.map((axis) => x.shape[axis]), gone]);
  return tf.reshape(f(rows, -1), x.shape.map((n, axis) => (axes.includes(axis) ? 1 : n))
    .filter((_, axis) => a.keepdims || !axes.includes(axis)));
}

function position(f) {
  return (a, x) => widened(x.rank === 0 ? f(tf.reshape(x, [1]), 0) : joined(a, x, f));
}

function extremum(f) {
  return (a, x) => {
    need(!moves(x) || !some(x, isNaN), "request", "a NaN among extrema has no derivative in TensorFlow.js");
    return f(x, a.axes, a.keepdims);
  };
}

rows({
  mean(a, x) {
    need(a.axes.every((axis) => x.shape.at(axis) > 0), "request", "in TensorFlow.js the mean of nothing is 0");
    return tf.mean(x, a.axes, a.keepdims);
  },
  sum: over(tf.sum), prod: over(tf.prod), max: extremum(tf.max), min: extremum(tf.min),
  any: over(tf.any), all: over(tf.all), logsumexp: over(tf.logSumExp),
  argmax: position(tf.argMax), argmin: position(tf.argMin),
  var(a, x) {
    need(a.correction === 0, "attribute", "TensorFlow.js has variances without correction only");
    return tf.moments(x, a.axes, a.keepdims).variance;
  },
  norm(a, x) {
    need(x.rank > 0 && a.axes.length > 0, "attribute", "TensorFlow.js has norms over one or more axes");
    // A norm over two axes is one of matrices to TensorFlow.js, unless it is Euclidean.
    need(a.axes.length === 1 || (a.axes.length === 2 && a.ord === "two"), "attribute",
         "TensorFlow.js has norms of vectors over one axis");
    return tf.norm(x, { two: "euclidean", one: 1, infinity: Infinity }[a.ord],
                   a.axes.length === 1 ? a.axes[0] : a.axes, a.keepdims);
  },
  cumsum: (a, x) => tf.cumsum(x, a.axis, a.exclusive, a.reverse),
  cumprod: (a, x) => tf.cumprod(x, a.axis, a.exclusive, a.reverse),
});
