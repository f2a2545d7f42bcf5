"use strict";
// Normalisation, losses, attention and recurrent cells.
const { need, size } = require("../javascript/protocol");
const { rows, real, from0, reshaped } = require("./table");

/** A vector of one number in the place of an operand that ONNX wants and that is absent. */
const orElse = (g, x, like, shape, value) => x || g.constant(like.dtype, shape, Array(size(shape)).fill(value));

/** Operators that normalise over the last axes name the first of these. */
function lastAxes(a, x) {
  const rank = x.shape.length, axes = a.axes.map((axis) => from0(axis, rank));
  need(axes.length > 0 && axes.every((axis, i) => axis === rank - axes.length + i), "attribute",
       "ONNX normalises over the last axes, in their order");
  return x.shape.slice(rank - axes.length);
}

function layerNorm(g, a, x, gamma, beta) {
  const shape = lastAxes(a, x);
  return g.node("LayerNormalization", [x, orElse(g, gamma, x, shape, 1), beta], { axis: -shape.length, epsilon: real(a.eps, x) });
}

function rmsNorm(g, a, x, gamma) {
  const shape = lastAxes(a, x);
  return g.node("RMSNormalization", [x, orElse(g, gamma, x, shape, 1)], { axis: -shape.length, epsilon: real(a.eps, x) });
}

function batchNorm(g, a, x, gamma, beta, mean, variance) {
  need(!a.training, "attribute", "ONNX's running variance is the biased one");
  need(x.shape.length >= 2 && from0(a.axis, x.shape.length) === 1, "attribute", "ONNX's channels are on axis 1");
  const c = [x.shape[1]];
  const [m, v] = [orElse(g, mean, x, c, 0), orElse(g, variance, x, c, 1)];
  const y = g.node("BatchNormalization", [x, orElse(g, gamma, x, c, 1), orElse(g, beta, x, c, 0), m, v],
                   { epsilon: real(a.eps, x) });
  return [y, m, v];
}

const byChannel = (operator, attributes) => (g, a, x, gamma, beta) =>
  g.node(operator, [x, orElse(g, gamma, x, [x.shape[1]], 1), orElse(g, beta, x, [x.shape[1]], 0)],
         { epsilon: real(a.eps, x), ...attributes(a) });

/** Class labels, on axis 1 in ONNX; others than classes and the ignored one are an error there. */
function loss(operator) {
  return (g, a, x, t, w) => {
    const rank = x.shape.length, axis = from0(a.axis, rank);
    need(rank >= 2, "shape", "ONNX's losses are of rows");
    need(!a.label_smoothing, "attribute", "ONNX has no smoothing of labels");
    const classes = x.shape[axis];
    need(t.values && t.values.every((v) => Number(v) === a.ignore_index || (v >= 0 && v < classes)), "request",
         "ONNX has no classes out of range");
    const order = [...x.shape.keys()].filter((i) => i !== axis);
    const moved = axis === 1 ? x : g.node("Transpose", [x], { perm: [order[0], axis, ...order.slice(1)] });
    return g.node(operator, [moved, t, w], { ignore_index: a.ignore_index, reduction: a.reduction });
  };
}

function attention(g, a, q, k, v, mask, scale) {
  need([q, k, v].every((x) => size(x.shape) > 0), "shape", "ONNX Runtime wants attention with elements");
  need(q.shape.length === 4, "shape", "ONNX's attention is of batches and heads");
  need(!scale, "attribute", "ONNX's scale is part of the model");
  need(!mask || (mask.shape.length === 4 && mask.shape[2] === q.shape[2] && mask.shape[3] === k.shape[2]), "shape",
       "a mask of ONNX has all rows");
  need(!mask || !mask.shape.slice(0, 2).some((n, i) => n !== 1 && n !== q.shape[i]), "shape", "a mask that repeats the operands");
  return g.node("Attention", [q, k, v, mask], { is_causal: a.causal });
}

/** One step of a layer; the gates are put into ONNX's order. */
function cell(operator, order, attributes, states) {
  return (g, a, x, ...operands) => {
    const h = operands.slice(0, states), [wi, wh, bi, bh] = operands.slice(states);
    need(x.shape.at(-1) > 0 && h[0].shape.at(-1) > 0, "shape", "ONNX Runtime wants layers with elements");
    const n = h[0].shape.at(-1), batch = size(x.shape.slice(0, -1)), gates = order.length;
    const ordered = (t) => {
      if (gates === 1) return t;
      const parts = g.node("Split", [t, g.integers(Array(gates).fill(n))], { axis: 0 }, gates);
      return g.node("Concat", order.map((i) => parts[i]), { axis: 0 });
    };
    const whole = (t) => g.node("Unsqueeze", [ordered(t), g.integers([0])]);
    const vector = (b) => ordered(orElse(g, b, x, [gates * n], 0));
    const bias = bi || bh ? g.node("Unsqueeze", [g.node("Concat", [vector(bi), vector(bh)], { axis: 0 }), g.integers([0])]) : null;
    const state = h.map((t) => reshaped(g, t, [1, batch, n]));
    const found = g.node(operator, [reshaped(g, x, [1, batch, x.shape.at(-1)]), whole(wi), whole(wh), bias, null, ...state],
                         { hidden_size: n, ...attributes(a) }, 1 + states);
    const results = found.slice(1).map((y, i) => reshaped(g, y, h[i].shape));
    return states === 1 ? results[0] : results;
  };
}

/** The logarithm of a softmax beside an infinite number is NaN here, -inf in f64 there. */
function logits(x) {
  need(x.dtype !== "f64" || (x.values && !x.values.includes(Infinity)), "request", "a softmax with an infinity");
  return true;
}

rows({
  softmax: (g, a, x) => g.node("Softmax", [x], { axis: a.axis }),
  log_softmax: (g, a, x) => logits(x) && g.node("LogSoftmax", [x], { axis: a.axis }),
  layer_norm: layerNorm, rms_norm: rmsNorm, batch_norm: batchNorm,
  instance_norm: byChannel("InstanceNormalization", () => ({})),
  group_norm: byChannel("GroupNormalization", (a) => ({ num_groups: a.groups })),
  nll: loss("NegativeLogLikelihoodLoss"), cross_entropy: loss("SoftmaxCrossEntropyLoss"),
  scaled_dot_product_attention: attention,
  rnn_cell: (g, a, ...x) => cell("RNN", [0], () => ({}), 1)(g, relu(a), ...x),
  lstm_cell: cell("LSTM", [0, 3, 1, 2], () => ({}), 2), // ONNX: i o f c; the cell: i f c o
  gru_cell: cell("GRU", [1, 0, 2], () => ({ linear_before_reset: 1 }), 1), // ONNX: z r h; the cell: r z h
});

function relu(a) {
  need(a.nonlinearity === "tanh", "attribute", "an activation by a list of words, which is not written here");
  return a;
}
