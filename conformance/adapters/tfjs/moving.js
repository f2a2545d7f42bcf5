"use strict";
// Which tensors a derivative is asked for by, while a request is answered.
const moving = new Set();

/** Whether a derivative by this operand itself, or by anything before it, may be asked for. */
const moves = (t) => moving.size > 0 && t.dtype === "float32";

/** Whether this holds for some number of a tensor. */
const some = (t, condition) => t.dataSync().some(condition);

module.exports = { moving, moves, some };
