#!/usr/bin/python3
"""The defects with their witnesses: writes defects.json, and expected.json by the reference (ETALON names its program)."""
import json
import os
import sys

import numpy as np

from ask import P, answers, strided, t

HERE = os.path.dirname(os.path.abspath(__file__))
DEFECTS = []
f32, f64, i32, i64 = np.float32, np.float64, np.int32, np.int64
nan, inf = float("nan"), float("inf")
MODES = {"forward", "jvp", "vjp", "program", "step"}


def d(name, operation, mode, kind, sentence, witness, operations=()):
    assert mode in MODES and kind in {"obvious", "subtle", "nasty"} and name not in [x["name"] for x in DEFECTS], name
    DEFECTS.append({"name": name, "operation": operation, "operations": list(operations), "mode": mode, "kind": kind, "sentence": sentence, "witness": {**witness, "id": name}})


def ramp(*shape, dtype=f32, start=1.0, step=0.5):
    n = int(np.prod(shape))
    x = start + step * np.arange(n)
    x = x * np.where(np.arange(n) % 3 == 1, -1, 1)
    return x.reshape(shape).astype(dtype)


def call(op, *operands, results=1, outs=None, **attributes):
    """One call as a request of values."""
    p = P()
    r = p.call(op, *[None if x is None else p.put(x) for x in operands], results=results, **attributes)
    r = r if isinstance(r, list) else [r]
    return p, r


def forward(op, *operands, **more):
    p, r = call(op, *operands, **more)
    return p.request(r)


def vjp(op, *operands, wrt=None, seeds, **more):
    p, r = call(op, *operands, **more)
    reals = [k for k, x in enumerate(p.tensors) if x["dtype"] in ("f32", "f64")]
    return p.request(r, "vjp", wrt=reals if wrt is None else wrt, cotangents=seeds)


def jvp(op, *operands, wrt=None, moves, **more):
    p, r = call(op, *operands, **more)
    return p.request(r, "jvp", wrt=[k for k, x in enumerate(moves) if x is not None] if wrt is None else wrt, tangents=moves)


def second(op, *operands, wrt=None, moves, seeds, seed_moves=None, **more):
    p, r = call(op, *operands, **more)
    reals = [k for k, x in enumerate(p.tensors) if x["dtype"] in ("f32", "f64")]
    return p.request(r, "jvp_of_vjp", wrt=reals if wrt is None else wrt, tangents=moves, cotangents=seeds, cotangent_tangents=seed_moves)


# ---- programs -------------------------------------------------------------------------------------------------------
def alias():
    p = P()
    x = p.put(ramp(4, 4))
    y = p.call("square", x)
    return p.request(p.call("add", y, p.call("transpose", y, permutation=[1, 0])))
d("inplace-ignores-aliased-operand", "add", "program", "nasty", "An operand's memory is taken over though the other operand is a view of it", alias(), ["sub", "mul"])

def live():
    p = P()
    x = p.put(ramp(6))
    y = p.call("square", x)
    v = p.call("reshape", y, shape=[2, 3])
    z = p.call("neg", y)
    return p.request([p.call("sum", v, axes=[0], keepdims=False), z])
d("inplace-ignores-live-views", "neg", "program", "nasty", "Memory is taken over at the last use of a value's name, while a view of it is still to be read", live(), ["relu", "add", "reshape"])

def output():
    p = P()
    x = p.put(ramp(9))
    y = p.call("mul", x, x)
    return p.request([y, p.call("neg", y)])
d("inplace-overwrites-output", "neg", "program", "subtle", "An intermediate that is an output too is overwritten by the last operation that reads it", output(), ["relu", "add", "mul"])

def recording():
    p = P()
    x = p.put(ramp(5))
    y = p.call("tanh", x)
    s = p.call("square", y)
    z = p.call("neg", y)
    return p.request([s, z], "vjp", wrt=[0], cotangents=[ramp(5), ramp(5)])
d("inplace-while-recording", "square", "program", "subtle", "Memory is taken over in the forward pass of a VJP too, and the backward pass reads what was written there", recording(), ["neg", "relu", "mul"])

def shared():
    p = P()
    a, b = p.put(ramp(3)), p.put(ramp(3))
    q = p.call("square", a)
    s = p.call("add", a, b)
    return p.request([q, s], "vjp", wrt=[0, 1], cotangents=[f32([1, 1, 1]), f32([10, 20, 30])])
