"use strict";
// ONNX's own models of one node and of a few, answered by ONNX Runtime and judged by what they are imported as. What lies
// outside its bounds is explained by name below, and everything that is explained must be met. Models whose tensors are
// larger than LARGEST bytes, whose bounds take long, are counted and left out.
// Usage: onnxruntime_models.js ETALON [LARGEST]
const { spawnSync } = require("child_process");
const fs = require("fs"), os = require("os"), path = require("path");
const { contract, tensors, write, answers } = require("./onnx_runtime.js");

const [etalon, largest = 1 << 17] = process.argv.slice(2), folder = "/usr/share/libonnx-testdata/data";
if (!fs.existsSync(folder)) {
  console.log(`skipped: there is no ${folder} (libonnx-testdata)`);
  process.exit(77);
}

/** What the runtime answers otherwise, by the names of models: a regular expression, and why. */
const EXPLAINED = [
  { models: /^test_sigmoid$/i, why: "finding 2: the sigmoid of negative numbers loses its digits" },
  { models: /^test_softplus$/, why: "it is the logarithm of the rounded 1 + exp(x)" },
];

function judged(model, data) {
  const run = spawnSync(etalon, ["import", "onnx", model, "--data", data, "--json", "--contract", contract], { encoding: "utf8" });
  if (run.status === 2) return { verdict: "refused" };
  return { ...JSON.parse(run.stdout), why: run.stdout };
}

(async () => {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "etalon-onnx-")), counts = {};
  const count = (what) => (counts[what] = (counts[what] || 0) + 1);
  let elements = 0, failed = 0;
  try {
    for (const group of ["node", "simple", "pytorch-converted", "pytorch-operator"]) {
      for (const name of fs.readdirSync(path.join(folder, group)).sort()) {
        const model = path.join(folder, group, name, "model.onnx"), data = path.join(folder, group, name, "test_data_set_0");
        if (!fs.existsSync(model) || !fs.existsSync(data)) continue;
        const bytes = fs.readdirSync(data).reduce((sum, file) => sum + fs.statSync(path.join(data, file)).size, 0);
        if (bytes > largest) { count("large"); continue; }
        fs.rmSync(path.join(scratch, "data"), { recursive: true, force: true });
        fs.mkdirSync(path.join(scratch, "data"));
        try {
          const outputs = await answers(fs.readFileSync(model), tensors(data, "input"));
          outputs.forEach((t, i) => write(t, path.join(scratch, "data", `output_${i}.pb`)));
        } catch (error) {
          count("not run");  // no kernel, no array of that type in JavaScript, or no such operator in this build
          continue;
        }
        for (const file of fs.readdirSync(data).filter((f) => f.startsWith("input_")))
          fs.copyFileSync(path.join(data, file), path.join(scratch, "data", file));
        const found = judged(model, path.join(scratch, "data"));
        elements += found.comparisons || 0;
        const known = EXPLAINED.find(({ models }) => models.test(name));
        if (found.verdict !== "fail") { count(found.verdict); continue; }
        count(known ? "explained" : "fail");
        if (known) known.met = true;
        else ++failed, console.log(`${group}/${name}: ${found.why.trim()}`);
      }
    }
  } finally {
    fs.rmSync(scratch, { recursive: true });
  }
  for (const { models, why, met } of EXPLAINED) if (!met) ++failed, console.log(`met no more: ${models}: ${why}`);
  console.log(JSON.stringify(counts), elements, "elements");
  if (!(counts.pass > 500)) ++failed, console.log("hardly anything was judged");
  console.log(failed === 0 ? "everything holds" : `${failed} faults`);
  process.exit(failed === 0 ? 0 : 1);
})();
