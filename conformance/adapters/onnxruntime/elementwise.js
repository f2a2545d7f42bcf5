"use strict";
// Functions element by element.
const { need } = require("../javascript/protocol");
const { TYPES } = require("./model");
const { rows, plain, real, scalar, isReal } = require("./table");

plain({ neg: "Neg", abs: "Abs", sign: "Sign", sqrt: "Sqrt", reciprocal: "Reciprocal", exp: "Exp", log: "Log", sin: "Sin",
        cos: "Cos", tan: "Tan", sinh: "Sinh", cosh: "Cosh", tanh: "Tanh", sigmoid: "Sigmoid", erf: "Erf", relu: "Relu",
        floor: "Floor", ceil: "Ceil", round: "Round", isnan: "IsNaN", isinf: "IsInf", logical_not: "Not",
        detach: "Identity" });
plain({ add: "Add", sub: "Sub", mul: "Mul", div: "Div", pow: "Pow", maximum: "Max", minimum: "Min", where: "Where",
        eq: "Equal", lt: "Less", le: "LessOrEqual", gt: "Greater", ge: "GreaterOrEqual", logical_and: "And",
        logical_or: "Or", logical_xor: "Xor" });

/** Bounds as operands, infinite ones too: one that is left out is the largest finite number to ONNX. */
function clip(g, x, low, high) {
  need(low <= high, "attribute", "to ONNX a lower bound above the upper is another order");
  return g.node("Clip", [x, scalar(g, x, low), scalar(g, x, high)]);
}

rows({
  square: (g, a, x) => g.node("Mul", [x, x]),
  rsqrt: (g, a, x) => g.node("Reciprocal", [g.node("Sqrt", [x])]),
  silu: (g, a, x) => g.node("Mul", [x, g.node("Sigmoid", [x])]),
  isfinite: (g, a, x) => g.node("Not", [g.node("Or", [g.node("IsNaN", [x]), g.node("IsInf", [x])])]),
  ne: (g, a, x, y) => g.node("Not", [g.node("Equal", [x, y])]),
  softplus(g, a, x) {
    need(a.beta === 1, "attribute", "ONNX's Softplus has no beta");
    return g.node("Softplus", [x]);
  },
  elu: (g, a, x) => g.node("Elu", [x], { alpha: real(a.alpha, x) }),
  leaky_relu: (g, a, x) => g.node("LeakyRelu", [x], { alpha: real(a.slope, x) }),
  gelu: (g, a, x) => g.node("Gelu", [x], { approximate: a.approximate }),
  power: (g, a, x) => g.node("Pow", [x, scalar(g, x, a.p)]),
  scale: (g, a, x) => g.node("Mul", [x, scalar(g, x, a.by)]),
  clamp: (g, a, x) => clip(g, x, a.low, a.high),
  clip_by_value: (g, a, x) => clip(g, x, -a.limit, a.limit),
  sat01: (g, a, x) => clip(g, x, 0, 1),
  remainder(g, a, x, y) {
    need(!isReal(x), "dtype", "ONNX's Mod with the sign of the divisor is for integers");
    need(y.values && y.values.every((v) => Number(v) !== 0), "request", "ONNX does not state the remainder by 0");
    return g.node("Mod", [x, y]);
  },
  cast(g, a, x) {
    need(a.dtype in TYPES, "dtype", `${a.dtype} is not offered`);
    if (isReal(x) && ["i32", "i64"].includes(a.dtype)) {
      const limit = a.dtype === "i32" ? 2 ** 31 : 2 ** 63;
      need(x.dtype !== "f16" && x.values && x.values.every((v) => Math.trunc(v) >= -limit && v < limit), "request",
           "ONNX leaves the conversion of a real out of the integer's range undefined");
    }
    return g.node("Cast", [x], { to: TYPES[a.dtype] });
  },
});
