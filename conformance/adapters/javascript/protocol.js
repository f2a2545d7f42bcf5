"use strict";
// What adapters in JavaScript share: Protocol 1 on the standard streams, and tensors as the protocol writes them.
// docs/writing-an-adapter.md says what the parts are for.
const readline = require("readline");

class Unsupported extends Error {
  /** What is not offered (operation, dtype, mode, attribute, shape, layout, size or request), and why. */
  constructor(what, why) {
    super(why);
    this.what = what;
  }
}

/** The library refuses the call. */
class Rejected extends Error {}

function need(condition, what, why) {
  if (!condition) throw new Unsupported(what, why);
}

const ARRAYS = { f16: Uint16Array, bf16: Uint16Array, f32: Float32Array, f64: Float64Array, i32: Int32Array,
                 i64: BigInt64Array, bool: Uint8Array };

const size = (shape) => shape.reduce((n, m) => n * m, 1);

/** The elements of a dense tensor of the protocol, in an array of their own. */
function decoded(t) {
  need(t.dtype in ARRAYS, "dtype", `${t.dtype} is not offered`);
  need(!("strides" in t) && !("offset" in t), "layout", "tensors have no strides here");
  const bytes = Buffer.from(t.data, "base64");
  const own = new ArrayBuffer(bytes.length);
  new Uint8Array(own).set(bytes);
  const elements = new ARRAYS[t.dtype](own);
  if (elements.length !== size(t.shape)) throw new Rejected(`${elements.length} elements for shape [${t.shape}]`);
  return elements;
}

function encoded(dtype, shape, elements) {
  if (elements.constructor !== ARRAYS[dtype]) throw new Error(`elements of ${dtype} in a ${elements.constructor.name}`);
  const bytes = Buffer.from(elements.buffer, elements.byteOffset, elements.byteLength);
  return { dtype, shape: [...shape], data: bytes.toString("base64") };
}

const NUMBERS = { nan: NaN, inf: Infinity, "-inf": -Infinity };

/** An attribute as a number, a truth value, a word or a list of these. */
function attribute(name, value) {
  if (Array.isArray(value)) return value.map((v) => attribute(name, v));
  need(value === null || typeof value !== "object", "attribute", `${name} from a value of the program`);
  if (typeof value !== "string") return value;
  need(!/^-?\d+$/.test(value), "attribute", `${name} beyond 2^53, where JavaScript's numbers have gaps`);
  return value in NUMBERS ? NUMBERS[value] : value;
}

const attributes = (call) =>
  Object.fromEntries(Object.entries(call.attributes || {}).map(([name, value]) => [name, attribute(name, value)]));

/** One truth value per input; without `wrt` nothing moves. */
function marked(request) {
  const wrt = request.wrt || [];
  if (wrt.every((w) => typeof w === "boolean") && wrt.length === request.inputs.length) return wrt;
  return request.inputs.map((_, i) => wrt.includes(i));
}

/** Reads requests until the input ends; `run` and `script` answer one of them, or throw. */
async function serve(describe, run, script) {
  const offered = { run, script: async (request) => ({ script: await script(request) }) };
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (line.trim()) process.stdout.write(JSON.stringify(await answer(JSON.parse(line), describe, offered)) + "\n");
  }
}

async function answer(request, describe, offered) {
  if (request.request === "describe") return describe();
  const id = request.id;
  try {
    need(Object.hasOwn(offered, request.request), "request", `${request.request} is not offered; there are describe, run and script`);
    need(!("buffers" in request.program), "request", "programs that assign");
    return { id, ...(await offered[request.request](request)) };
  } catch (reason) {
    if (reason instanceof Unsupported) return { id, unsupported: { what: reason.what, why: reason.message } };
    if (reason instanceof Rejected) return { id, rejected: reason.message };
    return { id, error: `${reason.name}: ${reason.message}` }; // the next request is served
  }
}

module.exports = { Unsupported, Rejected, need, size, decoded, encoded, attributes, marked, serve };
