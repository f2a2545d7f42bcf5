"""Operators that compute element by element."""
import numpy

from onnx_rows import refuse, reshape, row

UNARY = {"Abs": "abs", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Floor": "floor",
         "IsNaN": "isnan", "Log": "log", "Neg": "neg", "Not": "logical_not", "Reciprocal": "reciprocal",
         "Relu": "relu", "Round": "round", "Sigmoid": "sigmoid", "Sign": "sign", "Sin": "sin", "Sinh": "sinh",
         "Softplus": "softplus", "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh"}
BINARY = {"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "Pow": "pow", "And": "logical_and",
          "Or": "logical_or", "Xor": "logical_xor", "Equal": "eq", "Greater": "gt", "GreaterOrEqual": "ge",
          "Less": "lt", "LessOrEqual": "le"}
VARIADIC = {"Max": "maximum", "Min": "minimum", "Sum": "add"}


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
