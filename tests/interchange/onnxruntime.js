"use strict";
// Tests of one node that are exported, run by ONNX Runtime fully optimised: judged models answer true, and false somewhere where
// another operator stands in place of the one that is tested; plain ones answer numbers within the tolerance that they state.
// Usage: onnxruntime.js ETALON
const { execFileSync } = require("child_process");
const fs = require("fs"), os = require("os"), path = require("path");
const { contract, tensors, answers } = require("./onnx_runtime.js");

const [etalon] = process.argv.slice(2), promises = ["--contract", contract];

async function answer(bytes, inputs) {
  return (await answers(bytes, inputs))[0];
}

/** The model with another operator of a name as long. */
function renamed(bytes, from, to) {
  const copy = Buffer.from(bytes), at = copy.indexOf(Buffer.from(from));
  if (at < 0 || from.length !== to.length) throw new Error(`${from} stands in no model`);
  copy.write(to, at);
  return copy;
}

// What it does otherwise (docs/findings.md), by the operation and its numbers; nothing else may fail. Each must be met, but for those
// of some processors or of some numbers only, which are drawn anew whenever a definition changes.
const FINDINGS = [
  { finding: 2, of: (name) => name.startsWith("test_sigmoid.") },
  { finding: 7, somewhere: true, of: (name) => name.startsWith("test_sin.value.f64") },
  { finding: 22, somewhere: true, of: (name, inputs) => /^test_(max|maximum)\./.test(name) && inputs[0].type === "int64" },
];

/** Whether a finding explains that the test fails. */
function explained(name, inputs) {
  const known = FINDINGS.find((f) => f.of(name, inputs));
  if (known) known.met = (known.met || 0) + 1;
  return Boolean(known);
}

let failed = 0;
function check(holds, what) {
  if (holds) return;
  ++failed;
  console.log(what);
}

/** Equal, or numbers within the tolerance that is stated. */
function within(y, meant, { rtol, atol }) {
  const near = (v, m) => rtol + atol > 0 && Math.abs(Number(v) - Number(m)) <= atol + rtol * Math.abs(Number(m));
  return y.every((v, i) => v === meant[i] || near(v, meant[i]));
}

/** Runs every test in the folder. */
async function each(folder, visit) {
  const counts = { run: 0, refused: 0, elements: 0 };
  for (const name of fs.readdirSync(folder).sort()) {
    const model = fs.readFileSync(path.join(folder, name, "model.onnx")), data = path.join(folder, name, "test_data_set_0");
    try {
      counts.elements += await visit(name, model, tensors(data, "input"), tensors(data, "output")[0], path.join(folder, name, "data.json"));
      ++counts.run;
    } catch (error) {
      // The runtime has no kernel for every type.
      if (!/Could not find an implementation|NOT_IMPLEMENTED/.test(String(error.message))) throw new Error(`${name}: ${error.message}`);
      ++counts.refused;
    }
  }
  return counts;
}

const WRONG = { exp: ["Exp", "Log"], sin: ["Sin", "Cos"], add: ["Add", "Sub"],
                max: ["ReduceMax", "ReduceMin"], sinh: ["Sinh", "Tanh"], sqrt: ["Sqrt", "Ceil"] };

(async () => {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "etalon-onnx-"));
  try {
    const ops = "neg,abs,sqrt,exp,sin,sinh,sigmoid,relu,isnan,add,div,maximum,lt,where," +
                "softmax,log_softmax,matmul,max,mean,concat,transpose";
    const judged = path.join(scratch, "judged"), plain = path.join(scratch, "plain");
    console.log(execFileSync(etalon, ["export", "onnx", judged, "--ops", ops, ...promises], { encoding: "utf8" }).trim());
    console.log(execFileSync(etalon, ["export", "onnx", plain, "--ops", ops, "--plain", ...promises], { encoding: "utf8" }).trim());
    const convicted = {};
    const all = await each(judged, async (name, model, inputs, meant) => {
      const y = await answer(model, inputs), operation = name.slice(5).split(".")[0];
      check(y.data.length === meant.data.length, `${name}: ${y.data.length} elements`);
      const at = [...y.data].findIndex((v) => v !== 1);
      check(at < 0 || explained(name, inputs), `${name}: false at ${at}`);
      const wrong = WRONG[operation];
      if (wrong && y.data.length > 0 && !convicted[operation]) {
        const other = await answer(renamed(model, ...wrong), inputs);
        convicted[operation] = other.data.some((v) => v !== 1);
      }
      return y.data.length;
    });
    console.log(`judged: ${all.run} run, ${all.refused} without a kernel, ${all.elements} elements`);
    for (const [operation, [from, to]] of Object.entries(WRONG)) check(convicted[operation], `${to} passes for ${from}`);
    const numbers = await each(plain, async (name, model, inputs, meant, file) => {
      const y = await answer(model, inputs), tolerance = JSON.parse(fs.readFileSync(file));
      check(y.data.length === meant.data.length, `${name}: ${y.data.length} elements`);
      check(within([...y.data], [...meant.data], tolerance) || explained(name, inputs), `${name}: beyond ${JSON.stringify(tolerance)}`);
      return y.data.length;
    });
    console.log(`plain: ${numbers.run} run, ${numbers.refused} without a kernel, ${numbers.elements} elements`);
    for (const f of FINDINGS) console.log(`finding ${f.finding}: ${f.met || 0} tests`);
    for (const f of FINDINGS) check(f.met > 0 || f.somewhere, `finding ${f.finding} is met no more`);
    check(all.elements > 1000 && numbers.elements > 1000, "hardly anything was compared");
  } finally {
    fs.rmSync(scratch, { recursive: true });
  }
  console.log(failed === 0 ? "everything holds" : `${failed} faults`);
  process.exit(failed === 0 ? 0 : 1);
})();
