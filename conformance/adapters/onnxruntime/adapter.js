"use strict";
// ONNX Runtime as a backend of Protocol 1: one JSON object per line on stdin, one answer per line on stdout.
//
//     conformance/adapters/onnxruntime/install
//     etalon conform --backend 'exec:node conformance/adapters/onnxruntime/adapter.js'
//
// Each request becomes an ONNX model, one node or a few per operation, which the CPU execution provider runs with its
// default optimisations. Values only. Arguments are translated and results never repaired. README.md beside this file
// says what is not supported.
const fs = require("fs");
const path = require("path");
const ort = require("onnxruntime-node");
const { serve } = require("../javascript/protocol");
const { run, TYPES } = require("./run");
const { script } = require("./script");
const { ROWS } = require("./table");

// Each family registers its rows.
for (const family of ["elementwise", "reductions", "shape", "layers", "windows"]) require(`./${family}`);
const contract = JSON.parse(fs.readFileSync(path.join(__dirname, "contract.json")));
serve(() => ({ etalon: 1, name: "ONNX Runtime", version: ort.env.versions.node, operations: Object.keys(ROWS).sort(),
               dtypes: Object.keys(TYPES), modes: ["forward"], contract, fuses: true, materialises: true, rejects: false, running_attributes: false,
               deterministic: true, pipeline: 1, scripts: true }), run, script);
