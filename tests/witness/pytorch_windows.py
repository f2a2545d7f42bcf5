"""Convolution and pooling, as PyTorch spells them."""
import torch
import torch.nn.functional as F

from rows import Case, row

RANKS = (1, 2, 3)


def many(g, rank, low, high):
    return [g.extent(low, high) for _ in range(rank)]


def conv(g, rank):
    groups = g.pick(1, 1, 2)
    c, o, b = groups * g.extent(1, 2), groups * g.extent(1, 2), g.extent(1, 2)
    w, stride, padding, dilation = many(g, rank, 1, 3), many(g, rank, 1, 2), many(g, rank, 0, 2), many(g, rank, 1, 2)
    s = [max(g.extent(1, 5 - rank // 2), d * (k - 1) + 1 - 2 * p) for k, p, d in zip(w, padding, dilation)]
    bias = g.real((o,)) if g.flag() else None
    function = getattr(F, f"conv{rank}d")
    return Case([g.real((b, c, *s)), g.real((o, c // groups, *w)), bias],
                {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups},
                lambda x, k, bias: function(x, k, bias, stride, padding, dilation, groups))


def conv_transpose(g, rank):
    groups = g.pick(1, 1, 2)
    c, e, b = groups * g.extent(1, 2), g.extent(1, 2), g.extent(1, 2)
    w, stride, dilation = many(g, rank, 1, 3), many(g, rank, 1, 2), many(g, rank, 1, 2)
    output_padding = [g.extent(0, max(a, d) - 1) for a, d in zip(stride, dilation)]
    s = many(g, rank, 1, 3)
    padding = [g.extent(0, min(2, ((n - 1) * a + d * (k - 1) + q) // 2)) for n, a, d, k, q in
               zip(s, stride, dilation, w, output_padding)]
    bias = g.real((e * groups,)) if g.flag() else None
    function = getattr(F, f"conv_transpose{rank}d")
    return Case([g.real((b, c, *s)), g.real((c, e, *w)), bias],
                {"stride": stride, "padding": padding, "output_padding": output_padding, "dilation": dilation,
                 "groups": groups},
                lambda x, k, bias: function(x, k, bias, stride, padding, output_padding, groups, dilation))


def window(g, rank, dilated):
    kernel, stride = many(g, rank, 1, 3), many(g, rank, 1, 3)
    dilation = many(g, rank, 1, 2) if dilated and g.flag() else [1] * rank
    padding = [g.extent(0, k // 2) for k in kernel]
    s = [max(g.extent(d, 5 - rank // 2), d * (k - 1) + 1 - 2 * p) for k, p, d in zip(kernel, padding, dilation)]
    return kernel, stride, padding, dilation, (g.extent(1, 2), g.extent(1, 2), *s)


def max_pool(g, rank):
    kernel, stride, padding, dilation, shape = window(g, rank, True)
    function = getattr(F, f"max_pool{rank}d")
    return Case([g.real(shape)], {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation},
                lambda x: function(x, kernel, stride, padding, dilation))


def avg_pool(g, rank):
    kernel, stride, padding, _, shape = window(g, rank, False)
    shape = (*shape[:2], *(max(n, k) for n, k in zip(shape[2:], kernel)))  # PyTorch wants it in three dimensions
    count = g.flag()
    function = getattr(F, f"avg_pool{rank}d")
    return Case([g.real(shape)], {"kernel": kernel, "stride": stride, "padding": padding, "count_include_pad": count},
                lambda x: function(x, kernel, stride, padding, False, count))


def smooth_max_pool(g, rank):
    kernel, stride, padding, _, shape = window(g, rank, False)
    temperature = g.pick(1.0, 0.5, 2.0)

    def function(x):
        x = F.pad(x, [p for p in reversed(padding) for _ in range(2)], value=-torch.inf)
        for axis, (k, a) in enumerate(zip(kernel, stride)):
            x = x.unfold(2 + axis, k, a)
        return temperature * torch.logsumexp(x / temperature, tuple(range(-rank, 0)))
    return Case([g.real(shape)], {"kernel": kernel, "stride": stride, "padding": padding, "temperature": temperature},
                function)


def adaptive_avg_pool(g, rank):
    s, output = many(g, rank, 1, 5), many(g, rank, 1, 4)
    function = getattr(F, f"adaptive_avg_pool{rank}d")
    return Case([g.real((g.extent(1, 2), g.extent(1, 2), *s))], {"output": output}, lambda x: function(x, output))


def global_avg_pool(g, rank):
    function = getattr(F, f"adaptive_avg_pool{rank}d")
    shape = (g.extent(1, 2), g.extent(1, 2), *many(g, rank, 1, 4))
    kept = g.flag()
    return Case([g.real(shape)], {"keepdims": kept}, lambda x: function(x, 1) if kept else function(x, 1).flatten(1))


def upsample_nearest(g, rank):
    scale = many(g, rank, 1, 3)
    shape = (g.extent(1, 2), g.extent(1, 2), *many(g, rank, 1, 3))
    size = [n * k for n, k in zip(shape[2:], scale)]
    return Case([g.real(shape)], {"scale": scale}, lambda x: F.interpolate(x, size=size, mode="nearest"))


FAMILIES = {f.__name__: f for f in (conv, conv_transpose, max_pool, avg_pool, smooth_max_pool, adaptive_avg_pool,
                                    global_avg_pool, upsample_nearest)}


@row(*(name + suffix for name in FAMILIES for suffix in ("", "1d", "2d", "3d")))
def _(g, name):
    family = name.rstrip("123d") if name[-1] == "d" and name[-2] in "123" else name
    rank = int(name[-2]) if family != name else g.pick(*RANKS)
    return FAMILIES[family](g, rank)
