"""Convolution and its transpose: windows of a padded operand, contracted with the kernel, and the opposite."""
from quarry import build as a
from quarry.build import contract, folded, padded, shaped, windowed
from quarry.lowering.axes import per_axis, require
from quarry.lower import operation
from quarry.switch import defect

POSITIONS, PLACES = "xyz", "uvw"


def biased(y, bias):
    return y if bias is None else y + shaped(bias, bias.shape + (1,) * (y.rank - 2))


def spatial(at, rank, *names):
    lists = [per_axis(at[name], rank) for name in names]
    for name, values in zip(names, lists):
        least = 0 if "padding" in name else 1
        require(len(values) == rank and all(v >= least for v in values), f"{name} >= {least}")
    return lists


@operation("conv", "conv1d", "conv2d", "conv3d", stride=1, padding=0, dilation=1, groups=1)
def conv(at, x, k, bias=None):
    rank, g = x.rank - 2, at.groups
    stride, padding, dilation = spatial(at, rank, "stride", "padding", "dilation")
    if defect("conv_dilation_from_last_axis"):
        dilation = dilation[::-1]
    b, c, o, e = x.shape[0], x.shape[1], k.shape[0], k.shape[1]
    require(g > 0 and c == e * g and o % g == 0, "c == e*groups and o % groups == 0")
    for n, w, p, d in zip(x.shape[2:], k.shape[2:], padding, dilation):
        require(n + 2 * p - d * (w - 1) - 1 >= -max(stride), "a kernel that fits")
    cells = windowed(padded(x, [0, 0] + padding, [0, 0] + padding), 2, k.shape[2:], stride, dilation)
    cells = shaped(cells, (b, g, e) + cells.shape[2:])
    kernel = shaped(k, (g, o // g, e) + k.shape[2:])
    i, u = POSITIONS[:rank], PLACES[:rank]
    y = contract(f"bge{i}{u},gfe{u}->bgf{i}", cells, kernel)
    return biased(shaped(y, (b, o) + y.shape[3:]), bias)


@operation("conv_transpose", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
           stride=1, padding=0, output_padding=0, dilation=1, groups=1)
def conv_transpose(at, x, k, bias=None):
    rank, g = x.rank - 2, at.groups
    stride, padding, more, dilation = spatial(at, rank, "stride", "padding", "output_padding", "dilation")
    b, c, e = x.shape[0], x.shape[1], k.shape[1]
    require(g > 0 and c == k.shape[0] and c % g == 0, "c % groups == 0")
    require(all(m < max(s, d) for m, s, d in zip(more, stride, dilation)), "output_padding < maximum(stride, dilation)")
    i, u = POSITIONS[:rank], PLACES[:rank]
    rows = shaped(x, (b, g, c // g) + x.shape[2:])
    kernel = shaped(k, (g, c // g, e) + k.shape[2:])
    if defect("conv_transpose_groups_share_kernel"):
        kernel = a.broadcast(a.cut(kernel, 0, 0, 1), kernel.shape)
    cells = contract(f"bgd{i},gde{u}->bge{i}{u}", rows, kernel)
    cells = shaped(cells, (b, g * e) + cells.shape[3:])
    whole = [max(0, (n - 1) * s + d * (w - 1) + 1) for n, s, d, w in zip(x.shape[2:], stride, dilation, k.shape[2:])]
    y = folded(cells, 2, k.shape[2:], stride, dilation, (b, g * e) + tuple(whole))
    y = padded(y, [0, 0] + [-p for p in padding], [0, 0] + [m - p for m, p in zip(more, padding)])
    return biased(y, bias)
