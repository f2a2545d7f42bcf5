"use strict";
// The table of operations: a name of the library, and a function that writes its nodes: of the graph, the attributes and
// the operands. Operands have their element type and shape.
const { need } = require("../javascript/protocol");
const { Real } = require("./model");

const ROWS = {};

function rows(functions) {
  Object.assign(ROWS, functions);
}

/** Operators that take the operands as they are. */
function plain(operators) {
  for (const [name, operator] of Object.entries(operators)) ROWS[name] = (g, a, ...x) => g.node(operator, x);
}

/** An attribute of a node, which ONNX keeps in f32. */
function real(value, x) {
  need(x.dtype !== "f64" || Math.fround(value) === value, "attribute", "ONNX's attributes are numbers of f32");
  return new Real(value);
}

/** One number of the operand's type. */
const scalar = (g, x, value) => g.constant(x.dtype, [], [value]);

/** Axes from the start. */
const from0 = (axis, rank) => (axis < 0 ? axis + rank : axis);

/** One entry per axis; an attribute that was left to its default is one number for all. */
const each = (value, n) => (Array.isArray(value) ? value : Array(n).fill(value));

const reshaped = (g, x, shape) => g.node("Reshape", [x, g.integers(shape)], { allowzero: 1 });

/** Labels and places that an operator may read: those of inputs of the program are known. */
function inside(t, extent) {
  need(t.values, "request", "places that are computed");
  need(t.values.every((v) => v >= 0 && v < extent), "request", "ONNX counts negative places from the end and has no others");
}

const isReal = (x) => ["f16", "f32", "f64"].includes(x.dtype);

module.exports = { ROWS, rows, plain, real, scalar, from0, each, reshaped, inside, isReal };
