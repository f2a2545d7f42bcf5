"use strict";
// ONNX models as bytes: the messages of onnx.proto that are written here, by the standard's numbers of fields.
const protobuf = require("protobufjs");
const { literal, list } = require("../javascript/literal");
const { need, size } = require("../javascript/protocol");

const OPSET = 23, IR_VERSION = 11;
const TYPES = { f32: 1, i32: 6, i64: 7, bool: 9, f16: 10, f64: 11 };

const one = (type, id) => ({ type, id });
const many = (type, id) => ({ rule: "repeated", type, id });
const root = protobuf.Root.fromJSON({ nested: {
  Model: { fields: { irVersion: one("int64", 1), producerName: one("string", 2), graph: one("Graph", 7),
                     opsetImport: many("Opset", 8) } },
  Opset: { fields: { domain: one("string", 1), version: one("int64", 2) } },
  Graph: { fields: { node: many("Node", 1), name: one("string", 2), initializer: many("Tensor", 5),
                     input: many("ValueInfo", 11), output: many("ValueInfo", 12) } },
  Node: { fields: { input: many("string", 1), output: many("string", 2), name: one("string", 3), opType: one("string", 4),
                    attribute: many("Attribute", 5) } },
  Attribute: { fields: { name: one("string", 1), f: one("float", 2), i: one("int64", 3), s: one("bytes", 4),
                         t: one("Tensor", 5), floats: many("float", 7), ints: many("int64", 8), type: one("int32", 20) } },
  Tensor: { fields: { dims: many("int64", 1), dataType: one("int32", 2), name: one("string", 8), rawData: one("bytes", 9) } },
  ValueInfo: { fields: { name: one("string", 1), type: one("Type", 2) } },
  Type: { fields: { tensorType: one("TensorType", 1) } },
  TensorType: { fields: { elemType: one("int32", 1), shape: one("Shape", 2) } },
  Shape: { fields: { dim: many("Dimension", 1) } },
  Dimension: { fields: { dimValue: one("int64", 1) } },
} });
const Model = root.lookupType("Model");

/** A real attribute of a node; its integers are plain numbers. */
class Real {
  constructor(value) {
    this.value = value;
  }
}

function attribute(name, value) {
  if (value instanceof Real) return { name, f: value.value, type: 1 };
  if (typeof value === "string") return { name, s: Buffer.from(value), type: 3 };
  if (Array.isArray(value)) return { name, ints: value, type: 7 };
  if (typeof value === "object") return { name, t: value, type: 4 };
  return { name, i: Number(value), type: 2 };
}

/** An attribute in words. */
function told(value) {
  if (value instanceof Real) return literal(value.value);
  if (Array.isArray(value)) return `[${value}]`;
  return typeof value === "object" ? "…" : String(value);
}

/** A graph that grows node by node; values are {name, dtype, shape}, of intermediates the name alone. */
class Graph {
  constructor(inputs) {
    this.inputs = inputs;
    this.nodes = [];
    this.initializers = [];
    this.told = []; // what is in it, in words
  }

  /** The outputs of a new node; null among the inputs is one that is left out. */
  node(opType, inputs, attributes = {}, outputs = 1) {
    const names = Array.from({ length: outputs }, (_, i) => `v${this.nodes.length}_${i}`);
    const given = [...inputs.map((x) => (x ? x.name : "")), ...Object.entries(attributes).map(([key, value]) => `${key} = ${told(value)}`)];
    this.told.push(`${names.join(", ")} = ${opType}(${given.join(", ")})`);
    this.nodes.push({ opType, name: `n${this.nodes.length}`, input: inputs.map((x) => (x ? x.name : "")), output: names,
                      attribute: Object.entries(attributes).map(([name, value]) => attribute(name, value)) });
    const values = names.map((name) => ({ name }));
    return outputs === 1 ? values[0] : values;
  }

  /** Numbers that are part of the model. */
  constant(dtype, shape, numbers) {
    const name = `c${this.initializers.length}`;
    this.told.push(`${name} = ${dtype}[${shape}] ${numbers.length > 8 ? "…" : list(numbers, dtype)}`);
    this.initializers.push({ ...tensor(dtype, shape, numbers), name });
    return { name, dtype, shape };
  }

  integers(numbers) {
    return this.constant("i64", [numbers.length], numbers);
  }

  bytes(outputs) {
    const input = this.inputs.map(({ name, dtype, shape }) => ({ name, type: { tensorType: {
      elemType: TYPES[dtype], shape: { dim: shape.map((n) => ({ dimValue: n })) } } } }));
    // An output has a node of its own, so that it may be an input or stand twice.
    outputs.forEach((x, i) => this.nodes.push({ opType: "Identity", input: [x.name], output: [`y${i}`] }));
    outputs.forEach((x, i) => this.told.push(`y${i} = ${x.name}`));
    const graph = { name: "etalon", node: this.nodes, initializer: this.initializers, input,
                    output: outputs.map((_, i) => ({ name: `y${i}` })) };
    const model = { irVersion: IR_VERSION, producerName: "etalon", graph, opsetImport: [{ domain: "", version: OPSET }] };
    return Model.encode(Model.fromObject(model)).finish();
  }
}

const WRITERS = { f32: ["writeFloatLE", 4], f64: ["writeDoubleLE", 8], i32: ["writeInt32LE", 4], bool: ["writeUInt8", 1],
                  f16: ["writeUInt16LE", 2] };

/** A tensor of onnx.proto. Numbers in f16 must be exact there, those of integers its own. */
function tensor(dtype, shape, numbers) {
  need(dtype in TYPES, "dtype", `${dtype} is not offered`);
  const [write, width] = WRITERS[dtype] || ["writeBigInt64LE", 8], data = Buffer.alloc(width * size(shape));
  const number = { f16: half, i64: BigInt, bool: (v) => Number(Number(v) !== 0) }[dtype] || Number;
  const whole = (v) => Number.isInteger(Number(v)) && (dtype === "i64" || Number(v) === (Number(v) | 0));
  need(dtype[0] !== "i" || numbers.every(whole), "attribute", `a number that ${dtype} does not have, written into a model`);
  numbers.forEach((v, i) => data[write](number(v), width * i));
  return { dims: shape, dataType: TYPES[dtype], rawData: data };
}

/** The bits of a number in f16. */
function half(value) {
  const bits = new Uint32Array(new Float32Array([value]).buffer)[0];
  const sign = (bits >>> 16) & 0x8000, exponent = ((bits >>> 23) & 255) - 127, fraction = bits & 0x7fffff;
  if (value === 0) return sign;
  if (value !== value) return 0x7e00;
  if (!isFinite(value)) return sign | 0x7c00;
  need(Math.fround(value) === value && exponent >= -14 && exponent <= 15 && fraction % 8192 === 0, "attribute",
       "a number that f16 does not have, written into a model");
  return sign | ((exponent + 15) << 10) | (fraction >>> 13);
}

module.exports = { Graph, Real, TYPES, tensor };
