"""Operators that slide windows, and resizing."""
import numpy

from onnx_rows import refuse, row


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
