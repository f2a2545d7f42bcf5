"use strict";
// A program as one ONNX graph. Rows read shapes, so of several calls each is first run by itself to learn them.
const ort = require("onnxruntime-node");
const { Rejected, Unsupported, need, decoded, encoded, attributes } = require("../javascript/protocol");
const { Graph } = require("./model");
const { ROWS } = require("./table");

const TYPES = { f16: "float16", f32: "float32", f64: "float64", i32: "int32", i64: "int64", bool: "bool" };
const NAMES = Object.fromEntries(Object.entries(TYPES).map(([name, type]) => [type, name]));

const OPTIONS = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 };

const LIMITS = [
  ["dtype", /Could not find an implementation for|Type '.*' of input parameter .* is invalid|does not support double yet|not supported with ScatterElements/],
  ["attribute", /output_padding \(\d+\) may be too large for stride/],
  // Tensors without axes, and without elements.
  ["shape", /Cannot slice scalars|Input tensor has no dimensions|Indices tensor must have rank >= 1|number of dimensions is less than 3|Only N can be zero|is not defined for empty set|must only contain positive values|within the inclusive range \[0,-1\]|cannot be reshaped to the requested shape\. Input shape:\{(\d+,)*0|dimension with value zero exceeds|Computed output dimension is <= 0|running Conv node.* Invalid input shape|Depth is negative|Size of X\.shape\[axis:\] must be at least 1/],
];

function refusal(error) {
  if (error instanceof Unsupported || error instanceof Rejected) return error;
  const words = String(error.message || error).split("\n")[0];
  for (const [what, pattern] of LIMITS) {
    if (pattern.test(words)) return new Unsupported(what, `ONNX Runtime: ${words}`);
  }
  return new Rejected(`ONNX Runtime: ${words}`);
}

/** The graph of these calls on these tensors, as bytes and in words. */
function model(calls, given, wanted) {
  const inputs = Object.entries(given).map(([name, x]) => ({ name, dtype: x.dtype, shape: x.shape, values: x.elements }));
  const g = new Graph(inputs), values = Object.fromEntries(inputs.map((x) => [x.name, x]));
  for (const step of calls) {
    const row = ROWS[step.operation];
    need(row, "operation", `${step.operation} is no operator of ONNX that this adapter knows`);
    const found = row(g, attributes(step), ...step.operands.map((name) => (name === null ? null : values[name])));
    const results = Array.isArray(found) ? found : [found];
    if (results.length !== step.results.length) throw new Error(`${results.length} results of ${step.operation}`);
    step.results.forEach((name, i) => (values[name] = { ...step.known?.[i], ...results[i] }));
  }
  return { bytes: g.bytes(wanted.map((name) => values[name])), told: g.told, given, wanted };
}

/** Tensors by name. */
async function infer({ bytes, given, wanted }) {
  const session = await ort.InferenceSession.create(bytes, OPTIONS);
  try {
    const feeds = {};
    for (const name of session.inputNames) feeds[name] = new ort.Tensor(TYPES[given[name].dtype], given[name].elements, given[name].shape);
    const found = await session.run(feeds);
    return Object.fromEntries(wanted.map((name, i) => [name, read(found[`y${i}`])]));
  } finally {
    await session.release();
  }
}

function read(tensor) {
  if (!(tensor.type in NAMES)) throw new Error(`an answer of ${tensor.type}`);
  return { dtype: NAMES[tensor.type], shape: [...tensor.dims], elements: tensor.data };
}

function input(t) {
  need(t.dtype in TYPES, "dtype", `${t.dtype} has no array in JavaScript`);
  return { dtype: t.dtype, shape: t.shape, elements: decoded(t) };
}

/** The model of a request. */
async function prepared(request) {
  need((request.mode || "forward") === "forward", "mode", "ONNX Runtime has no derivatives");
  const { inputs, calls, outputs } = request.program;
  const given = Object.fromEntries(inputs.map((declared, i) => [declared.name, input(request.inputs[i])]));
  const known = { ...given };
  for (const step of calls.length > 1 ? calls : []) {
    // What was computed in f32 goes on unrounded: what is asked for is not what the next operator reads.
    need(!Object.values(known).some((x) => x.dtype === "f16"), "dtype", "in f16 ONNX Runtime keeps wider numbers between operators");
    const operands = Object.fromEntries(step.operands.filter((name) => name !== null).map((name) => [name, known[name]]));
    Object.assign(known, await infer(model([step], operands, step.results)));
    step.known = step.results.map((name) => ({ dtype: known[name].dtype, shape: known[name].shape, values: known[name].elements }));
  }
  return model(calls, given, outputs);
}

/** What `answer` makes of the model of a request, or what the library's refusal means. */
const asked = (answer) => async (request) => {
  try {
    return await answer(await prepared(request), request);
  } catch (error) {
    throw refusal(error);
  }
};

const run = asked(async (made) => {
  const found = await infer(made);
  return { outputs: made.wanted.map((name) => encoded(found[name].dtype, found[name].shape, found[name].elements)) };
});

module.exports = { run, asked, TYPES, OPTIONS };