d("cotangent-added-into-shared-buffer", "add", "program", "nasty", "A sum hands one buffer to both operands; what comes to one later is added into the other's", shared(), ["square", "mul"])

def seed():
    p = P()
    x = p.put(ramp(4))
    y = p.call("sin", x)
    return p.request([y, p.call("mul", y, y)], "vjp", wrt=[0], cotangents=[ramp(4), ramp(4)])
d("output-read-again-loses-its-seed", "mul", "program", "subtle", "An output that a later call reads loses the cotangent it was given", seed(), ["sin", "tanh", "add"])

def zero():
    p = P()
    x, w = p.put(ramp(3)), p.put(ramp(3, start=2))
    return p.request(p.call("mul", x, w), "jvp_of_vjp", wrt=[0, 1], tangents=[ramp(3), None], cotangents=[f32([0, 0, 0])], cotangent_tangents=[ramp(3)])
d("zero-cotangent-ends-the-walk", "mul", "vjp", "nasty", "A cotangent of zeros is not carried on, though it moves", zero(), ["matmul", "exp", "sum"])

def repeated():
    p = P()
    a, b = p.put(ramp(3)), p.put(ramp(3, start=3))
    return p.request([p.call("sub", a, b), p.call("sub", b, a)])
d("repeat-key-sorts-operands", "sub", "program", "subtle", "Calls that repeat are recognised by the set of their operands: b - a is taken for a - b", repeated(), ["div", "pow", "atan2"])

def digits():
    p = P()
    x = p.put(f64([1.0, 1000.0]))
    return p.request([p.call("scale", x, by=0.12345671), p.call("scale", x, by=0.12345674)])
d("repeat-key-prints-six-digits", "scale", "program", "nasty", "Calls that repeat are recognised by attributes printed with six digits", digits(), ["clamp", "power", "softplus"])

def permutations():
    p = P()
    x = p.put(ramp(2, 3, 4))
    return p.request(p.call("transpose", p.call("transpose", x, permutation=[1, 2, 0]), permutation=[0, 2, 1]))
d("permutations-composed-backwards", "transpose", "program", "subtle", "Two permutations in a row are composed in the wrong order", permutations())

def trip():
    p = P()
    x = p.put(f32([1.5, -2.75, 3.0]))
    return p.request(p.call("cast", p.call("cast", x, dtype="i32"), dtype="f32"))
d("cast-round-trip-left-out", "cast", "program", "subtle", "A cast to integers and back is left out", trip())

def root():
    p = P()
    x = p.put(f32([3.0, -2.0, 0.5]))
    return p.request(p.call("sqrt", p.call("square", x)))
d("square-and-root-cancel", "sqrt", "program", "obvious", "The root of a square is the number itself, negative ones too", root(), ["square"])

def outlive():
    p = P()
    x, w = p.put(ramp(2, 3)), p.put(ramp(4, 3))
    y = p.call("linear", x, w, None)
    v = p.call("neg", w)
    return p.request([y, p.call("linear", x, v, None)])
d("packed-weights-outlive-a-write", "linear", "program", "nasty", "Packed weights are used again after their memory was written in place", outlive(), ["neg", "relu", "mul"])

def offset():
    p = P()
    x, w = p.put(ramp(2, 3)), p.put(ramp(2, 4, 3))
    return p.request([p.call("linear", x, p.call("select", w, axis=0, index=k), None) for k in range(2)])
d("packed-weights-key-without-offset", "linear", "program", "nasty", "Packed weights of one part of a stack are used for the next part", offset(), ["select", "slice"])

def strides():
    p = P()
    x, w = p.put(ramp(2, 3)), p.put(ramp(3, 3))
    return p.request([p.call("linear", x, w, None), p.call("linear", x, p.call("transpose", w, permutation=[1, 0]), None)])
d("packed-weights-key-without-strides", "linear", "program", "subtle", "Packed square weights are used for their transpose", strides(), ["transpose"])

def padding():
    p = P()
    x = p.put(ramp(1, 1, 7))
    a = dict(kernel=[2], stride=[4], count_include_pad=True)
    return p.request([p.call("avg_pool1d", x, padding=[0], **a), p.call("avg_pool1d", x, padding=[1], **a)])
