"""Normalisation, and the distributions made by it."""
import torch
import torch.nn.functional as F

from table import moves, need, row


@row()
def softmax(a, x):
    return torch.softmax(x, a.axis)


@row()
def log_softmax(a, x):
    return torch.log_softmax(x, a.axis)


@row()
def layer_norm(a, x, gamma, beta):
    axes = [axis % x.dim() for axis in a.axes]
    need(axes and axes == list(range(x.dim() - len(axes), x.dim())), "attribute",
         "PyTorch normalises over the last axes, in their order")
    return F.layer_norm(x, x.shape[x.dim() - len(axes):], gamma, beta, a.eps)


@row()
def batch_norm(a, x, gamma, beta, mean, variance):
    need(x.dim() >= 2 and a.axis % x.dim() == 1, "attribute", "PyTorch's channels are on axis 1")
    need(a.eps > 0, "attribute", "PyTorch has 0 for a channel without variance where eps is 0")
    for statistic in (mean, variance):
        need(statistic is None or not moves(statistic), "mode", "PyTorch does not differentiate by running statistics")
    c = x.shape[1]
    # Modules start from these; the step changes them in place.
    mean = torch.zeros(c, dtype=x.dtype) if mean is None else mean.clone()
    variance = torch.ones(c, dtype=x.dtype) if variance is None else variance.clone()
    y = F.batch_norm(x, mean, variance, gamma, beta, a.training, a.momentum, a.eps)
    return y, mean, variance


@row()
def group_norm(a, x, gamma, beta):
    return F.group_norm(x, a.groups, gamma, beta, a.eps)


@row()
def instance_norm(a, x, gamma, beta):
    need(a.eps > 0, "attribute", "PyTorch has 0 for a channel without variance where eps is 0")
    return F.instance_norm(x, None, None, gamma, beta, use_input_stats=True, eps=a.eps)
