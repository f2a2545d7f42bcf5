"""Convolution and pooling; the name without a rank takes it from the operand."""
import torch.nn.functional as F

from table import need, row

SUFFIXES = ("", "1d", "2d", "3d")


def ranked(family, x):
    """PyTorch's function for this many spatial axes."""
    rank = x.dim() - 2
    need(1 <= rank <= 3, "shape", f"PyTorch has {family} for 1 to 3 spatial axes")
    return getattr(F, f"{family}{rank}d")


def window(family):
    return row(*(family + suffix for suffix in SUFFIXES))


@window("conv")
def conv(a, x, k, bias):
    return ranked("conv", x)(x, k, bias, a.stride, a.padding, a.dilation, a.groups)


@window("conv_transpose")
def conv_transpose(a, x, k, bias):
    return ranked("conv_transpose", x)(x, k, bias, a.stride, a.padding, a.output_padding, a.groups, a.dilation)


@window("max_pool")
def max_pool(a, x):
    return ranked("max_pool", x)(x, a.kernel, a.stride, a.padding, a.dilation)


@window("avg_pool")
def avg_pool(a, x):
    return ranked("avg_pool", x)(x, a.kernel, a.stride, a.padding, count_include_pad=a.count_include_pad)


@window("adaptive_avg_pool")
def adaptive_avg_pool(a, x):
    return ranked("adaptive_avg_pool", x)(x, a.output)


@window("global_avg_pool")
def global_avg_pool(a, x):
    y = ranked("adaptive_avg_pool", x)(x, 1)
    return y if a.keepdims else y.flatten(1)


@window("upsample_nearest")
def upsample_nearest(a, x):
    need(1 <= x.dim() - 2 <= 3, "shape", "PyTorch interpolates 1 to 3 spatial axes")
    return F.interpolate(x, scale_factor=[float(n) for n in a.scale], mode="nearest")