d("taps-kept-without-padding", "avg_pool1d", "program", "subtle", "Tables of taps are kept by extents and stride; another padding finds the wrong one", padding(), ["max_pool1d", "conv1d"])

def dilation():
    p = P()
    x, k = p.put(ramp(1, 1, 7)), p.put(f32([[[1, 10]]]))
    a = dict(stride=[2], padding=[0], groups=1)
    return p.request([p.call("conv1d", x, k, None, dilation=[1], **a), p.call("conv1d", x, k, None, dilation=[2], **a)])
d("taps-kept-without-dilation", "conv1d", "program", "nasty", "Tables of taps are kept without the dilation, which shows where two dilations give one extent", dilation(), ["conv2d", "max_pool1d"])

def dirty():
    p = P()
    x = p.put(ramp(4, 4))
    y = p.call("sum", p.call("exp", p.call("tanh", x)), axes=[0], keepdims=False)
    return p.request(p.call("pad", p.call("outer", y, y), low=[-1, 1], high=[1, -1], value=0.0))
d("pool-memory-taken-for-zeros", "pad", "program", "nasty", "Memory from the pool is taken for zeros, which it holds only the first time", dirty(), ["tril", "triu", "gather", "embedding", "take_along_axis"])

def column():
    p = P()
    x = p.put(ramp(3, 4))
    return p.request(p.call("reshape", p.call("slice", x, start=[0, 1], stop=[3, 3], step=[1, 1]), shape=[6]))
d("reshape-trusts-the-last-stride", "reshape", "program", "subtle", "A slice of columns, whose last stride is 1, is reshaped without a copy", column(), ["flatten", "slice"])

def selected():
    p = P()
    x = p.put(ramp(6, 2))
    return p.request(p.call("select", p.call("slice", x, start=[0, 0], stop=[6, 2], step=[2, 1]), axis=0, index=2))
d("select-steps-by-dense-strides", "select", "program", "subtle", "Of a view with steps select takes the place that a dense tensor would have", selected(), ["slice", "deinterleave"])

def taken():
    p = P()
    x = p.put(ramp(3, 4))
    a, b = p.call("split", x, sizes=[1, 2], axis=0, results=2)
    return p.request([a, b])
d("dense-copy-forgets-offset", "split", "forward", "obvious", "A dense view is copied from the start of its memory", taken(), ["slice", "select"])

# ---- layouts and native loops -----------------------------------------------------------------------------------------
buffer = f32(np.arange(14) / 4)
d("strided-tail-steps-by-one", "exp", "forward", "nasty", "The tail of a strided row, after its bodies of four, steps by one element", forward("exp", strided(buffer, [7], [2], 0)), ["sin", "tanh", "sigmoid", "log1p"])
d("tangent-read-by-primal-strides", "tanh", "jvp", "nasty", "A dense tangent is read by the strides of its operand", jvp("tanh", strided(ramp(6), [2, 3], [1, 2], 0), moves=[ramp(2, 3)]), ["exp", "mul", "matmul"])
d("axes-joined-where-the-second-rests", "mul", "forward", "subtle", "Neighbouring axes become one where the second operand is broadcast along the inner one, though it moves along the outer", forward("mul", ramp(3, 4), ramp(3, 1)), ["add", "sub", "div"])
d("scalar-kept-for-all-rows", "add", "forward", "nasty", "The scalar of a column that is broadcast along rows of eight or more stays that of the first row", forward("add", ramp(3, 9), ramp(3, 1)), ["sub", "mul", "div"])
d("sub-of-itself-is-zero", "sub", "forward", "nasty", "x - x is 0, for infinities and NaN too", (lambda p: (lambda x: p.request(p.call("sub", x, x)))(p.put(f32([1, inf, nan]))))(P()))

