"use strict";
// Losses. TensorFlow.js has the target first, and weights that take part in its means.
const { tf } = require("./library");
const { need } = require("../javascript/protocol");
const { rows, from0 } = require("./table");
const { moves, some } = require("./moving");

const REDUCTIONS = { none: tf.Reduction.NONE, sum: tf.Reduction.SUM, mean: tf.Reduction.MEAN };

function reduction(a, x) {
  need(a.reduction !== "mean" || x.size > 0, "request", "in TensorFlow.js the mean of nothing is 0");
  need(a.reduction in REDUCTIONS, "attribute", `TensorFlow.js has no reduction by ${a.reduction}`);
  return REDUCTIONS[a.reduction];
}

/** TensorFlow.js's targets of hinge are 0 and 1. */
function labels(t) {
  need(t.dataSync().every((v) => v === 1 || v === -1), "request", "TensorFlow.js has two labels");
  need(!moves(t), "mode", "labels have no derivative");
  return tf.div(tf.add(t, 1), 2);
}

rows({
  mse: (a, x, t) => tf.losses.meanSquaredError(t, x, undefined, reduction(a, x)),
  l1(a, x, t) {
    const tied = (moves(x) || moves(t)) && some(tf.equal(x, t), Boolean);
    need(!tied, "request", "at 0 the derivative of TensorFlow.js's magnitude is -1");
    return tf.losses.absoluteDifference(t, x, undefined, reduction(a, x));
  },
  huber: (a, x, t) => tf.losses.huberLoss(t, x, undefined, a.delta, reduction(a, x)),
  hinge: (a, x, t) => tf.losses.hingeLoss(labels(t), x, undefined, reduction(a, x)),
  bce_with_logits(a, x, t, weight, positive) {
    need(!weight || a.reduction !== "mean", "attribute", "TensorFlow.js divides by the sum of the weights");
    need(!positive, "attribute", "TensorFlow.js has no weight of the positive part");
    need(!weight || weight.rank === 0 || weight.rank === x.rank, "shape", "a weight has no axes or those of the loss");
    return tf.losses.sigmoidCrossEntropy(t, x, weight || undefined, 0, reduction(a, x));
  },
  soft_cross_entropy(a, x, t, w) {
    need(!w, "attribute", "TensorFlow.js has no weights of classes");
    need(from0(a.axis, x.rank) === x.rank - 1, "attribute", "TensorFlow.js has the classes on the last axis");
    need(a.label_smoothing === 0 || x.rank === 2, "shape", "smoothing is for a matrix of logits");
    // One-hot labels, as the documentation has them, or others that sum to 1; the derivative is made for these.
    const whole = tf.sum(t, -1).dataSync().every((v) => v === 1);
    need(whole || (!moves(x) && !moves(t)), "request", "the derivative is for labels that sum to 1");
    return tf.losses.softmaxCrossEntropy(t, x, undefined, a.label_smoothing, reduction(a, x));
  },
});
