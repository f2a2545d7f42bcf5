"""Messages of onnx.proto as bytes, by the standard's numbers of fields: written here once more, and not by the code that is tested."""
import struct


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def tensor(shape, kind, raw, name=""):
    """TensorProto; kind 1 is f32, 7 is i64."""
    return b"".join(number(1, n) for n in shape) + number(2, kind) + text(8, name) + text(9, raw)


def floats(shape, *values, name=""):
    return tensor(shape, 1, struct.pack(f"<{len(values)}f", *values), name)


def integers(shape, *values, name=""):
    return tensor(shape, 7, struct.pack(f"<{len(values)}q", *values), name)


def elsewhere(shape, name, **entries):
    """A tensor of f32 whose numbers are in another file: location, offset, length."""
    return (b"".join(number(1, n) for n in shape) + number(2, 1) + text(8, name) +
            b"".join(text(13, text(1, key) + text(2, str(value))) for key, value in entries.items()) + number(14, 1))


def attribute(key, value):
    return text(5, text(1, key) + (text(4, value) + number(20, 3) if isinstance(value, str) else number(3, value) + number(20, 2)))


def node(operation, inputs, outputs, name="", domain="", graphs=(), **attributes_of):
    """Attributes are integers or texts; graphs are pairs of a name and nodes."""
    attributes = b"".join(attribute(key, value) for key, value in attributes_of.items())
    attributes += b"".join(text(5, text(1, key) + text(6, nodes) + number(20, 5)) for key, nodes in graphs)
    return text(1, b"".join(text(1, i) for i in inputs) + b"".join(text(2, o) for o in outputs) + text(3, name) + text(4, operation) +
                attributes + text(7, domain))


def value(field, name, shape, kind=1):
    """An input (field 11) or output (12), f32 unless said otherwise; a name for an extent leaves it open."""
    axes = b"".join(text(1, number(1, n) if isinstance(n, int) else text(2, n)) for n in shape)
    return text(field, text(1, name) + text(2, text(1, number(1, kind) + text(2, axes))))


def model(opset, *parts):
    return number(1, 8) + text(7, b"".join(parts)) + text(8, number(2, opset))
