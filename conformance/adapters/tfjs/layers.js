"use strict";
// Products, normalisation, and one recurrent cell.
const { tf } = require("./library");
const { need, size } = require("../javascript/protocol");
const { rows, plain, from0 } = require("./table");
const { moves } = require("./moving");

plain({ matmul: matmul, dot: tf.dot, outer: tf.outerProduct });

function matmul(a, b) {
  need(a.rank > 1 && b.rank > 1, "shape", "TensorFlow.js multiplies matrices");
  return tf.matMul(a, b);
}

function linear(_, x, w, b) {
  const flat = tf.reshape(x, [size(x.shape.slice(0, -1)), x.shape[x.rank - 1]]);
  const y = tf.fused.matMul({ a: flat, b: w, transposeB: true, bias: b === null ? undefined : b });
  return tf.reshape(y, [...x.shape.slice(0, -1), w.shape[0]]);
}

function softmax(a, x) {
  need(from0(a.axis, x.rank) === x.rank - 1, "attribute", "TensorFlow.js has softmax along the last axis");
  return tf.softmax(x);
}

/** Normalisation by statistics that are given; TensorFlow.js has those of a batch in layers only, with state. */
function batchNorm(a, x, gamma, beta, mean, variance) {
  need(!a.training, "attribute", "TensorFlow.js normalises by given statistics; those of a batch are a layer's state");
  need(mean && variance, "attribute", "TensorFlow.js wants both statistics");
  need(!moves(mean), "mode", "running statistics as operands of a derivative");
  const axis = from0(a.axis, x.rank), last = x.rank - 1;
  const order = [...x.shape.keys()].filter((i) => i !== axis);
  const back = [...order.keys()];
  back.splice(axis, 0, last);
  const y = tf.batchNorm(tf.transpose(x, [...order, axis]), mean, variance, beta || undefined, gamma || undefined, a.eps);
  return [tf.transpose(y, back), mean, variance];
}

function layerNorm(a, x, gamma, beta) {
  need(x.size > 0, "shape", "a layer wants elements");
  need(!gamma && !beta, "attribute", "scale and shift are a layer's state in TensorFlow.js");
  return tf.layers.layerNormalization({ axis: a.axes, epsilon: a.eps, center: false, scale: false }).apply(x);
}

/** The kernel and bias of basicLSTMCell: columns are the input, cell, forget and output gates. */
function lstmCell(_, x, h, c, wi, wh, bi, bh) {
  need(bi === null || bh === null, "attribute", "TensorFlow.js has one bias");
  const n = h.shape[h.rank - 1], flat = (t) => tf.reshape(t, [size(t.shape.slice(0, -1)), t.shape[t.rank - 1]]);
  const ordered = (t, axis) => {
    const [input, forget, cell, output] = tf.split(t, 4, axis);
    return tf.concat([input, cell, forget, output], axis);
  };
  const kernel = ordered(tf.transpose(tf.concat([wi, wh], 1)), 1);
  const bias = bi || bh ? ordered(bi || bh, 0) : tf.zeros([4 * n]);
  const [c1, h1] = tf.basicLSTMCell(tf.scalar(0), kernel, bias, flat(x), flat(c), flat(h));
  return [tf.reshape(h1, h.shape), tf.reshape(c1, c.shape)];
}

rows({ linear, softmax, log_softmax: (a, x) => tf.logSoftmax(x, from0(a.axis, x.rank)), batch_norm: batchNorm,
       layer_norm: layerNorm,       lstm_cell: lstmCell });
