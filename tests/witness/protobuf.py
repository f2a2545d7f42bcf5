"""Just enough of protocol buffers to read ONNX models and tensors: fields by number, as they stand on the wire."""
import struct

import numpy

# Fields of onnx.proto that are read; the numbers are the standard's.
MODEL = {7: "graph", 8: "opset_import"}
OPSET = {1: "domain", 2: "version"}
GRAPH = {1: "node", 5: "initializer", 11: "input", 12: "output"}
NODE = {1: "input", 2: "output", 4: "op_type", 5: "attribute", 7: "domain"}
ATTRIBUTE = {1: "name", 2: "f", 3: "i", 4: "s", 5: "t", 6: "g", 7: "floats", 8: "ints", 20: "type"}
TENSOR = {1: "dims", 2: "data_type", 4: "float_data", 5: "int32_data", 7: "int64_data", 8: "name", 9: "raw_data",
          10: "double_data", 11: "uint64_data"}
VALUE = {1: "name", 2: "type"}
TYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
         10: "float16", 11: "float64", 12: "uint32", 13: "uint64"}


class Unreadable(Exception):
    """The model holds something that this reader, or any element type of ours, does not have."""


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data, names):
    """The message's known fields, each a list of raw values: integers, or bytes."""
    found, at = {name: [] for name in names.values()}, 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            length, at = varint(data, at)
            value, at = bytes(data[at:at + length]), at + length
        else:
            length = {1: 8, 5: 4}[wire]
            value, at = bytes(data[at:at + length]), at + length
        if number in names:
            found[names[number]].append(value)
    return found


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def integers(values):
    """Repeated integers, packed or not."""
    numbers = []
    for value in values:
        if isinstance(value, int):
            numbers.append(signed(value))
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            numbers.append(signed(number))
    return numbers


def text(values, default=""):
    return values[-1].decode() if values else default


def tensor(data):
    t = fields(data, TENSOR)
    kind = t["data_type"][-1] if t["data_type"] else 0
    if kind not in TYPES:
        raise Unreadable({8: "strings", 16: "bf16 data"}.get(kind, f"tensors of ONNX type {kind}"))
    dims, dtype = integers(t["dims"]), numpy.dtype(TYPES[kind])
    if t["raw_data"]:
        return numpy.frombuffer(t["raw_data"][-1], dtype.newbyteorder("<")).astype(dtype).reshape(dims)
    if t["float_data"]:
        flat = numpy.frombuffer(b"".join(t["float_data"]), "<f4")
    elif t["double_data"]:
        flat = numpy.frombuffer(b"".join(t["double_data"]), "<f8")
    else:
        flat = numpy.array(integers(t["int32_data"] + t["int64_data"] + t["uint64_data"]), dtype="int64")
        if kind == 10:  # the bits of halves
            return flat.astype("uint16").view("float16").reshape(dims)
    return flat.astype(dtype).reshape(dims)


def attribute(data):
    a = fields(data, ATTRIBUTE)
    kind = a["type"][-1] if a["type"] else 0
    if kind == 1:
        return text(a["name"]), struct.unpack("<f", a["f"][-1])[0] if a["f"] else 0.0
    if kind == 2:
        return text(a["name"]), signed(a["i"][-1]) if a["i"] else 0
    if kind == 3:
        return text(a["name"]), text(a["s"])
    if kind == 4:
        return text(a["name"]), tensor(a["t"][-1])
    if kind == 6:
        return text(a["name"]), list(numpy.frombuffer(b"".join(a["floats"]), "<f4").astype(float))
    if kind == 7:
        return text(a["name"]), integers(a["ints"])
    return text(a["name"]), None


class Node:
    def __init__(self, data):
        n = fields(data, NODE)
        self.inputs = [name.decode() for name in n["input"]]
        self.outputs = [name.decode() for name in n["output"]]
        self.operation = text(n["op_type"])
        self.attributes = dict(attribute(a) for a in n["attribute"])


class Model:
    def __init__(self, data):
        m = fields(data, MODEL)
        g = fields(m["graph"][-1], GRAPH)
        opsets = [fields(o, OPSET) for o in m["opset_import"]]
        ours = ("", "ai.onnx", "ai.onnx.preview.training")
        self.opset = max(o["version"][-1] for o in opsets if text(o["domain"]) in ours)
        self.nodes = [Node(n) for n in g["node"]]
        self.initializers = {text(fields(t, TENSOR)["name"]): tensor(t) for t in g["initializer"]}
        self.inputs = [text(fields(v, VALUE)["name"]) for v in g["input"]]
        self.inputs = [name for name in self.inputs if name not in self.initializers]
        self.outputs = [text(fields(v, VALUE)["name"]) for v in g["output"]]