# ---- values -----------------------------------------------------------------------------------------------------------
d("sinh-by-difference-of-exponentials", "sinh", "forward", "subtle", "(e^x - e^-x)/2 of rounded exponentials, which cancels near 0", forward("sinh", f32([1e-5, -3e-5, 2e-5])))
d("cosh-overflows-with-exp", "cosh", "forward", "nasty", "Infinite where e^x overflows, a little before cosh does", forward("cosh", f32([89.0, -89.2, 1.0])))
d("clamp-low-wins", "clamp", "forward", "subtle", "Cut at high first: where low is above high the result is low", forward("clamp", f32([-1.0, 1.5, 5.0]), low=2.0, high=1.0))
d("ne-as-less-or-greater", "ne", "forward", "nasty", "Two differ where one is below the other: NaN differs from nothing", forward("ne", f32([1.0, nan, 2.0]), f32([1.0, nan, 3.0])))
d("xor-as-or", "logical_xor", "forward", "obvious", "True where both hold", forward("logical_xor", np.array([True, True, False]), np.array([True, False, False])))
d("flip-starts-anew-for-each-axis", "flip", "forward", "obvious", "Of several axes only the last is reversed", forward("flip", ramp(2, 3), axes=[0, 1]))
d("deinterleave-takes-halves", "deinterleave", "forward", "obvious", "The first and the second half in the place of even and odd elements", forward("deinterleave", ramp(6), results=2, axis=0))
d("pad-crops-at-the-end-only", "pad", "forward", "subtle", "A negative low shortens the result, but at its end", forward("pad", ramp(5), low=[-2], high=[1], value=0.0))
d("tril-compares-unsigned", "tril", "forward", "subtle", "Row plus diagonal is compared without sign: above the first row of a negative diagonal all is kept", forward("tril", ramp(4, 3), diagonal=-2))
d("scatter-along-axis-clamps-index", "scatter_add_along_axis", "forward", "subtle", "An index out of range adds at the nearest end", forward("scatter_add_along_axis", ramp(4), i64([1, 7, -2]), ramp(3), axis=0))
d("full-value-through-double", "full", "forward", "nasty", "An integer value passes through a double", forward("full", shape=[2], value=str(2**53 + 1), dtype="i64"))
d("sum-leaves-a-short-last-block", "sum", "forward", "nasty", "Beyond 128 elements a last block of fewer than four is left out", forward("sum", f32(np.ones(258) * 2), axes=[0], keepdims=False), ["mean", "var"])
d("argmax-place-within-block", "argmax", "forward", "nasty", "Beyond 128 elements the position is that within its block", forward("argmax", f32(np.where(np.arange(200) == 150, 9, 0)), axes=[0], keepdims=False), ["argmin"])
d("integer-min-starts-at-i32", "min", "forward", "nasty", "The search for the least i64 begins at the greatest i32", forward("min", i64([2**40, 2**35 + 1]), axes=[0], keepdims=False))
d("all-reads-whole-words", "all", "forward", "subtle", "Truth values are read by eight, and the rest is not", forward("all", np.arange(11) != 9, axes=[0], keepdims=False), ["any"])
d("cumprod-exclusive-starts-at-zero", "cumprod", "forward", "obvious", "Exclusive products start from 0", forward("cumprod", ramp(4), axis=0, reverse=False, exclusive=True))
d("paddings-from-the-last-axis", "conv2d", "forward", "subtle", "The paddings are taken from the last axis on", forward("conv2d", ramp(1, 1, 4, 4), ramp(1, 1, 3, 3), None, stride=[1, 1], padding=[1, 0], dilation=[1, 1], groups=1), ["conv3d", "max_pool2d", "avg_pool2d", "conv_transpose2d"])
d("depthwise-channel-by-remainder", "conv1d", "forward", "nasty", "With one channel a group the channel is the output's remainder, wrong where each has two outputs", forward("conv1d", ramp(1, 2, 4), ramp(4, 1, 2), None, stride=[1], padding=[0], dilation=[1], groups=2), ["conv2d", "conv3d"])
d("conv-transpose-taps-undilated", "conv_transpose1d", "forward", "obvious", "The dilation sizes the result but does not spread the taps", forward("conv_transpose1d", ramp(1, 1, 3), ramp(1, 1, 2), None, stride=[1], padding=[0], output_padding=[0], dilation=[2], groups=1), ["conv_transpose2d", "conv_transpose3d"])
d("max-pool-passes-over-nan", "max_pool1d", "forward", "subtle", "A NaN is never the largest, unless it stands first", forward("max_pool1d", f32([[[1, nan, 2, 3]]]), kernel=[2], stride=[2], padding=[0], dilation=[1]), ["max_pool2d", "max_pool3d"])
d("adaptive-windows-end-rounded-down", "adaptive_avg_pool2d", "forward", "subtle", "Windows end at floor((i + 1)*s/o)", forward("adaptive_avg_pool2d", ramp(1, 1, 5, 4), output=[2, 2]), ["adaptive_avg_pool1d", "adaptive_avg_pool3d"])
d("masked-row-of-nothing-is-nan", "masked_softmax", "forward", "subtle", "A row without admitted elements is 0/0", forward("masked_softmax", ramp(2, 3), np.array([[True, False, True], [False, False, False]]), axis=1))
d("causal-aligned-at-the-end", "scaled_dot_product_attention", "forward", "subtle", "Causal positions are compared from the ends of sequences of different lengths", forward("scaled_dot_product_attention", ramp(2, 2), ramp(4, 2), ramp(4, 3), None, None, causal=True))
d("heads-scaled-by-model-width", "multi_head_attention", "forward", "subtle", "Scores are divided by the root of the model's width, not of a head's", forward("multi_head_attention", ramp(3, 4, step=0.1), *[ramp(4, 4, start=0.1 * k, step=0.1) for k in range(1, 5)], None, None, None, None, None, heads=2, causal=False))
d("hidden-bias-needs-input-bias", "rnn_cell", "forward", "nasty", "The bias of the hidden part counts only beside one of the input part", forward("rnn_cell", ramp(1, 2, step=0.1), ramp(1, 2, step=0.1), ramp(2, 2, step=0.1), ramp(2, 2, step=0.1), None, f32([0.5, -0.5]), nonlinearity="tanh"))
d("seed-of-32-bits", "uniform", "forward", "nasty", "The upper half of the seed does not count", forward("uniform", i64(2**33 + 5), i64(1), shape=[4], low=0.0, high=1.0, dtype="f32", stream=0), ["normal", "bernoulli_mask", "dropout", "categorical", "xavier_uniform"])
d("bernoulli-threshold-of-32-bits", "bernoulli_mask", "forward", "nasty", "keep*2^32 is cut to 32 bits: at keep = 1 nothing is kept", forward("bernoulli_mask", i64(3), i64(0), shape=[5], keep=1.0, stream=0))
d("matmul-left-batch-by-count", "matmul", "forward", "nasty", "A left operand with fewer matrices is run through again and again: right for leading axes only", forward("matmul", ramp(2, 1, 2, 3), ramp(2, 2, 3, 2)))

