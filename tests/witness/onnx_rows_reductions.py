"""Operators that reduce: over axes, by products of matrices, and sums so far."""
from onnx_rows import refuse, reshape, row

REDUCTIONS = {"ReduceSum": ("sum",), "ReduceMean": ("mean",), "ReduceMax": ("max",), "ReduceMin": ("min",),
              "ReduceProd": ("prod",), "ReduceL1": ("abs", "sum"), "ReduceL2": ("norm",),
              "ReduceLogSum": ("sum", "log"), "ReduceLogSumExp": ("logsumexp",), "ReduceSumSquare": ("square", "sum")}


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
def Einsum(n):
    """What the specification stands for becomes an operation of the program's own."""
    return n.call("einsum", *n.all(), spec=n.a("equation"))
