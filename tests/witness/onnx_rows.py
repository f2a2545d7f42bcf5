"""How the library says what ONNX's operators mean: one row per operator, a function of a translation of its node."""
import numpy

ROWS = {}


class Excluded(Exception):
    """Why a model has no counterpart."""


def row(*names):
    if callable(names[0]):
        ROWS[names[0].__name__.rstrip("_")] = names[0]
        return names[0]

    def register(make):
        for name in names:
            ROWS[name] = lambda n, name=name: make(n, name)
        return make
    return register


def refuse(condition, reason):
    if condition:
        raise Excluded(reason)


UNARY = {"Abs": "abs", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Floor": "floor",
         "IsNaN": "isnan", "Log": "log", "Neg": "neg", "Not": "logical_not", "Reciprocal": "reciprocal",
         "Relu": "relu", "Round": "round", "Sigmoid": "sigmoid", "Sign": "sign", "Sin": "sin", "Sinh": "sinh",
         "Softplus": "softplus", "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh"}
BINARY = {"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "Pow": "pow", "And": "logical_and",
          "Or": "logical_or", "Xor": "logical_xor", "Equal": "eq", "Greater": "gt", "GreaterOrEqual": "ge",
          "Less": "lt", "LessOrEqual": "le"}
VARIADIC = {"Max": "maximum", "Min": "minimum", "Sum": "add"}
REDUCTIONS = {"ReduceSum": ("sum",), "ReduceMean": ("mean",), "ReduceMax": ("max",), "ReduceMin": ("min",),
              "ReduceProd": ("prod",), "ReduceL1": ("abs", "sum"), "ReduceL2": ("norm",),
              "ReduceLogSum": ("sum", "log"), "ReduceLogSumExp": ("logsumexp",), "ReduceSumSquare": ("square", "sum")}


@row(*UNARY)
def _(n, name):
    return n.call(UNARY[name], n.x(), shape=n.x().shape)


def joined(*values):
    if any(v.shape is None for v in values):
        return None
    return numpy.broadcast_shapes(*(v.shape for v in values))


@row(*BINARY)
def _(n, name):
    a, b = n.x(0), n.x(1)
    refuse(a.dtype is not None and b.dtype is not None and a.dtype != b.dtype, "mixed element types are not promoted")
    integer = a.dtype is not None and a.dtype.kind in "iu"
    refuse(name == "Div" and integer, "division of integers is no operation of the library")
    refuse(name == "Pow" and integer, "powers of integers are no operation of the library")
    return n.call(BINARY[name], a, b, shape=joined(a, b))


@row(*VARIADIC)
def _(n, name):
    values = n.all()
    refuse(len(values) == 1, "nothing is computed")
    total = values[0]
    for value in values[1:]:
        total = n.call(VARIADIC[name], total, value, shape=joined(total, value))
    return total


@row
def Mean(n):
    values = n.all()
    total = values[0]
    for value in values[1:]:
        total = n.call("add", total, value, shape=joined(total, value))
    return n.call("div", total, n.literal(len(values), values[0].dtype))


@row(*REDUCTIONS)
def _(n, name):
    axes = n.a("axes")
    if axes is None and n.has(1):
        axes = n.constant(1).tolist()
    if not axes and n.a("noop_with_empty_axes", 0):
        axes = []
    elif not axes:
        axes = None
    keep = bool(n.a("keepdims", 1))
    value = n.x()
    for step in REDUCTIONS[name]:
        if step in ("abs", "log", "square"):
            value = n.call(step, value, shape=value.shape)
        else:
            attributes = {"keepdims": keep} if axes is None else {"keepdims": keep, "axes": axes}
            value = n.call(step, value, shape=reduced(value.shape, axes, keep), **attributes)
    return value


def reduced(shape, axes, keep):
    if shape is None:
        return None
    gone = set(range(len(shape))) if axes is None else {a % len(shape) for a in axes}
    return tuple(1 if i in gone else m for i, m in enumerate(shape) if keep or i not in gone)


@row("ArgMax", "ArgMin")
def _(n, name):
    refuse(n.a("select_last_index", 0), "the last of equal extrema is not offered")
    return n.call(name.lower(), n.x(), axes=[n.a("axis", 0)], keepdims=bool(n.a("keepdims", 1)))


