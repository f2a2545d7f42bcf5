"use strict";
// TensorFlow.js as a backend of Protocol 1: one JSON object per line on stdin, one answer per line on stdout.
//
//     conformance/adapters/tfjs/install
//     etalon conform --backend 'exec:node conformance/adapters/tfjs/adapter.js cpu'
//     etalon conform --backend 'exec:node conformance/adapters/tfjs/adapter.js wasm'
//
// Values and reverse mode in f32, i32 and bool, on the backend in plain JavaScript or on that in WebAssembly. Arguments
// are translated and results never repaired. README.md beside this file says what is not supported.
const fs = require("fs");
const path = require("path");
const { serve } = require("../javascript/protocol");

async function main(backend) {
  const tf = require("@tensorflow/tfjs");
  if (backend !== "cpu") require(`@tensorflow/tfjs-backend-${backend}`);
  if (!(await tf.setBackend(backend))) throw new Error(`the backend ${backend} does not start`);
  await tf.ready();
  // Each family registers its rows.
  for (const family of ["elementwise", "reductions", "shape", "layers", "losses", "windows", "optimizers"]) {
    require(`./${family}`);
  }
  const { ROWS } = require("./table");
  const { run, MODES } = require("./modes");
  const { script } = require("./script");
  const { watch, renew } = require("./module");
  if (backend === "wasm") watch();
  const apart = (answer) => (request) => answer(request).finally(renew);
  const contract = JSON.parse(fs.readFileSync(path.join(__dirname, `contract-${backend}.json`)));
  await serve(() => ({ etalon: 1, name: `TensorFlow.js ${backend}`, version: tf.version.tfjs, operations: Object.keys(ROWS).sort(),
                       dtypes: ["f32", "i32", "i64", "bool"], modes: Object.keys(MODES), contract, fuses: false,
                       materialises: true, rejects: false, running_attributes: false, deterministic: true, pipeline: 1, scripts: true }), apart(run), apart(script));
}

const backend = process.argv[2] || "cpu";
if (!["cpu", "wasm"].includes(backend)) {
  process.stderr.write(`expected cpu or wasm, found ${backend}\n`);
  process.exit(2);
}
main(backend).catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
