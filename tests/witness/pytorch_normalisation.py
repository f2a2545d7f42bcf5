"""Normalisation, probabilities and losses, as PyTorch spells them."""
import numpy
import torch
import torch.nn.functional as F

from rows import Case, row


@row("softmax", "log_softmax")
def _(g, name):
    shape = g.shape(1, 3)
    axis = g.axis(shape)
    function = {"softmax": torch.softmax, "log_softmax": torch.log_softmax}[name]
    return Case([g.real(shape)], {"axis": axis}, lambda x: function(x, axis))


@row
def masked_softmax(g):
    shape = g.shape(1, 3)
    mask = g.truth(shape, 0.8)
    mask[..., 0] = True  # PyTorch gives NaN for a row that is masked altogether; the definition gives 0
    return Case([g.real(shape), mask], {}, lambda x, m: torch.softmax(x.masked_fill(~m, -torch.inf), -1))


@row
def layer_norm(g):
    inner = g.shape(1, 2, 2)
    return Case([g.real((*g.shape(0, 2), *inner)), g.real(inner), g.real(inner)],
                {"axes": list(range(-len(inner), 0)), "eps": 1e-3},
                lambda x, gamma, beta: F.layer_norm(x, inner, gamma, beta, 1e-3))


@row
def rms_norm(g):
    inner = g.shape(1, 1, 2)
    return Case([g.real((*g.shape(0, 2), *inner)), g.real(inner)], {"eps": 1e-3},
                lambda x, gamma: gamma * (x / torch.sqrt(torch.mean(x * x, -1, keepdim=True) + 1e-3)))


@row
def group_norm(g):
    groups, per = g.extent(1, 2), g.extent(1, 2)
    c = groups * per
    return Case([g.real((g.extent(1, 2), c, *g.shape(1, 2, 2, 3))), g.real((c,)), g.real((c,))],
                {"groups": groups, "eps": 1e-3}, lambda x, w, b: F.group_norm(x, groups, w, b, 1e-3))


@row
def instance_norm(g):
    c = g.extent(1, 3)
    return Case([g.real((g.extent(1, 2), c, *g.shape(1, 2, 2, 3))), g.real((c,)), g.real((c,))],
                {"eps": 1e-3}, lambda x, w, b: F.instance_norm(x, None, None, w, b, True, 0.1, 1e-3))


@row
def batch_norm(g):
    c, training = g.extent(1, 3), g.flag()

    def function(x, w, b, mean, variance):
        mean, variance = mean.detach().clone(), variance.detach().clone()
        y = F.batch_norm(x, mean, variance, w, b, training, 0.1, 1e-3)
        return y, mean, variance
    return Case([g.real((g.extent(2, 3), c, *g.shape(0, 2, 1, 3))), g.real((c,)), g.real((c,)), g.real((c,)),
                 g.positive((c,))], {"training": training, "eps": 1e-3, "momentum": 0.1}, function, fixed=(3, 4))


def reduced(g):
    how = g.pick("mean", "sum", "none")
    return {"reduction": how}, how


LOSSES = {
    "mse": F.mse_loss, "l1": F.l1_loss,
    "huber": lambda x, t, reduction: F.huber_loss(x, t, reduction=reduction, delta=0.75),
    "smooth_l1": lambda x, t, reduction: F.smooth_l1_loss(x, t, reduction=reduction, beta=0.75),
}
SHAPES = {"huber": {"delta": 0.75}, "smooth_l1": {"beta": 0.75}}


@row(*LOSSES)
def _(g, name):
    attributes, how = reduced(g)
    shape = g.shape()
    return Case([g.real(shape), g.real(shape)], {**attributes, **SHAPES.get(name, {})},
                lambda x, t: LOSSES[name](x, t, reduction=how))


@row
def hinge(g):
    attributes, how = reduced(g)
    shape = g.shape()
    t = g.as_real(g.rng.choice([-1.0, 1.0], shape))
    reduce = {"mean": torch.mean, "sum": torch.sum, "none": lambda x: x}[how]
    return Case([g.real(shape), t], attributes, lambda x, t: reduce(torch.relu(1 - t * x)), fixed=(1,))


@row
def bce_with_logits(g):
    attributes, how = reduced(g)
    shape = g.shape()
    return Case([g.real(shape), g.between(0, 1, shape)], attributes,
                lambda x, t: F.binary_cross_entropy_with_logits(x, t, reduction=how))


@row
def nll(g):
    attributes, how = reduced(g)
    rows, c = g.extent(), g.extent(2, 4)
    ignored = g.pick(-100, 0)
    t = g.integers(0, c, (rows,))
    t[g.rng.random(rows) < 0.2] = ignored
    t[0] = 1
    w = g.positive((c,)) if g.flag() else None
    x = g.real((rows, c))
    return Case([x, t, w], {**attributes, "ignore_index": ignored}, fixed=(2,),
                function=lambda x, t, w: F.nll_loss(x, t, w, ignore_index=ignored, reduction=how))


@row
def cross_entropy(g):
    attributes, how = reduced(g)
    rows, c = g.extent(), g.extent(2, 4)
    ignored, smoothing = g.pick(-100, 0), g.pick(0.0, 0.0, 0.1, 0.3)
    t = g.integers(0, c, (rows,), "int64")
    t[g.rng.random(rows) < 0.2] = ignored
    t[0] = 1
    w = g.positive((c,)) if g.flag() else None
    return Case([g.real((rows, c)), t, w], {**attributes, "ignore_index": ignored, "label_smoothing": smoothing},
                lambda x, t, w: F.cross_entropy(x, t, w, ignore_index=ignored, reduction=how,
                                                label_smoothing=smoothing), fixed=(2,))


@row
def kl_div(g):
    attributes, how = reduced(g)
    shape, log = g.shape(1, 2), g.flag()
    t = g.real(shape) if log else g.positive(shape)
    return Case([g.real(shape), t], {**attributes, "log_target": log},
                lambda x, t: F.kl_div(x, t, reduction=how, log_target=log))
