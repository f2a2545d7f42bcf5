"use strict";
// What TensorFlow.js's own words mean: a gap that it admits, or a call that it takes for wrong.
const { Unsupported, Rejected } = require("../javascript/protocol");

const LIMITS = [
  ["mode", /gradient function not found|Gradient for \w+ operation is not implemented|not yet supported in gradient/],
  ["operation", /not registered for backend/],
  ["dtype", /must be float32 tensor, but got|non-float32 tensors not yet supported/],
  ["attribute", /along a non-last dimension is not yet supported|depth must be >=2/],
  // Tensors without axes, with many, or without elements.
  ["shape", /Slicing scalar is not possible|pad\(scalar\) is not defined|[Rr]ank|numUpper \(\d+\) must not be greater than|Cannot infer the missing size|has 0 elements/],
];

function refusal(error) {
  if (error instanceof Unsupported || error instanceof Rejected) return error;
  // A trap leaves the memory of WebAssembly as it is: nothing that this process answers later would count.
  if (error instanceof WebAssembly.RuntimeError) {
    process.stderr.write(`TensorFlow.js: ${error.message}\n`);
    process.exit(3);
  }
  const words = String(error.message || error).split("\n")[0];
  for (const [what, pattern] of LIMITS) {
    if (pattern.test(words)) return new Unsupported(what, `TensorFlow.js: ${words}`);
  }
  return new Rejected(`TensorFlow.js: ${words}`);
}

module.exports = { refusal };
