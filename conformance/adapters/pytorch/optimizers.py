"""Optimizer steps by torch.optim: the state is set from the operands before the step and read back after it."""
import torch
from torch import optim

import recording
from table import need, row


def stepped(make, p, gradient, state):
    """The parameter after one step from this state, and the state after it; both have PyTorch's names."""
    need(torch.isfinite(p).all(), "request", "PyTorch leaves a decay of 0 out, where 0 times an infinity would be NaN")
    with recording.hidden() as written:
        parameter = torch.nn.Parameter(p.clone())
        parameter.grad = gradient.clone()
        optimizer = make([parameter])
        optimizer.state[parameter].update(state)
        place = written and written.step(optimizer, p, gradient, state)
        optimizer.step()
        q, after = parameter.detach(), optimizer.state[parameter]
        if written:
            written.stepped(place, q, after)
    return q, after


def kept(make, p, gradient, state, step):
    """The results in the definition's order: the parameter, then the state as it is listed."""
    counted = {"step": step, **{name: v.clone() for name, v in state.items()}}
    q, after = stepped(make, p, gradient, counted)
    return (q, *(after[name] for name in state))


def before(t):
    """The number of steps made so far, as PyTorch 1.13 keeps it."""
    need(t >= 1, "request", "PyTorch counts steps from 1")
    return torch.tensor(float(t.item() - 1))


@row(differentiable=False)
def sgd(a, p, g, m, t):
    make = lambda momentum: lambda p: optim.SGD(p, a.lr, momentum, a.dampening, a.weight_decay, a.nesterov)
    if a.momentum != 0:
        q, after = stepped(make(a.momentum), p, g, {} if t == 1 else {"momentum_buffer": m.clone()})
        return q, after["momentum_buffer"]
    need(not a.nesterov, "attribute", "PyTorch refuses Nesterov's form without momentum")
    # Without momentum PyTorch keeps no buffer; what it would start one with, it says when there is some.
    return stepped(make(0.0), p, g, {})[0], stepped(make(0.5), p, g, {})[1]["momentum_buffer"]


def betas(a):
    return {"lr": a.lr, "betas": (a.beta1, a.beta2), "eps": a.eps, "weight_decay": a.weight_decay}


def after_root(a):
    need(not a.eps_hat, "attribute", "PyTorch adds eps after the bias correction")


@row(differentiable=False)
def adam(a, p, g, m, v, t):
    after_root(a)
    return kept(lambda p: optim.Adam(p, **betas(a)), p, g, {"exp_avg": m, "exp_avg_sq": v}, before(t))


@row(differentiable=False)
def adamw(a, p, g, m, v, t):
    after_root(a)
    return kept(lambda p: optim.AdamW(p, **betas(a)), p, g, {"exp_avg": m, "exp_avg_sq": v}, before(t))


@row(differentiable=False)
def amsgrad(a, p, g, m, v, w, t):
    after_root(a)
    return kept(lambda p: optim.Adam(p, **betas(a), amsgrad=True), p, g,
                {"exp_avg": m, "exp_avg_sq": v, "max_exp_avg_sq": w}, before(t))


@row(differentiable=False)
def nadam(a, p, g, m, v, mu, t):
    return kept(lambda p: optim.NAdam(p, **betas(a), momentum_decay=a.momentum_decay), p, g,
                {"exp_avg": m, "exp_avg_sq": v, "mu_product": mu}, before(t))


@row(differentiable=False)
def radam(a, p, g, m, v, t):
    return kept(lambda p: optim.RAdam(p, **betas(a)), p, g, {"exp_avg": m, "exp_avg_sq": v}, before(t))


@row(differentiable=False)
def adamax(a, p, g, m, u, t):
    return kept(lambda p: optim.Adamax(p, **betas(a)), p, g, {"exp_avg": m, "exp_inf": u}, before(t))


@row(differentiable=False)
def adagrad(a, p, g, s, t):
    return kept(lambda p: optim.Adagrad(p, a.lr, a.lr_decay, a.weight_decay, 0, a.eps), p, g, {"sum": s}, before(t))


@row(differentiable=False)
def adadelta(a, p, g, v, u):
    return kept(lambda p: optim.Adadelta(p, a.lr, a.rho, a.eps, a.weight_decay), p, g,
                {"square_avg": v, "acc_delta": u}, 0)


@row(differentiable=False)
def rmsprop(a, p, g, v, mean, m):
    make = lambda momentum: lambda p: optim.RMSprop(p, a.lr, a.alpha, a.eps, a.weight_decay, momentum, a.centered)
    state = {"square_avg": v, "grad_avg": mean, "momentum_buffer": m}
    q, v1, mean1, m1 = kept(make(a.momentum), p, g, state, 0)
    if a.momentum == 0:  # no buffer is kept; from 0 with momentum it becomes the step's direction
        m1 = kept(make(0.5), p, g, {**state, "momentum_buffer": torch.zeros_like(m)}, 0)[3]
    return q, v1, mean1, m1


@row(differentiable=False)
def clip_by_norm(a, *gradients):
    need(a.eps == 1e-6, "attribute", "PyTorch's eps is 1e-6")
    parameters = [torch.nn.Parameter(torch.zeros_like(g)) for g in gradients]
    for p, g in zip(parameters, gradients):
        p.grad = g.clone()
    torch.nn.utils.clip_grad_norm_(parameters, a.max_norm)
    return [p.grad for p in parameters]


@row(differentiable=False)
def clip_by_value(a, g):
    need(a.limit >= 0, "attribute", "PyTorch answers its upper limit where that lies below the lower one")
    p = torch.nn.Parameter(torch.zeros_like(g))
    p.grad = g.clone()
    torch.nn.utils.clip_grad_value_([p], a.limit)
    return p.grad