def reshape(n, value, shape):
    call = n.call("reshape", value, shape=None)
    n.calls[-1]["attributes"]["shape"] = [int(m) for m in shape]
    call.shape = tuple(int(m) for m in shape)
    return call


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
    types = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64"}
    refuse(value.dtype.name not in types, f"{value.dtype.name} is no element type of the library")
    shape = [int(m) for m in n.constant(0)]
    y = n.call("full")
    n.calls[-1]["attributes"] = {"shape": shape, "value": value.item(), "dtype": types[value.dtype.name]}
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
def Where(n):
    return n.call("where", n.x(0), n.x(1), n.x(2), shape=joined(n.x(0), n.x(1), n.x(2)))


@row
def Clip(n):
    low = n.constant(1, None) if n.has(1) else n.a("min")
    high = n.constant(2, None) if n.has(2) else n.a("max")
    refuse(low is None and high is None, "nothing is computed")
    y = n.x()
    if low is not None:
        y = n.call("maximum", y, n.literal(low, n.x().dtype))
    if high is not None:
        y = n.call("minimum", y, n.literal(high, n.x().dtype))
    return y


@row
def Cast(n):
    types = {1: "f32", 6: "i32", 7: "i64", 10: "f16", 11: "f64"}
    refuse(n.a("to") not in types, "a cast to a type that the library has not")
    refuse(n.x().dtype is not None and n.x().dtype.kind == "b", "a cast of truth values")
    return n.call("cast", n.x(), dtype=types[n.a("to")], shape=n.x().shape)


@row
def CastLike(n):
    types = {"float32": "f32", "int32": "i32", "int64": "i64", "float16": "f16", "float64": "f64"}
    refuse(n.x(1).dtype is None or n.x(1).dtype.name not in types, "a cast to a type that the library has not")
    return n.call("cast", n.x(), dtype=types[n.x(1).dtype.name])


@row
def LeakyRelu(n):
    return n.call("leaky_relu", n.x(), slope=n.a("alpha", float(numpy.float32(0.01))))


@row
def Elu(n):
    return n.call("elu", n.x(), alpha=n.a("alpha", 1.0))


@row
def PRelu(n):
    x, slope = n.x(0), n.x(1)
    if n.model.opset < 7 and len(n.shape(slope)) == 1:  # one slope per channel
        slope = reshape(n, slope, [*slope.shape, *[1] * (len(n.shape(x)) - 2)])
    below = n.call("lt", x, n.literal(0, x.dtype))
    return n.call("where", below, n.call("mul", slope, x), x)


@row
def ThresholdedRelu(n):
    x = n.x()
    above = n.call("gt", x, n.literal(n.a("alpha", 1.0), x.dtype))
    return n.call("where", above, x, n.literal(0, x.dtype))


@row
def Softsign(n):
    x = n.x()
    return n.call("div", x, n.call("add", n.literal(1, x.dtype), n.call("abs", x)))


@row
def HardSigmoid(n):
    x = n.x()
    scaled = n.call("mul", n.literal(n.a("alpha", 0.2), x.dtype), x)
    return n.call("sat01", n.call("add", scaled, n.literal(n.a("beta", 0.5), x.dtype)))


@row
def IsInf(n):
    found = n.call("isinf", n.x())
    zero = n.literal(0, n.x().dtype)
    if not n.a("detect_negative", 1):
        found = n.call("logical_and", found, n.call("gt", n.x(), zero))
    if not n.a("detect_positive", 1):
        found = n.call("logical_and", found, n.call("lt", n.x(), zero))
    return found


@row
def Mod(n):
    refuse(n.a("fmod", 0), "fmod with the dividend's sign is not in the library")
    return n.call("remainder", n.x(0), n.x(1))


@row("Softmax", "LogSoftmax")
def _(n, name):
    refuse(n.model.opset < 13, "an old form that flattens")
    return n.call({"Softmax": "softmax", "LogSoftmax": "log_softmax"}[name], n.x(), axis=n.a("axis", -1),
                  shape=n.x().shape)


@row
def MatMul(n):
    return n.call("matmul", n.x(0), n.x(1))


@row
def Gemm(n):
    a, b = n.x(0), n.x(1)
    if n.a("transA", 0):
        a = n.call("transpose", a, permutation=[1, 0])
    if n.a("transB", 0):
        b = n.call("transpose", b, permutation=[1, 0])
    y = n.call("matmul", a, b)
    dtype = n.x(0).dtype
    if n.a("alpha", 1.0) != 1:
        y = n.call("mul", n.literal(n.a("alpha"), dtype), y)
    if n.has(2):
        c = n.x(2)
        if n.a("beta", 1.0) != 1:
            c = n.call("mul", n.literal(n.a("beta"), dtype), c)
        y = n.call("add", y, c)
    return y


