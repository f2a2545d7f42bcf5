"use strict";
// ONNX Runtime fully optimised, and tensors as ONNX's tests have them in files; without the runtime's packages the process ends as skipped.
const fs = require("fs"), path = require("path");

const beside = path.join(__dirname, "../../conformance/adapters/onnxruntime");
let ort, protobuf;
try {
  const load = (name) => require(require.resolve(name, { paths: [beside, ...(process.env.NODE_PATH || "").split(":")] }));
  ort = load("onnxruntime-node");
  protobuf = load("protobufjs");
} catch (missing) {
  console.log(`skipped: ${String(missing.message).split("\n")[0]}; conformance/adapters/onnxruntime/install`);
  process.exit(77);
}

const one = (type, id) => ({ type, id }), many = (type, id) => ({ rule: "repeated", type, id });
const messages = protobuf.Root.fromJSON({ nested: {
  Tensor: { fields: { dims: many("int64", 1), dataType: one("int32", 2), name: one("string", 8), rawData: one("bytes", 9) } },
} });
const Tensor = messages.lookupType("Tensor");

const KINDS = { 1: ["float32", Float32Array], 6: ["int32", Int32Array], 7: ["int64", BigInt64Array], 9: ["bool", Uint8Array],
                11: ["float64", Float64Array] };

function tensor(file) {
  const t = Tensor.decode(fs.readFileSync(file));
  if (!(t.dataType in KINDS)) throw new Error(`element type ${t.dataType}`);
  const [type, List] = KINDS[t.dataType], own = new ArrayBuffer(t.rawData.length);
  new Uint8Array(own).set(t.rawData);
  return new ort.Tensor(type, new List(own), t.dims.map(Number));
}

/** Those of a folder, `input_0.pb` and so on. */
function tensors(folder, kind) {
  const found = [];
  for (let i = 0; fs.existsSync(path.join(folder, `${kind}_${i}.pb`)); ++i) found.push(tensor(path.join(folder, `${kind}_${i}.pb`)));
  return found;
}

function write(t, file) {
  const dataType = Number(Object.keys(KINDS).find((kind) => KINDS[kind][0] === t.type));
  if (!dataType) throw new Error(`element type ${t.type}`);
  const rawData = new Uint8Array(t.data.buffer, t.data.byteOffset, t.data.byteLength);
  fs.writeFileSync(file, Tensor.encode({ dims: t.dims, dataType, rawData }).finish());
}

/** All outputs of a model. */
async function answers(bytes, inputs) {
  const session = await ort.InferenceSession.create(bytes, { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4,
                                                             graphOptimizationLevel: "all" });
  try {
    const feeds = {};
    session.inputNames.forEach((name, i) => (feeds[name] = inputs[i]));
    const found = await session.run(feeds);
    return session.outputNames.map((name) => found[name]);
  } finally {
    await session.release();
  }
}

module.exports = { contract: path.join(beside, "contract.json"), tensors, write, answers };
