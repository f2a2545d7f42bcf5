"use strict";
// The table of operations: a name of the library, and a function of the attributes and the operands.
const { tf } = require("./library");
const { need } = require("../javascript/protocol");

const ROWS = {};

/** Registers functions by name; what may carry no derivative says so. */
function rows(functions, { differentiable = true } = {}) {
  for (const [name, run] of Object.entries(functions)) ROWS[name] = { run, differentiable };
}

/** Registers functions of the operands alone. */
function plain(functions, options) {
  rows(Object.fromEntries(Object.entries(functions).map(([name, f]) => [name, (a, ...x) => f(...x)])), options);
}

/** Integers of 64 bits: TensorFlow.js has none, so they are numbers of the protocol only. */
class Wide {
  constructor(elements, shape, from = null) {
    this.elements = elements;
    this.shape = shape;
    this.dtype = "i64";
    this.from = from; // the tensor with these numbers, if there is one
  }
}

/** Places, counts and labels as TensorFlow.js has them, in i32. */
function places(t) {
  if (!(t instanceof Wide)) return t;
  const fits = t.elements.every((v) => v === BigInt.asIntN(32, v));
  need(fits, "dtype", "TensorFlow.js has no integers of 64 bits");
  return tf.tensor(Int32Array.from(t.elements, Number), t.shape, "int32");
}

/** Places that TensorFlow.js answers in i32; written as i64 they are the same places. */
function widened(t) {
  return new Wide(BigInt64Array.from(t.dataSync(), BigInt), t.shape, t);
}

const integer = (t) => Number(t instanceof Wide ? t.elements[0] : t.dataSync()[0]);

/** Axes from the start. */
const from0 = (axis, rank) => (axis < 0 ? axis + rank : axis);

/** Places that lie inside an axis: outside the library reads 0, and TensorFlow.js an error or other memory. */
function inside(t, extent) {
  const at = t.dataSync();
  need(at.every((v) => v >= 0 && v < extent), "request", "TensorFlow.js has no rule for an index out of range");
  return t;
}

module.exports = { ROWS, rows, plain, Wide, places, widened, integer, from0, inside };
