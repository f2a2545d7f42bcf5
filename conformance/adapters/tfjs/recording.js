"use strict";
// Calls of TensorFlow.js written down as they are made, as lines of JavaScript.
const { Tensor, Variable } = require("@tensorflow/tfjs");
const { literal, list, key } = require("../javascript/literal");
const { listening, seen } = require("./library");

const RESERVED = /^(tf|grads|console|require|break|case|catch|class|const|default|delete|do|else|enum|eval|export|for|function|if|import|in|let|new|null|return|static|super|switch|this|throw|true|try|typeof|var|void|while|with|yield)$/;

/** An expression that makes this tensor. */
function tensorText(x) {
  const values = x.dataSync(), dtype = x.dtype === "float32" ? "" : `, "${x.dtype}"`;
  if (x.rank === 0) return `tf.scalar(${literal(values[0], "f32")}${dtype})`;
  const shape = x.rank > 1 || x.size === 0 || dtype ? `, [${x.shape.join(", ")}]` : "";
  return `tf.tensor(${list(values, "f32")}${shape}${dtype})`;
}

/** The tensors in a result, each with the path that leads to it. */
function tensorsIn(value, path = "") {
  if (value instanceof Tensor) return [[value, path]];
  if (Array.isArray(value)) return value.flatMap((v, i) => tensorsIn(v, `${path}[${i}]`));
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return [];
  return Object.entries(value).flatMap(([name, v]) => tensorsIn(v, `${path}.${name}`));
}

class Recording {
  constructor() {
    this.names = new Map(); // of tensors: an expression, and the name in it
    this.used = new Set();
    this.lines = []; // text, the names that it defines or changes, and those that it reads
    this.failed = false; // a call that threw is the last line
  }

  /** What a function does while this is told of each call. */
  async of(work) {
    listening.recording = this;
    try {
      return await work();
    } finally {
      listening.recording = null;
    }
  }

  fresh(wish, numbered = false) {
    const base = wish.replace(/\W/g, "_").replace(/^(?=\d)/, "_").replace(RESERVED, "$&_");
    for (let k = numbered ? 1 : 0; ; ++k) {
      const name = base + (k || "");
      if (!this.used.has(name)) return this.used.add(name), name;
    }
  }

  /** A line that makes this tensor, by that name or one like it. */
  declare(x, wish, numbered = false) {
    const name = this.fresh(wish, numbered);
    this.names.set(x, { text: name, base: name });
    this.lines.push({ text: `const ${name} = ${tensorText(x)};`, defines: [name], reads: [], declares: true });
    return name;
  }

  value(v, reads) {
    if (v instanceof Tensor) {
      if (!this.names.has(v)) this.declare(v, "v", true); // made out of sight
      reads.push(this.names.get(v).base);
      return this.names.get(v).text;
    }
    if (ArrayBuffer.isView(v)) return list(v, "f32");
    if (Array.isArray(v)) return `[${v.map((item) => this.value(item, reads)).join(", ")}]`;
    if (typeof v === "number") return literal(v);
    if (v === null || typeof v !== "object") return v === undefined ? "undefined" : JSON.stringify(v);
    const members = Object.entries(v).filter(([, item]) => item !== undefined);
    return members.length ? `{ ${members.map(([name, item]) => `${key(name)}: ${this.value(item, reads)}`).join(", ")} }` : "{}";
  }

  /** Makes a call and writes it down; `path` begins with `tf` or with the name of what it is a call of. */
  call(path, owner, f, words) {
    const last = words.findLastIndex((v) => v !== undefined), of = path.split(".")[0];
    const line = { defines: [], reads: of === "tf" ? [] : [of] };
    const text = `${path}(${words.slice(0, last + 1).map((v) => this.value(v, line.reads)).join(", ")})`;
    this.lines.push(Object.assign(line, { text: `${text};` }));
    this.failed = true;
    const found = f.apply(owner, words);
    if (!(found instanceof Promise)) return this.made(line, path, text, found);
    return found.then((result) => this.made(line, path, `await ${text}`, result));
  }

  made(line, path, text, result) {
    const [owner, family] = path.split(".");
    const tensors = tensorsIn(result).filter(([x]) => !this.names.has(x));
    const object = typeof result === "object" && result !== null && tensorsIn(result).length === 0 && !Array.isArray(result);
    this.failed = false;
    line.text = `${text};`;
    // What gives nothing changes the object that it is a call of; a step changes every variable.
    if (owner !== "tf" && tensors.length === 0) line.defines.push(owner, ...[...this.names].filter(([x]) => x instanceof Variable).map(([, name]) => name.base));
    if (tensors.length === 0 && !object) return result;
    const name = object ? this.fresh(family === "train" ? "optimizer" : "layer") : this.fresh("v", true);
    line.text = `const ${name} = ${text};`;
    line.defines.push(name);
    for (const [x, place] of tensors) this.names.set(x, { text: name + place, base: name });
    return object ? seen(result, name) : result;
  }

  /** The lines that these tensors depend on, and a call that failed. */
  needed(tensors) {
    const wanted = new Set(tensors.map((x) => this.names.get(x).base)), lines = [];
    for (const [i, line] of [...this.lines.entries()].reverse()) {
      if (!line.defines.some((name) => wanted.has(name)) && !(this.failed && i === this.lines.length - 1)) continue;
      lines.unshift(line);
      line.reads.forEach((name) => wanted.add(name));
    }
    return lines;
  }
}

module.exports = { Recording, tensorText };
