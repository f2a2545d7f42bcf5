"use strict";
// The two questions: values, and reverse mode. TensorFlow.js has no forward mode; reverse mode twice is another
// computation with other roundings, so that is not offered in its place.
const engine = require("@tensorflow/tfjs").engine();
const { tf } = require("./library");
const { need, decoded, encoded, attributes, marked } = require("../javascript/protocol");
const { ROWS, Wide } = require("./table");
const { moving } = require("./moving");
const { refusal } = require("./limits");

const DTYPES = { f32: "float32", i32: "int32", bool: "bool" };
// A tensor that was made from a list keeps the list.
const ELEMENTS = { float32: Float32Array, int32: Int32Array, bool: Uint8Array };
const NAMES = { float32: "f32", int32: "i32", bool: "bool" };
const PLACES = /^(gather|embedding|one_hot|sgd|adam)$/; // these take counts and places

function tensor(t) {
  need(t.dtype in DTYPES || t.dtype === "i64", "dtype", `TensorFlow.js has no ${t.dtype}`);
  return t.dtype === "i64" ? new Wide(decoded(t), t.shape) : tf.tensor(decoded(t), t.shape, DTYPES[t.dtype]);
}

function written(x) {
  return x instanceof Wide ? encoded("i64", x.shape, x.elements) : encoded(NAMES[x.dtype], x.shape, ELEMENTS[x.dtype].from(x.dataSync()));
}

const real = (x) => x.dtype === "float32";

/** Adds the results of one call to the values; a promise where a row is one. */
function call(step, values, differentiates) {
  const row = ROWS[step.operation];
  need(row, "operation", `${step.operation} is not an operation of TensorFlow.js that this adapter knows`);
  need(row.differentiable || !differentiates, "mode", `TensorFlow.js has ${step.operation}, but does not differentiate it`);
  const operands = step.operands.map((name) => (name === null ? null : values[name]));
  const wide = operands.some((x) => x instanceof Wide);
  const misplaced = operands[0] instanceof Wide && step.operation !== "one_hot";
  need(!wide || (PLACES.test(step.operation) && !misplaced), "dtype", "TensorFlow.js has no integers of 64 bits");
  const keep = (found) => {
    const results = Array.isArray(found) ? found : [found];
    if (results.length !== step.results.length) throw new Error(`${results.length} results of ${step.operation}`);
    step.results.forEach((name, i) => (values[name] = results[i]));
  };
  const found = row.run(attributes(step), ...operands);
  return found instanceof Promise ? found.then(keep) : keep(found);
}

function named(program, inputs) {
  return Object.fromEntries(program.inputs.map((declared, i) => [declared.name, inputs[i]]));
}

/** The outputs. */
async function values(request, inputs) {
  const known = named(request.program, inputs);
  for (const step of request.program.calls) await call(step, known, false);
  return request.program.outputs.map((name) => known[name]);
}

async function forward(request, inputs) {
  return { outputs: (await values(request, inputs)).map(written) };
}

/** The program as a function of the inputs that are marked. */
function outputs(request, inputs, wrt, leaves) {
  let next = 0;
  const values = named(request.program, inputs.map((x, i) => (wrt[i] ? leaves[next++] : x)));
  for (const step of request.program.calls) call(step, values, true);
  return request.program.outputs.map((name) => values[name]);
}

/** The outputs and the gradients of the leaves, none where nothing depends on one. `told` is given what is pulled back
    and its cotangent once the values are there. */
function pulledBack(request, inputs, seeds, told = () => {}) {
  const wrt = marked(request), leaves = inputs.filter((_, i) => wrt[i]);
  const single = seeds.filter((c) => c !== null).length === 1;
  const by = single ? seeds.find((c) => c) : undefined;
  let found;
  leaves.forEach((x) => moving.add(x.id));
  const pulled = (...xs) => {
    found = outputs(request, inputs, wrt, xs).map((y) => (y instanceof Wide ? y : engine.keep(y)));
    const seeded = found.map((y, i) => [y, seeds[i]]).filter(([y, c]) => c && real(y));
    need(seeded.length > 0, "mode", "no output has a cotangent");
    // One output is pulled back itself; several are first paired with their cotangents, each factor of which is exact.
    const value = seeded.length === 1 ? seeded[0][0] : tf.addN(seeded.map(([y, c]) => tf.sum(tf.mul(y, c))));
    told(found, value, by);
    return value;
  };
  const { grads } = engine.gradients(() => pulled(...leaves), leaves, by, true);
  return { found, leaves, grads };
}

const cotangents = (request) => (request.cotangents || []).map((c) => (c === null ? null : tensor(c)));

async function vjp(request, inputs) {
  const { found, leaves, grads } = pulledBack(request, inputs, cotangents(request));
  const given = leaves.map((x, i) => grads[i] || tf.zerosLike(x));
  let next = 0;
  return { outputs: found.map(written), cotangents: marked(request).map((w) => (w ? written(given[next++]) : null)) };
}

const MODES = { forward, vjp };

async function scoped(answer) {
  engine.startScope();
  try {
    return await answer();
  } finally {
    moving.clear();
    engine.endScope();
    engine.disposeVariables();
  }
}

/** What the function of this mode makes of a request and its inputs. */
async function asked(functions, request) {
  const mode = request.mode || "forward";
  need(mode in functions, "mode", mode === "jvp" || mode === "jvp_of_vjp" ? "TensorFlow.js has no forward mode" :
       `${mode} is not offered`);
  try {
    // A trap may also come when memory is given back.
    return await scoped(() => functions[mode](request, request.inputs.map(tensor)));
  } catch (error) {
    throw refusal(error);
  }
}

const run = (request) => asked(MODES, request);

module.exports = { run, asked, values, pulledBack, cotangents, MODES };
