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
    x = g.real(shape)
    return Case([g.special(x, 0.1) if g.index % 7 == 6 else x], {"axis": axis}, lambda x: function(x, axis))


@row
def masked_softmax(g):
    p, q = g.joined(2)
    whole = (*torch.broadcast_shapes(p, q), g.extent(1, 4))
    mask = g.truth((*q, whole[-1]), 0.8)
    if not mask.any(-1).all():
        g.tags.add("dead row")
    return Case([g.real((*p, whole[-1])), mask], {},
                lambda x, m: torch.softmax(torch.where(m, x, torch.full_like(x, -torch.inf)), -1))


def affine(g, shape):
    """Scale and shift, or neither."""
    return [g.real(shape), g.real(shape)] if g.flag(0.8) else [None, None]


@row
def layer_norm(g):
    inner = g.shape(1, 2, 2)
    return Case([g.real((*g.shape(0, 2), *inner)), *affine(g, inner)],
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
    return Case([g.real((g.extent(1, 2), c, *g.shape(1, 2, 2, 3))), *affine(g, (c,))],
                {"groups": groups, "eps": 1e-3}, lambda x, w, b: F.group_norm(x, groups, w, b, 1e-3))


@row
def instance_norm(g):
    c = g.extent(1, 3)
    return Case([g.real((g.extent(1, 2), c, *g.shape(1, 2, 2, 3))), *affine(g, (c,))],
                {"eps": 1e-3}, lambda x, w, b: F.instance_norm(x, None, None, w, b, True, 0.1, 1e-3))


@row
def batch_norm(g):
    c, training = g.extent(1, 3), g.flag()
    momentum = g.pick(0.1, 0.25)

    def function(x, w, b, mean, variance):
        mean, variance = mean.detach().clone(), variance.detach().clone()
        y = F.batch_norm(x, mean, variance, w, b, training, momentum, 1e-3)
        return y, mean, variance
    return Case([g.real((g.extent(2, 3), c, *g.shape(0, 2, 1, 3))), *affine(g, (c,)), g.real((c,)), g.positive((c,))],
                {"training": training, "eps": 1e-3, "momentum": momentum}, function, fixed=(3, 4))


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
    weight = g.positive(shape) if g.flag(0.3) else None
    positive = g.positive(shape[-1:]) if g.flag(0.3) else None
    return Case([g.real(shape), g.between(0, 1, shape), weight, positive], attributes,
                lambda x, t, w, p: F.binary_cross_entropy_with_logits(x, t, w, reduction=how, pos_weight=p),
                fixed=(2, 3))


def labelled(g):
    """Logits with the classes on axis 1, labels of which some are ignored, and the label that is ignored."""
    rows, c, more = g.extent(), g.extent(2, 4), g.shape(0, 2, 1, 3)
    ignored = g.pick(-100, 0)
    t = g.integers(0, c, (rows, *more))
    t[g.rng.random(t.shape) < 0.2] = ignored
    t.flat[0] = 1
    return g.real((rows, c, *more)), t, g.positive((c,)) if g.flag() else None, ignored


@row
def nll(g):
    attributes, how = reduced(g)
    x, t, w, ignored = labelled(g)
    return Case([x, t, w], {**attributes, "axis": 1, "ignore_index": ignored}, fixed=(2,),
                function=lambda x, t, w: F.nll_loss(x, t, w, ignore_index=ignored, reduction=how))


@row
def cross_entropy(g):
    attributes, how = reduced(g)
    x, t, w, ignored = labelled(g)
    smoothing = g.pick(0.0, 0.0, 0.1, 0.3)
    return Case([x, t, w], {**attributes, "axis": 1, "ignore_index": ignored, "label_smoothing": smoothing}, fixed=(2,),
                function=lambda x, t, w: F.cross_entropy(x, t, w, ignore_index=ignored, reduction=how,
                                                         label_smoothing=smoothing))


@row
def soft_cross_entropy(g):
    attributes, how = reduced(g)
    shape = (g.extent(), g.extent(2, 4), *g.shape(0, 1, 1, 3))
    w = g.positive(shape[1:2]) if g.flag() else None
    smoothing = g.pick(0.0, 0.2)
    return Case([g.real(shape), g.between(0, 1, shape), w], {**attributes, "axis": 1, "label_smoothing": smoothing},
                lambda x, t, w: F.cross_entropy(x, t, w, reduction=how, label_smoothing=smoothing), fixed=(2,))


@row
def kl_div(g):
    how, log = g.pick("mean", "sum", "none", "batchmean"), g.flag()
    shape = g.shape(1, 3)
    return Case([g.real(shape), g.real(shape) if log else g.positive(shape)], {"reduction": how, "log_target": log},
                lambda x, t: F.kl_div(x, t, reduction=how, log_target=log))