@row
def CumSum(n):
    axis = int(n.constant(1).reshape(()))
    return n.call("cumsum", n.x(), axis=axis, reverse=bool(n.a("reverse", 0)), exclusive=bool(n.a("exclusive", 0)))


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
    types = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64"}
    refuse(values.dtype.name not in types, f"{values.dtype.name} is no element type of the library")
    dtype = types[values.dtype.name]
    hot = n.call("one_hot", n.x(0), classes=depth, axis=n.a("axis", -1), dtype=dtype)
    spread = n.call("mul", hot, n.literal(values[1] - values[0], values.dtype))
    return n.call("add", spread, n.literal(values[0], values.dtype))


@row
def Range(n):
    start, limit, delta = (n.constant(i).reshape(()) for i in range(3))
    types = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64"}
    refuse(start.dtype.name not in types, f"{start.dtype.name} is no element type of the library")
    refuse(any(v != numpy.floor(v) for v in (start, limit, delta)), "steps that are no integers")
    y = n.call("arange")
    n.calls[-1]["attributes"] = {"start": int(start), "stop": int(limit), "step": int(delta),
                                 "dtype": types[start.dtype.name]}
    return y


@row
def Einsum(n):
    """What the specification stands for becomes an operation of the program's own."""
    return n.call("einsum", *n.all(), spec=n.a("equation"))


# Windows.
def pads_of(n, rank):
    """Padding that is the same before and after, and what must be added by hand."""
    auto = n.a("auto_pad", "NOTSET")
    refuse(auto not in ("NOTSET", "VALID"), "auto_pad is not in the library")
    pads = n.a("pads", [0] * (2 * rank))
    return pads[:rank], pads[rank:]


def padded(n, x, low, high):
    """x with zeros around its spatial axes."""
    return n.call("pad", x, low=[0, 0, *low], high=[0, 0, *high], value=0.0)


@row
def Conv(n):
    rank = len(n.shape(n.x(1))) - 2
    low, high = pads_of(n, rank)
    x = n.x()
    if low != high:
        x, low = padded(n, x, low, high), [0] * rank
    return n.call("conv", x, n.x(1), n.x(2), stride=n.a("strides", [1] * rank), padding=low,
                  dilation=n.a("dilations", [1] * rank), groups=n.a("group", 1))


@row
def ConvTranspose(n):
    rank = len(n.shape(n.x(1))) - 2
    refuse(n.a("output_shape") is not None, "a stated output shape is not in the library")
    low, high = pads_of(n, rank)
    refuse(low != high, "padding that differs before and after")
    return n.call("conv_transpose", n.x(0), n.x(1), n.x(2), stride=n.a("strides", [1] * rank), padding=low,
                  output_padding=n.a("output_padding", [0] * rank), dilation=n.a("dilations", [1] * rank),
                  groups=n.a("group", 1))


@row
def MaxPool(n):
    refuse(n.a("ceil_mode", 0), "ceil_mode is not in the library")
    refuse(n.a("storage_order", 0), "column-major indices")
    kernel = n.a("kernel_shape")
    rank = len(kernel)
    low, high = pads_of(n, rank)
    refuse(low != high, "padding that differs before and after")
    dilations = n.a("dilations", [1] * rank)
    refuse(any(2 * p > k for p, k in zip(low, kernel)), "padding beyond half of the kernel")
    missing = any(p > 0 and d > s for p, d, s in zip(low, dilations, n.shape(n.x())[2:]))
    refuse(missing, "windows that may miss the operand")
    return n.call("max_pool", n.x(), kernel=kernel, stride=n.a("strides", [1] * rank), padding=low,
                  dilation=dilations)


@row
def AveragePool(n):
    refuse(n.a("ceil_mode", 0), "ceil_mode is not in the library")
    kernel = n.a("kernel_shape")
    rank = len(kernel)
    low, high = pads_of(n, rank)
    refuse(low != high, "padding that differs before and after")
    refuse(any(2 * p > k for p, k in zip(low, kernel)), "padding beyond half of the kernel")
    return n.call("avg_pool", n.x(), kernel=kernel, stride=n.a("strides", [1] * rank), padding=low,
                  count_include_pad=bool(n.a("count_include_pad", 0)))