# ---- cotangents ---------------------------------------------------------------------------------------------------------
d("rsqrt-slope-lacks-a-root", "rsqrt", "vjp", "obvious", "The slope is -1/(2x)", vjp("rsqrt", f32([4.0, 0.25, 9.0]), seeds=[f32([1, 2, 3])]))
d("tan-slope-of-tanh", "tan", "vjp", "obvious", "The slope is 1 - tan^2", vjp("tan", f32([0.5, -1.0, 0.25]), seeds=[f32([1, 2, 3])]))
d("div-divisor-slope-divides-once", "div", "vjp", "obvious", "The slope by the divisor is -a/b", vjp("div", ramp(3), f32([2, 4, 0.5]), seeds=[f32([1, 2, 3])]))
d("roll-cotangent-rolls-on", "roll", "vjp", "obvious", "The cotangent is rolled the same way once more", vjp("roll", ramp(5), seeds=[ramp(5)], shift=[1], axes=[0]))
d("interleave-cotangents-exchanged", "interleave", "vjp", "obvious", "Each operand gets the other's cotangent", vjp("interleave", ramp(3), ramp(3), seeds=[ramp(6)], axis=0))
d("global-pool-cotangent-undivided", "global_avg_pool2d", "vjp", "obvious", "The cotangent of the mean is not divided", vjp("global_avg_pool2d", ramp(1, 2, 2, 3), seeds=[ramp(1, 2, 1, 1)], keepdims=True), ["global_avg_pool1d", "global_avg_pool3d"])
d("dropout-cotangent-unscaled", "dropout", "vjp", "obvious", "The cotangent is masked, but not divided by 1 - p", vjp("dropout", ramp(8), i64(3), i64(1), seeds=[ramp(8)], p=0.25, stream=0))
d("minimum-tie-counted-twice", "minimum", "vjp", "subtle", "At a tie both sides get the whole cotangent", vjp("minimum", f32([1, 2, 3]), f32([1, 3, 3]), seeds=[f32([1, 2, 3])]))
d("softmax-dot-of-whole-vectors", "softmax", "vjp", "subtle", "The product of result and cotangent is added up by fours, without the tail", vjp("softmax", ramp(2, 6, step=0.2), seeds=[ramp(2, 6)], axis=1))
d("slice-cotangent-runs-forward", "slice", "vjp", "subtle", "The cotangent of a slice that runs backwards is laid down forwards", vjp("slice", ramp(6), seeds=[ramp(3)], start=[5], stop=[0], step=[-2]))
d("conv-transpose-kernel-cotangent-of-first-group", "conv_transpose2d", "vjp", "subtle", "Kernels of all groups get the cotangent of the first group's results", vjp("conv_transpose2d", ramp(1, 2, 2, 2), ramp(2, 1, 2, 2), None, seeds=[ramp(1, 2, 3, 3)], stride=[1, 1], padding=[0, 0], output_padding=[0, 0], dilation=[1, 1], groups=2), ["conv_transpose1d", "conv_transpose3d"])
d("max-pool-cotangent-by-undilated-offset", "max_pool1d", "vjp", "subtle", "The cotangent goes to the place in the window without its dilation", vjp("max_pool1d", f32([[[1, 2, 5, 3, 4, 0]]]), seeds=[ramp(1, 1, 2)], kernel=[2], stride=[3], padding=[0], dilation=[2]), ["max_pool2d", "max_pool3d"])
d("rms-norm-cotangent-centred", "rms_norm", "vjp", "subtle", "The mean of the cotangents is subtracted, as for layer_norm", vjp("rms_norm", ramp(2, 3), f32([1, 2, 3]), seeds=[ramp(2, 3, start=0.5)], axes=[1], eps=1e-5))
d("batch-norm-evaluates-backward-in-training", "batch_norm", "vjp", "subtle", "In evaluation too the cotangent passes through mean and variance", vjp("batch_norm", ramp(3, 2), f32([1, 2]), f32([0, 1]), f32([0.5, -0.5]), f32([2, 3]), results=3, wrt=[0], seeds=[ramp(3, 2), None, None], axis=1, eps=1e-5, momentum=0.1, training=False))
d("group-norm-gamma-cotangent-within-group", "group_norm", "vjp", "subtle", "The gradient of gamma is added up by the channel's place in its group", vjp("group_norm", ramp(2, 4, 2), f32([1, 2, 3, 4]), None, seeds=[ramp(2, 4, 2)], groups=2, eps=1e-5))
d("lstm-output-from-frozen-cell", "lstm_cell", "vjp", "subtle", "What the new state owes to the new cell has no derivative", vjp("lstm_cell", ramp(1, 2, step=0.1), ramp(1, 1), ramp(1, 1), ramp(4, 2, step=0.1), ramp(4, 1, step=0.1), None, None, results=2, seeds=[f32([[1]]), f32([[0.5]])]))
d("gru-kept-state-frozen", "gru_cell", "vjp", "subtle", "The part of the old state that is kept has no derivative", vjp("gru_cell", ramp(1, 2, step=0.1), ramp(1, 2), ramp(6, 2, step=0.1), ramp(6, 2, step=0.1), None, None, seeds=[ramp(1, 2)]))
d("smoothed-part-has-no-cotangent", "cross_entropy", "vjp", "subtle", "The share of smoothed labels has no derivative", vjp("cross_entropy", ramp(2, 3), i64([0, 2]), None, seeds=[f32(1)], axis=1, ignore_index=-100, label_smoothing=0.25, reduction="mean"))
d("pow-slope-takes-log-of-zero", "pow", "vjp", "nasty", "At a base of 0 the slope by the exponent is 0 times -inf", vjp("pow", f32([0.0, 2.0]), f32([2.0, 3.0]), seeds=[f32([1, 1])]))
d("tanh-slope-of-frozen-result", "tanh", "vjp", "nasty", "The slope is formed from the saved result, which does not move: the second derivative is 0", second("tanh", f32([0.5, -1.0]), moves=[f32([1, 2])], seeds=[f32([1, 1])]))
d("var-slope-mean-frozen", "var", "vjp", "nasty", "The mean is detached in the backward pass: right for the first derivative only", second("var", ramp(4), moves=[f32([1, 0, 0, 0])], seeds=[f32(1)], axes=[0], correction=1, keepdims=False), ["std"])
d("log-softmax-weights-frozen", "log_softmax", "vjp", "nasty", "The softmax in the backward pass does not move with its operand", second("log_softmax", ramp(3, step=0.2), moves=[f32([1, 0, 2])], seeds=[f32([1, 2, 3])], axis=0))
d("transposed-product-whole-blocks-only", "matmul", "vjp", "nasty", "Products over a strided left operand leave out the last block of 64 if it is not full", vjp("matmul", ramp(70, 4, step=0.01), ramp(4, 9, step=0.1), wrt=[1], seeds=[ramp(70, 9, step=0.01)]), ["linear"])
d("bias-cotangent-of-whole-panels", "linear", "vjp", "nasty", "Beyond eight outputs the bias gets its gradient in whole panels of eight only", vjp("linear", ramp(2, 3), ramp(11, 3), ramp(11), wrt=[2], seeds=[ramp(2, 11)]))
d("class-weights-frozen-in-mean", "nll", "vjp", "nasty", "The sum of class weights that a mean divides by is a constant to the weights' gradient", vjp("nll", ramp(3, 3), i64([0, 2, 1]), f32([1, 2, 0.5]), wrt=[2], seeds=[f32(1)], axis=1, ignore_index=-100, reduction="mean"), ["cross_entropy"])
d("bce-slope-of-magnitude-at-zero", "bce_with_logits", "vjp", "nasty", "log1p(exp(-|x|)) gives a logit of 0 the slope of |x| there", vjp("bce_with_logits", f32([0.0, 1.0]), f32([1.0, 0.0]), None, None, wrt=[0], seeds=[f32(1)], reduction="sum"))
d("normalize-slope-of-root-at-zero", "normalize_gradient", "vjp", "nasty", "At zeros the slope of the root is infinite, and the derivative NaN", vjp("normalize_gradient", f32([0, 0, 0]), seeds=[f32([1, 2, 3])], eps=0.5), ["clip_by_norm"])

