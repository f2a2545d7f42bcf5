"""Operators that move, repeat, choose and make elements."""
import numpy

from onnx_rows import Excluded, dtype_of, refuse, reshape, row


@row
def Reshape(n):
    old, new = n.shape(n.x()), [int(m) for m in n.constant(1)]
    if not n.a("allowzero", 0):
        new = [old[i] if m == 0 else m for i, m in enumerate(new)]
    if -1 in new:
        rest = int(numpy.prod([m for m in new if m != -1]))
        new[new.index(-1)] = int(numpy.prod(old)) // rest
    return reshape(n, n.x(), new)


@row
def Flatten(n):
    shape, axis = n.shape(n.x()), n.a("axis", 1)
    axis = axis + len(shape) if axis < 0 else axis
    return reshape(n, n.x(), [int(numpy.prod(shape[:axis])), int(numpy.prod(shape[axis:]))])


@row
def Squeeze(n):
    shape = n.shape(n.x())
    axes = n.a("axes") or (n.constant(1).tolist() if n.has(1) else [i for i, m in enumerate(shape) if m == 1])
    axes = {a % len(shape) for a in axes}
    return reshape(n, n.x(), [m for i, m in enumerate(shape) if i not in axes])


@row
def Unsqueeze(n):
    shape = list(n.shape(n.x()))
    axes = n.a("axes") or n.constant(1).tolist()
    rank = len(shape) + len(axes)
    for axis in sorted(a % rank for a in axes):
        shape.insert(axis, 1)
    return reshape(n, n.x(), shape)


@row
def Constant(n):
    for name in ("value", "value_float", "value_int", "value_floats", "value_ints"):
        if n.a(name) is not None:
            dtype = {"value_float": "float32", "value_floats": "float32"}.get(name)
            value = n.literal(n.a(name), dtype)
            value.folded = True
            return value
    raise Excluded("a constant of another kind")


@row
def ConstantOfShape(n):
    value = n.a("value")
    value = numpy.zeros((), "float32") if value is None else value.reshape(())
    shape = [int(m) for m in n.constant(0)]
    y = n.call("full")
    n.calls[-1]["attributes"] = {"shape": shape, "value": value.item(), "dtype": dtype_of(value)}
    y.shape = tuple(shape)
    return y


@row
def Transpose(n):
    shape = n.shape(n.x())
    permutation = n.a("perm", list(reversed(range(len(shape)))))
    return n.call("transpose", n.x(), permutation=permutation, shape=tuple(shape[p] for p in permutation))


@row
def Expand(n):
    shape = numpy.broadcast_shapes(n.shape(n.x()), tuple(int(m) for m in n.constant(1)))
    y = n.call("broadcast_to", n.x())
    n.calls[-1]["attributes"]["shape"] = list(shape)
    y.shape = shape
    return y


@row
def Concat(n):
    return n.call("concat", *n.all(), axis=n.a("axis", 1))


@row
def Split(n):
    axis = n.a("axis", 0)
    sizes = n.a("split") or (n.constant(1).tolist() if n.has(1) else None)
    if sizes is None:
        count = len(n.node.outputs)
        sizes = [n.shape(n.x())[axis] // count] * count
    return n.call("split", n.x(), axis=axis, sizes=sizes, results=len(sizes))


@row
def Slice(n):
    shape = n.shape(n.x())
    refuse(n.a("starts") is not None, "an old form of Slice")
    starts, ends = n.constant(1).tolist(), n.constant(2).tolist()
    axes = n.constant(3, numpy.arange(len(starts))).tolist()
    steps = n.constant(4, numpy.ones(len(starts), int)).tolist()
    start, stop, step = [0] * len(shape), list(shape), [1] * len(shape)
    for a, b, c, s in zip(axes, starts, ends, steps):
        start[a], stop[a], step[a] = slice(b, c, s).indices(shape[a])
    for i, m in enumerate(shape):
        if not range(start[i], stop[i], step[i]):
            start[i] = stop[i] = 0
            step[i] = 1
    return n.call("slice", n.x(), start=start, stop=stop, step=step)


@row
def Pad(n):
    refuse(n.a("mode", "constant") != "constant", f"padding by {n.a('mode')} is not in the library")
    old = n.a("pads") is not None
    widths = n.a("pads") if old else n.constant(1).tolist()
    value = n.a("value", 0.0) if old else n.constant(2, numpy.zeros(())).item()
    half = len(widths) // 2
    return n.call("pad", n.x(), low=widths[:half], high=widths[half:], value=value)


@row
def Tile(n):
    value, repeats = n.x(), [int(m) for m in n.constant(1)]
    for axis, count in enumerate(repeats):
        if count > 1:
            value = n.call("concat", *[value] * count, axis=axis)
    return value


@row
def Trilu(n):
    k = int(n.constant(1, numpy.zeros((), int)).reshape(()))
    return n.call("triu" if n.a("upper", 1) else "tril", n.x(), diagonal=k)


@row
def Gather(n):
    refuse((n.constant(1) < 0).any(), "a negative index is out of range in the library")
    return n.call("gather", n.x(0), n.x(1), axis=n.a("axis", 0))


@row
def GatherElements(n):
    refuse((n.constant(1) < 0).any(), "a negative index is out of range in the library")
    return n.call("take_along_axis", n.x(0), n.x(1), axis=n.a("axis", 0), shape=n.x(1).shape)


@row
def ScatterElements(n):
    refuse(n.a("reduction", "none") != "add", "a scatter that replaces is not in the library")
    refuse((n.constant(1) < 0).any(), "a negative index is out of range in the library")
    return n.call("scatter_add_along_axis", n.x(0), n.x(1), n.x(2), axis=n.a("axis", 0))


@row
def OneHot(n):
    depth, values = int(n.constant(1).reshape(())), n.constant(2)
    indices = n.constant(0)
    refuse(indices.dtype.kind != "i", "labels that are no integers")
    refuse((indices < 0).any(), "a negative index is out of range in the library")
    dtype = dtype_of(values)
    hot = n.call("one_hot", n.x(0), classes=depth, axis=n.a("axis", -1), dtype=dtype)
    spread = n.call("mul", hot, n.literal(values[1] - values[0], values.dtype))
    return n.call("add", spread, n.literal(values[0], values.dtype))


@row
def Range(n):
    start, limit, delta = (n.constant(i).reshape(()) for i in range(3))
    refuse(any(v != numpy.floor(v) for v in (start, limit, delta)), "steps that are no integers")
    y = n.call("arange")
    n.calls[-1]["attributes"] = {"start": int(start), "stop": int(limit), "step": int(delta),
                                 "dtype": dtype_of(start)}
    return y


@row("DepthToSpace", "SpaceToDepth")
def _(n, name):
    b, c, h, w = n.shape(n.x())
    k = n.a("blocksize")
    if name == "SpaceToDepth":
        x = reshape(n, n.x(), [b, c, h // k, k, w // k, k])
        return reshape(n, n.call("transpose", x, permutation=[0, 3, 5, 1, 2, 4]), [b, c * k * k, h // k, w // k])
    if n.a("mode", "DCR") == "DCR":
        x, permutation = reshape(n, n.x(), [b, k, k, c // (k * k), h, w]), [0, 3, 4, 1, 5, 2]
    else:
        x, permutation = reshape(n, n.x(), [b, c // (k * k), k, k, h, w]), [0, 1, 4, 2, 5, 3]
    return reshape(n, n.call("transpose", x, permutation=permutation), [b, c // (k * k), h * k, w * k])