@row("GlobalAveragePool", "GlobalMaxPool")
def _(n, name):
    axes = list(range(2, len(n.shape(n.x()))))
    return n.call("mean" if name == "GlobalAveragePool" else "max", n.x(), axes=axes, keepdims=True)


@row("Upsample", "Resize")
def _(n, name):
    refuse(n.a("mode", "nearest") != "nearest", f"resizing by {n.a('mode')} is not in the library")
    shape = n.shape(n.x())
    scales = n.constant(1 if name == "Upsample" else 2, numpy.zeros(0))
    refuse(scales.size != len(shape) or (scales[:2] != 1).any() or (scales != numpy.floor(scales)).any()
           or (scales < 1).any(), "resizing other than by whole factors is not in the library")
    refuse(n.a("coordinate_transformation_mode", "half_pixel") not in ("half_pixel", "asymmetric")
           or n.a("nearest_mode", "round_prefer_floor") not in ("round_prefer_floor", "floor"),
           "another rule for the nearest element")
    return n.call("upsample_nearest", n.x(), scale=[int(s) for s in scales[2:]])


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


# Normalisation and losses.
@row
def BatchNormalization(n):
    training = bool(n.a("training_mode", 0))
    refuse(training, "the running variance is ONNX's, without n/(n - 1)")
    y = n.call("batch_norm", *n.all(), results=3, eps=n.a("epsilon", 1e-5), training=training)
    return y[0]


@row
def InstanceNormalization(n):
    return n.call("instance_norm", *n.all(), eps=n.a("epsilon", 1e-5))


@row
def LayerNormalization(n):
    axis, shape = n.a("axis", -1), n.shape(n.x())
    inner = shape[axis % len(shape):]
    scale, shift = n.x(1), n.x(2)
    refuse(n.shape(scale) != inner, "scale and shift of another shape than the axes")
    y = n.call("layer_norm", n.x(), scale, shift, axes=list(range(-len(inner), 0)), eps=n.a("epsilon", 1e-5))
    return y, None, None


@row("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def _(n, name):
    operation = "nll" if name[0] == "N" else "cross_entropy"
    attributes = {"reduction": n.a("reduction", "mean"), "axis": 1}
    if n.a("ignore_index") is not None:
        attributes["ignore_index"] = n.a("ignore_index")
    loss = n.call(operation, n.x(0), n.x(1), n.x(2), **attributes)
    if len(n.node.outputs) < 2:
        return loss
    return loss, n.call("log_softmax", n.x(0), axis=1)


# Recurrent cells, one step at a time.
def gates(n, array, order, count):
    """The rows of a stacked weight in another order of gates."""
    parts = numpy.split(array, count, axis=0)
    return n.literal(numpy.concatenate([parts[i] for i in order], axis=0))


def cell(n, operation, order, states):
    refuse(n.a("direction", "forward") != "forward" or n.a("layout", 0) or n.a("activations") is not None
           or n.a("clip") is not None or n.has(4) or n.has(7), "a form of the layer that a cell has not")
    x, w, r = n.constant(0), n.constant(1), n.constant(2)
    steps, batch, _ = x.shape
    hidden, count = r.shape[2], len(order)
    bias = n.constant(3, numpy.zeros((1, 2 * count * hidden), "float32"))[0]
    zeros = numpy.zeros((batch, hidden), "float32")
    state = [n.literal(n.constant(5 + i, zeros[None])[0]) for i in range(states)]
    weights = [gates(n, w[0], order, count), gates(n, r[0], order, count),
               gates(n, bias[:count * hidden], order, count), gates(n, bias[count * hidden:], order, count)]
    outputs = []
    for t in range(steps):
        found = n.call(operation, n.literal(x[t]), *state, *weights, results=states)
        state = found if states > 1 else [found]
        outputs.append(reshape(n, state[0], [1, 1, batch, hidden]))
    whole = outputs[0] if steps == 1 else n.call("concat", *outputs, axis=0)
    return [whole, *(reshape(n, s, [1, batch, hidden]) for s in state)]


@row
def RNN(n):
    return cell(n, "rnn_cell", [0], 1)


@row
def LSTM(n):
    return cell(n, "lstm_cell", [0, 2, 3, 1], 2)  # ONNX: i o f c; the cell: i f c o


@row
def GRU(n):
    refuse(not n.a("linear_before_reset", 0), "the reset gate before the product is not the cell's form")
    return cell(n, "gru_cell", [1, 0, 2], 1)  # ONNX: z r h; the cell: r z h
