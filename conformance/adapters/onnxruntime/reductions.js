"use strict";
// Reductions and products.
const { need } = require("../javascript/protocol");
const { rows, plain, from0, reshaped } = require("./table");

/** Axes as an operand; none are none. */
const over = (operator) => (g, a, x) =>
  g.node(operator, [x, g.integers(a.axes)], { keepdims: a.keepdims, noop_with_empty_axes: 1 });

function mean(g, a, x) {
  need(a.axes.every((axis) => x.shape.at(axis) > 0), "request", "ONNX leaves the mean of nothing undefined");
  return over("ReduceMean")(g, a, x);
}

function position(operator) {
  return (g, a, x) => {
    if (a.axes.length === 1) return g.node(operator, [x], { axis: a.axes[0], keepdims: a.keepdims });
    const inOrder = a.axes.every((axis, i) => from0(axis, x.shape.length) === i);
    need(x.shape.length === a.axes.length && inOrder, "attribute", "ONNX has the place along one axis");
    const found = g.node(operator, [reshaped(g, x, [-1])], { axis: 0, keepdims: 0 });
    return reshaped(g, found, a.keepdims ? x.shape.map(() => 1) : []);
  };
}

plain({ matmul: "MatMul", dot: "MatMul" });
rows({
  sum: over("ReduceSum"), mean, prod: over("ReduceProd"), max: over("ReduceMax"),
  min: over("ReduceMin"), any: over("ReduceMax"), all: over("ReduceMin"), logsumexp: over("ReduceLogSumExp"),
  argmax: position("ArgMax"), argmin: position("ArgMin"),
  norm(g, a, x) {
    need(a.ord !== "infinity", "attribute", "ONNX has no norm by the largest magnitude");
    need(a.axes.length > 0, "attribute", "to ONNX a norm over no axes is the operand itself");
    return over(a.ord === "two" ? "ReduceL2" : "ReduceL1")(g, a, x);
  },
  cumsum: (g, a, x) => g.node("CumSum", [x, g.constant("i64", [], [a.axis])], { exclusive: a.exclusive, reverse: a.reverse }),
  linear(g, a, x, w, b) {
    if (x.shape.length === 2) return g.node("Gemm", [x, w, b], { transB: 1 });
    const y = g.node("MatMul", [x, g.node("Transpose", [w], { perm: [1, 0] })]);
    return b ? g.node("Add", [y, b]) : y;
  },
});
