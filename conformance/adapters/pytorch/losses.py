"""Losses."""
import torch
import torch.nn.functional as F

from indexing import inside
from table import row


@row()
def mse(a, x, t):
    return F.mse_loss(x, t, reduction=a.reduction)


@row()
def l1(a, x, t):
    return F.l1_loss(x, t, reduction=a.reduction)


@row()
def huber(a, x, t):
    return F.huber_loss(x, t, reduction=a.reduction, delta=a.delta)


@row()
def smooth_l1(a, x, t):
    return F.smooth_l1_loss(x, t, reduction=a.reduction, beta=a.beta)


@row()
def bce_with_logits(a, x, t, weight, pos_weight):
    return F.binary_cross_entropy_with_logits(x, t, weight, reduction=a.reduction, pos_weight=pos_weight)


@row()
def kl_div(a, x, t):
    return F.kl_div(x, t, reduction=a.reduction, log_target=a.log_target)


def classes_second(x, axis):
    """PyTorch's classes are on axis 1, of a single row on axis 0."""
    return x if x.dim() == 1 else torch.movedim(x, axis, 1)


def labels(t, classes, ignored):
    inside(t[t != ignored], classes)
    return t.long()


@row()
def nll(a, x, t, w):
    return F.nll_loss(classes_second(x, a.axis), labels(t, x.shape[a.axis], a.ignore_index), w,
                      ignore_index=a.ignore_index, reduction=a.reduction)


@row()
def cross_entropy(a, x, t, w):
    return F.cross_entropy(classes_second(x, a.axis), labels(t, x.shape[a.axis], a.ignore_index), w,
                           ignore_index=a.ignore_index, reduction=a.reduction, label_smoothing=a.label_smoothing)


@row()
def soft_cross_entropy(a, x, t, w):
    return F.cross_entropy(classes_second(x, a.axis), classes_second(t, a.axis), w, reduction=a.reduction,
                           label_smoothing=a.label_smoothing)
