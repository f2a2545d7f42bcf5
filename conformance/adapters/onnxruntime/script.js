"use strict";
// A request as a script of its own: the bytes of the model that answers it, and its inputs written out.
const { list, key } = require("../javascript/literal");
const { asked, TYPES, OPTIONS } = require("./run");

const ARRAYS = { f16: "Uint16Array", f32: "Float32Array", f64: "Float64Array", i32: "Int32Array", i64: "BigInt64Array", bool: "Uint8Array" };
// JavaScript has no numbers of f16, only their bits.
const HALF = `const half = (b) => (b >> 15 ? -1 : 1) * ((b & 0x7c00) === 0x7c00 ? (b & 1023 ? NaN : Infinity)
  : (b & 0x7c00 ? 1024 + (b & 1023) : b & 1023) * 2 ** (Math.max(1, (b >> 10) & 31) - 25));
`;

const tensor = ({ dtype, shape, elements }) =>
  `new ort.Tensor("${TYPES[dtype]}", ${ARRAYS[dtype]}.from(${list(elements, dtype)}), [${shape.join(", ")}])`;

const options = `{ ${Object.entries(OPTIONS).map(([name, value]) => `${name}: ${value}`).join(", ")} }`;

/** What is printed: the element that the request points at, or all. */
function printed(shown, halves) {
  if (!shown) return "(found) => { for (const name in found) console.log(name, found[name].data); }";
  const value = `y${shown.tensor}.data[${shown.element}]`;
  return `({ y${shown.tensor} }) => console.log(${halves ? `y${shown.tensor}.type === "float16" ? half(${value}) : ${value}` : value})`;
}

/** The model is not run here, so that what ends the process can be told too. */
const script = asked(async ({ bytes, told, given }, request) => {
  const halves = JSON.stringify(request.program).includes('"f16"');
  const feeds = Object.entries(given).map(([name, x]) => `  ${key(name)}: ${tensor(x)},\n`);
  return `const ort = require("onnxruntime-node");
${halves ? HALF : ""}${told.map((line) => `// ${line}\n`).join("")}const model = Buffer.from("${Buffer.from(bytes).toString("base64")}", "base64");
const feeds = {
${feeds.join("")}};
ort.InferenceSession.create(model, ${options})
  .then((session) => session.run(feeds))
  .then(${printed(request.element, halves)});
`;
});

module.exports = { script };
