"use strict";
// The module of WebAssembly: made anew after a request that wrote behind its results in the module's memory, so that the
// next one is judged on its own.
const tf = require("@tensorflow/tfjs");

const OVERWRITING = ["OneHot", "Reverse", "Select"]; // they take truth values for four bytes each: docs/findings.md
let overwritten = false;

/** Notes from now on what the kernels that overwrite are asked. */
function watch() {
  for (const name of OVERWRITING) {
    const kernel = tf.getKernel(name, "wasm");
    tf.unregisterKernel(name, "wasm");
    tf.registerKernel({ ...kernel, kernelFunc: (args) => {
      const result = kernel.kernelFunc(args);
      overwritten ||= result.dtype === "bool";
      return result;
    } });
  }
}

/** Touches the module's memory no more: giving it back would walk through what was overwritten. */
function abandon() {
  overwritten = true;
  Object.assign(tf.backend(), { dispose() {}, disposeData: () => true });
}

/** Between two requests: nothing of the first is held any more. */
async function renew() {
  if (!overwritten) return;
  abandon();
  overwritten = false;
  const create = tf.findBackendFactory("wasm");
  tf.removeBackend("wasm");
  // Those of the old module would keep its memory; they only rethrow.
  for (const event of ["uncaughtException", "unhandledRejection"]) process.removeAllListeners(event);
  tf.registerBackend("wasm", create);
  if (!(await tf.setBackend("wasm"))) throw new Error("the backend wasm does not start again");
}

module.exports = { watch, abandon, renew };