# ---- tangents -----------------------------------------------------------------------------------------------------------
d("fma-tangent-without-addend", "fma", "jvp", "obvious", "The tangent of the addend is left out", jvp("fma", ramp(3), ramp(3), ramp(3), moves=[ramp(3), ramp(3), ramp(3)]))
d("sub-tangent-of-right-alone", "sub", "jvp", "subtle", "Where only the right operand moves its tangent keeps its sign", jvp("sub", ramp(3), ramp(3), moves=[None, ramp(3)]))
d("layer-norm-tangent-without-gamma", "layer_norm", "jvp", "subtle", "The tangent of gamma is left out", jvp("layer_norm", ramp(2, 3), ramp(3), ramp(3), moves=[ramp(2, 3), ramp(3), ramp(3)], axes=[1], eps=1e-5))
d("concat-tangent-needs-all-members", "concat", "jvp", "subtle", "Where one member rests the result has no tangent", jvp("concat", ramp(2), ramp(3), moves=[ramp(2), None], axis=0))
d("embedding-tangent-passes-padding", "embedding", "jvp", "nasty", "The tangent passes the padding row, though the cotangent does not", jvp("embedding", ramp(3, 2), i64([1, 0, 2]), moves=[ramp(3, 2), None], padding_idx=1))
d("running-mean-moves-with-the-batch", "batch_norm", "jvp", "nasty", "The batch's part in the running mean is not detached", jvp("batch_norm", ramp(3, 2), None, None, f32([0, 1]), f32([1, 2]), results=3, moves=[ramp(3, 2), None, None], axis=1, eps=1e-5, momentum=0.5, training=True))

