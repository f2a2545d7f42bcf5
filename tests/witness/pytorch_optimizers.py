"""Optimizer steps: torch.optim with its state set before the step and read after it."""
import torch

from rows import Case, row


def stepped(make, p, g, state):
    """The parameter after one step from this state, and the state. Entries of the state are given by PyTorch's names."""
    p = p.clone().requires_grad_()
    p.grad = g.clone()
    optimizer = make([p])
    optimizer.state[p].update({name: v.clone() if torch.is_tensor(v) else v for name, v in state.items()})
    optimizer.step()
    return p.detach(), optimizer.state[p]


def start(g):
    return g.extent(1, 1) if g.flag(0.3) else g.extent(2, 50)


@row
def sgd(g):
    shape, t = g.shape(), start(g)
    momentum = g.pick(0.0, 0.9)
    nesterov = momentum > 0 and g.flag()
    dampening = 0.0 if nesterov else g.pick(0.0, 0.2)
    decay = g.pick(0.0, 0.01)

    def function(p, gradient, m, t):
        state = {} if t == 1 or momentum == 0 else {"momentum_buffer": m}
        make = lambda p: torch.optim.SGD(p, 0.1, momentum, dampening, decay, nesterov)
        q, after = stepped(make, p, gradient, state)
        buffer = after.get("momentum_buffer")
        return q, gradient + decay * p if buffer is None else buffer
    return Case([g.real(shape), g.real(shape), g.real(shape), g.as_integer(t)],
                {"lr": 0.1, "momentum": momentum, "dampening": dampening, "nesterov": nesterov, "weight_decay": decay},
                function, differentiable=False)


def moments(make, names):
    """A function of p, g, the state of these names, and t; it returns p and that state."""
    def function(p, gradient, *rest):
        *state, t = rest
        before = {"step": torch.tensor(float(t - 1)), **dict(zip(names, state))}
        q, after = stepped(make, p, gradient, before)
        return (q, *(after[name] for name in names))
    return function


@row
def adam(g):
    shape = g.shape()
    make = lambda p: torch.optim.Adam(p, 0.01, (0.8, 0.95), 1e-6)
    return Case([g.real(shape), g.real(shape), g.real(shape), g.positive(shape), g.as_integer(start(g))],
                {"lr": 0.01, "beta1": 0.8, "beta2": 0.95, "eps": 1e-6}, moments(make, ("exp_avg", "exp_avg_sq")),
                differentiable=False)


@row
def adamw(g):
    shape = g.shape()
    make = lambda p: torch.optim.AdamW(p, 0.01, (0.8, 0.95), 1e-6, 0.1)
    return Case([g.real(shape), g.real(shape), g.real(shape), g.positive(shape), g.as_integer(start(g))],
                {"lr": 0.01, "beta1": 0.8, "beta2": 0.95, "eps": 1e-6, "weight_decay": 0.1},
                moments(make, ("exp_avg", "exp_avg_sq")), differentiable=False)


@row
def amsgrad(g):
    shape = g.shape()
    make = lambda p: torch.optim.Adam(p, 0.01, (0.8, 0.95), 1e-6, amsgrad=True)
    return Case([g.real(shape), g.real(shape), g.real(shape), g.positive(shape), g.positive(shape),
                 g.as_integer(start(g))], {"lr": 0.01, "beta1": 0.8, "beta2": 0.95, "eps": 1e-6},
                moments(make, ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")), differentiable=False)
