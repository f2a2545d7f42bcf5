"use strict";
// Functions element by element.
const { tf } = require("./library");
const { need } = require("../javascript/protocol");
const { rows, plain } = require("./table");
const { moves, some } = require("./moving");

plain({ neg: tf.neg, sqrt: tf.sqrt, rsqrt: tf.rsqrt,
        reciprocal: tf.reciprocal, exp: tf.exp, expm1: tf.expm1, log: tf.log, log1p: tf.log1p, sin: tf.sin,
        cos: tf.cos, tan: tf.tan, sinh: tf.sinh, cosh: tf.cosh, tanh: tf.tanh, sigmoid: tf.sigmoid, erf: tf.erf,
        floor: tf.floor, ceil: tf.ceil, round: tf.round, isnan: tf.isNaN, isinf: tf.isInf,
        isfinite: tf.isFinite, logical_not: tf.logicalNot });
plain({ add: tf.add, sub: tf.sub, mul: tf.mul, div: tf.div, atan2: tf.atan2, where: tf.where,
        remainder: tf.mod, eq: tf.equal, ne: tf.notEqual, lt: tf.less, le: tf.lessEqual, gt: tf.greater,
        ge: tf.greaterEqual, logical_and: tf.logicalAnd, logical_or: tf.logicalOr, logical_xor: tf.logicalXor });

/** Whether two operands that both may move are equal somewhere. */
function untied(a, b) {
  if (!moves(a) && !moves(b)) return;
  const tied = tf.any(tf.equal(a, b)).dataSync()[0];
  need(!tied, "request", "at a tie TensorFlow.js gives the whole derivative to the first");
}

rows({
  abs(_, x) {
    need(!moves(x) || !some(x, (v) => v === 0), "request", "at 0 the derivative of TensorFlow.js's magnitude is -1");
    return tf.abs(x);
  },
  sign(_, x) {
    need(!some(x, isNaN), "request", "TensorFlow.js's sign of NaN is 0");
    return tf.sign(x);
  },
  square(_, x) {
    need(!moves(x) || !some(x, (v) => !isFinite(Math.fround(2 * v))), "request",
         "where 2x overflows TensorFlow.js multiplies a cotangent of 0 by infinity");
    return tf.square(x);
  },
  relu(_, x) {
    need(!moves(x) || !some(x, isNaN), "request", "TensorFlow.js multiplies the cotangent by NaN");
    return tf.relu(x);
  },
  pow(_, a, b) {
    // As ECMAScript has it; IEEE 754's power of 1 is 1 always, and that of -1 at infinities.
    need(!some(b, (v) => !isFinite(v)) || !some(a, (v) => Math.abs(v) === 1), "request",
         "in TensorFlow.js 1 to a power that is no number, or infinite, is NaN");
    return tf.pow(a, b);
  },
  maximum: (_, a, b) => (untied(a, b), tf.maximum(a, b)),
  minimum: (_, a, b) => (untied(a, b), tf.minimum(a, b)),
  floor_divide(_, a, b) {
    need(a.dtype === "int32", "dtype", "TensorFlow.js answers the floor of a quotient of reals as an integer of 32 bits");
    return tf.floorDiv(a, b);
  },
  softplus(a, x) {
    need(a.beta === 1, "attribute", "TensorFlow.js has no beta");
    return tf.softplus(x);
  },
  elu(a, x) {
    need(a.alpha === 1, "attribute", "TensorFlow.js has no alpha");
    return tf.elu(x);
  },
  leaky_relu: (a, x) => tf.leakyRelu(x, a.slope),
  power: (a, x) => tf.pow(x, tf.scalar(a.p)),
  scale: (a, x) => tf.mul(x, tf.scalar(a.by)),
  clamp(a, x) {
    need(a.low <= a.high, "attribute", "TensorFlow.js wants the lower bound not above the upper");
    need(a.low < a.high || !moves(x), "attribute", "between equal bounds TensorFlow.js's clip is a constant");
    return tf.clipByValue(x, a.low, a.high);
  },
  clip_by_value(a, x) {
    need(a.limit > 0, "attribute", "TensorFlow.js wants the lower bound not above the upper");
    return tf.clipByValue(x, -a.limit, a.limit);
  },
  cast(a, x) {
    const to = { f32: "float32", i32: "int32", bool: "bool" }[a.dtype];
    need(to, "dtype", `TensorFlow.js has no ${a.dtype}`);
    if (x.dtype === "float32" && to === "int32") {
      const fits = x.dataSync().every((v) => v > -2147483649 && v < 2147483648);
      need(fits, "request", "the conversion of a real out of the integer's range is not stated by TensorFlow.js");
    }
    return tf.cast(x, to);
  },
});