# ---- steps --------------------------------------------------------------------------------------------------------------
STEP = dict(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-3)
p9, g9, m9, v9 = ramp(9), ramp(9, start=0.5), ramp(9, start=0.2, step=0.1), np.abs(ramp(9, start=0.3))
d("lion-decay-without-rate", "lion", "step", "obvious", "Weight decay is not multiplied by the rate", forward("lion", p9, g9, m9, results=2, lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.1))
d("clip-by-norm-of-the-first", "clip_by_norm", "step", "obvious", "The norm is that of the first gradient alone", forward("clip_by_norm", ramp(3), ramp(2, 2, start=5), results=2, max_norm=1.0, eps=0.0))
d("amsgrad-maximum-of-old-average", "amsgrad", "step", "subtle", "The maximum is taken with the average as it was before the step", forward("amsgrad", p9, g9 * 20, m9, v9, v9, i64(3), results=4, weight_decay=0.0, eps_hat=False, **STEP))
d("adadelta-reads-moved-steps", "adadelta", "step", "subtle", "The step is measured by the average of steps that it has already moved", forward("adadelta", p9, g9, v9, v9 / 8, results=3, lr=1.0, rho=0.9, eps=1e-3, weight_decay=0.0))
d("radam-rectifies-from-four", "radam", "step", "subtle", "Rectified steps begin at a length of 4, not of 5", forward("radam", p9, g9, m9, v9, i64(5), results=3, lr=0.1, beta1=0.9, beta2=0.999, eps=1e-3, weight_decay=0.0))
d("rmsprop-dampens-momentum", "rmsprop", "step", "subtle", "What joins the momentum is multiplied by 1 - momentum", forward("rmsprop", p9, g9, v9, m9, m9, results=4, lr=0.1, alpha=0.9, eps=1e-3, weight_decay=0.0, momentum=0.9, centered=False))
d("linear-schedule-goes-on", "linear_schedule", "step", "subtle", "After the last step the line goes on", forward("linear_schedule", i64(15), initial=1.0, final=0.5, steps=10, dtype="f32"))
d("eps-hat-corrects-without-root", "adam", "step", "subtle", "With eps_hat the second correction is not rooted", forward("adam", p9, g9, m9, v9, i64(2), results=3, weight_decay=0.0, eps_hat=True, **STEP), ["adamw", "amsgrad"])
d("sgd-nesterov-looks-from-the-bare-gradient", "sgd", "step", "subtle", "Nesterov's step starts from the gradient without its weight decay", forward("sgd", p9, g9, m9, i64(2), results=2, lr=0.1, momentum=0.9, dampening=0.0, nesterov=True, weight_decay=0.1))
d("adamw-tail-without-decay", "adamw", "step", "nasty", "The elements after the last whole eight do not decay", forward("adamw", p9, g9, m9, v9, i64(2), results=3, weight_decay=0.1, eps_hat=False, **STEP))
d("nadam-counts-a-momentum-twice", "nadam", "step", "nasty", "The product of momenta takes the present one twice in the correction of the next", forward("nadam", p9, g9, m9 * 5, v9 / 50, f32(0.9), i64(2), results=4, lr=1.0, beta1=0.9, beta2=0.99, eps=1e-3, weight_decay=0.0, momentum_decay=4e-3))
d("milestones-by-bisection", "multistep_schedule", "step", "nasty", "Milestones are searched as if they were in order", forward("multistep_schedule", i64(5), i64([9, 3, 4, 1]), initial=1.0, gamma=0.5, dtype="f32"))
d("kl-batchmean-over-elements", "kl_div", "forward", "obvious", "batchmean divides by all elements", forward("kl_div", ramp(2, 3), np.abs(ramp(2, 3)), log_target=False, reduction="batchmean"))

if __name__ == "__main__":
    etalon = os.environ.get("ETALON", os.path.join(HERE, "..", "etalon"))
    right = answers([etalon, "serve"], [x["witness"] for x in DEFECTS])
    expected = {}
    for x, answer in zip(DEFECTS, right):
        if "outputs" not in answer:
            sys.exit(f"{x['name']}: {json.dumps(answer)[:400]}")
        expected[x["name"]] = {k: v for k, v in answer.items() if k != "id"}
    rows = [{k: v for k, v in x.items() if k != "operations" or v} for x in DEFECTS]
    with open(os.path.join(HERE, "defects.json"), "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(x) for x in rows) + "\n]\n")
    with open(os.path.join(HERE, "expected.json"), "w") as out:
        out.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in expected.items()) + "\n}\n")
    print(len(rows), "defects")
