"""Learning rates by torch.optim.lr_scheduler, stepped as a training loop steps them."""
import torch
from torch.optim import SGD, lr_scheduler

from table import need, row
from tensors import dtype_of

LONGEST = 500  # steps that are made one by one for one answer


def rate(a, step, make, initial, dtype):
    """The rate after this many steps; PyTorch computes it in double precision."""
    steps = max(0, int(step))
    need(steps <= LONGEST, "size", f"more than {LONGEST} steps, which are made one by one")
    optimizer = SGD([torch.nn.Parameter(torch.zeros(1))], initial)
    schedule = make(optimizer)
    for _ in range(steps):
        optimizer.step()
        schedule.step()
    return torch.tensor(schedule.get_last_lr()[0], dtype=dtype)


def single(dtype):
    need(dtype == "f32", "dtype", "PyTorch's rates are products of factors, each rounded in double precision")


@row(differentiable=False)
def staircase_schedule(a, step):
    single(a.dtype)
    return rate(a, step, lambda o: lr_scheduler.StepLR(o, a.every, a.gamma), a.initial, dtype_of(a.dtype))


@row(differentiable=False)
def multistep_schedule(a, step, milestones):
    single(a.dtype)
    listed = [int(m) for m in milestones]
    # Milestones are met by steps; those that lie before the first are not.
    need(all(m > 0 for m in listed), "request", "PyTorch meets a milestone by a step, so none at or before 0")
    return rate(a, step, lambda o: lr_scheduler.MultiStepLR(o, listed, a.gamma), a.initial, dtype_of(a.dtype))


@row(differentiable=False)
def exponential_schedule(a, step):
    single(a.dtype)
    return rate(a, step, lambda o: lr_scheduler.ExponentialLR(o, a.gamma), a.initial, dtype_of(a.dtype))


@row(differentiable=False)
def cosine_schedule(a, step):
    need(int(step) <= a.steps, "request", "PyTorch's rate rises again after the last step")
    return rate(a, step, lambda o: lr_scheduler.CosineAnnealingLR(o, a.steps, a.final), a.initial, dtype_of(a.dtype))


@row(differentiable=False)
def linear_schedule(a, step):
    single(a.dtype)
    need(a.initial > 0 and 0 <= a.final <= a.initial, "attribute", "PyTorch's factors lie between 0 and 1")
    return rate(a, step, lambda o: lr_scheduler.LinearLR(o, 1.0, a.final / a.initial, a.steps), a.initial, dtype_of(a.dtype))
