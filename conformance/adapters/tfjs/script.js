"use strict";
// A request as a few lines of JavaScript that need TensorFlow.js alone: what the rows of the table call is written down
// as they call it, and only what the answer depends on is kept.
const tf = require("@tensorflow/tfjs");
const { Unsupported, need, marked } = require("../javascript/protocol");
const { abandon } = require("./module");
const { asked, values, pulledBack, cotangents } = require("./modes");
const { Recording, tensorText } = require("./recording");
const { Wide } = require("./table");

const tensorOf = (y) => (y instanceof Wide ? y.from : y);

/** Lines that print one element, where the request points at one of this list, or all of these expressions. */
function printed(expressions, shown) {
  if (!shown) return expressions.filter(Boolean).map((text) => `console.log(${text}.arraySync());`);
  return [`console.log(${expressions[shown.tensor]}.dataSync()[${shown.element}]);`];
}

/** The expressions of the outputs, or of the one that is shown. */
function expressionsOf(recording, found, shown) {
  return found.map((y, i) => {
    if (shown && shown.tensor !== i) return null;
    need(recording.names.has(tensorOf(y)), "request", "a script of an output that no call makes");
    return recording.names.get(tensorOf(y)).text;
  });
}

/** Runs what is written down. A call that fails ends the script; after a trap nothing of the module is touched. */
async function recorded(recording, work) {
  try {
    return await recording.of(work);
  } catch (error) {
    if (error instanceof Unsupported) throw error;
    if (error instanceof WebAssembly.RuntimeError) abandon();
    return null;
  }
}

function declare(recording, request, inputs) {
  inputs.forEach((x, i) => x instanceof Wide || recording.declare(x, request.program.inputs[i].name));
}

async function valuesScript(request, inputs) {
  const recording = new Recording(), shown = request.element;
  declare(recording, request, inputs);
  const found = await recorded(recording, () => values(request, inputs));
  if (!found) return texts(recording.needed([]));
  const expressions = expressionsOf(recording, found, shown);
  const wanted = found.filter((_, i) => expressions[i]).map(tensorOf);
  return [...texts(recording.needed(wanted)), ...printed(expressions, shown)];
}

const texts = (lines) => lines.map((line) => line.text);

/** A function of the leaves, in as few lines as it takes. */
function arrow(names, body, result) {
  const only = body.length === 1 && body[0].match(/^const (\w+) = (.*);$/);
  if (only && only[1] === result) return [`(${names.join(", ")}) => ${only[2]}`];
  return [`(${names.join(", ")}) => {`, ...body.map((line) => `  ${line}`), ...(result ? [`  return ${result};`] : []), "}"];
}

async function vjpScript(request, inputs) {
  const recording = new Recording(), shown = request.element, wrt = marked(request);
  declare(recording, request, inputs);
  const names = inputs.filter((_, i) => wrt[i]).map((x) => recording.names.get(x).text);
  const given = cotangents(request);
  given.forEach((c) => c === null || recording.declare(c, "dy", true));
  const pulled = { found: [], value: null };
  const done = await recorded(recording, async () =>
    pulledBack(request, inputs, given, (found, value, by) => Object.assign(pulled, { found, value, by })));
  const outputs = shown && shown.list === "outputs";
  const expressions = outputs ? expressionsOf(recording, pulled.found, shown) : [];
  const wanted = [...(pulled.value ? [pulled.value] : []), ...pulled.found.map(tensorOf).filter((_, i) => expressions[i])];
  const lines = recording.needed(wanted), inner = texts(lines.filter((line) => !line.declares));
  // What is made out of sight is made before, like the inputs; leaves are given to the function, so they are needed too.
  const before = recording.lines.filter((line) => line.declares && (lines.includes(line) || names.includes(line.defines[0])));
  const body = [...inner, ...(outputs && pulled.value ? printed(expressions, shown) : [])];
  const result = pulled.value && recording.names.get(pulled.value).text;
  const call = gradient(names, body, pulled, result, done && done.grads);
  return [...texts(before), ...(outputs || !done ? call : slopes(call, done.grads, wrt, shown))];
}

/** The call that pulls back, as users write it where every leaf has a gradient. */
function gradient(names, body, { value, by }, result, grads) {
  const returned = value && result, cotangent = by ? tensorText(by) : null;
  if (!grads || grads.every(Boolean))
    return enclosed("tf.grads(", arrow(names, body, returned), `)([${names.join(", ")}]${cotangent ? `, ${cotangent}` : ""});`);
  return enclosed("tf.engine().gradients(", arrow([], body, returned), `, [${names.join(", ")}], ${cotangent || "undefined"}, true);`);
}

const enclosed = (open, lines, close) =>
  lines.map((line, i) => (i === 0 ? open : "") + line + (i === lines.length - 1 ? close : ""));

/** What is printed of the gradients; where nothing depends on a leaf its cotangent is zero. */
function slopes(lines, grads, wrt, shown) {
  let next = 0;
  const at = wrt.map((w) => (w ? next++ : null)), member = grads.every(Boolean) ? "grads" : "{ grads }";
  const expressions = at.map((k) => (k !== null && grads[k] ? `grads[${k}]` : null));
  const zero = shown && !expressions[shown.tensor];
  return [...enclosed(`const ${member} = `, lines, ""), ...(zero ? [`console.log(grads[${at[shown.tensor]}] ?? 0);`] : printed(expressions, shown))];
}

/** Without names for what is written down once and used once. */
function inlined(lines) {
  for (const [at, line] of lines.entries()) {
    const made = line.match(/^const (\w+) = (tf\.(?:tensor|scalar)\([^()]*\));$/);
    if (!made) continue;
    const name = new RegExp(`(?<![\\w.$"])${made[1]}(?![\\w$:"])`, "g");
    const uses = lines.flatMap((other, i) => (i === at ? [] : (other.match(name) || []).map(() => i)));
    if (uses.length === 1 && uses[0] > at)
      return inlined(lines.map((other, i) => (i === uses[0] ? other.replace(name, () => made[2]) : other)).filter((_, i) => i !== at));
  }
  return lines;
}

/** With the library, on the backend that answers. */
function framed(lines) {
  const waits = lines.some((line) => /\bawait /.test(line)), indented = lines.map((line) => `  ${line}`);
  const begin = 'const tf = require("@tensorflow/tfjs");';
  if (tf.getBackend() === "cpu" && !waits) return [begin, ...lines];
  if (tf.getBackend() === "cpu") return [begin, "(async () => {", ...indented, "})();"];
  return [`${begin} require("@tensorflow/tfjs-backend-wasm");`, `tf.setBackend("wasm").then(${waits ? "async " : ""}() => {`, ...indented, "});"];
}

const SCRIPTS = { forward: valuesScript, vjp: vjpScript };

const script = async (request) => `${framed(inlined(await asked(SCRIPTS, request))).join("\n")}\n`;

module.exports = { script };
