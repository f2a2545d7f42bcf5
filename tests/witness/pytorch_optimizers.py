"""Optimizer steps: torch.optim with its state set before the step and read after it; clipping; schedules."""
import torch
from torch.optim import lr_scheduler

from rows import Case, row


def stepped(make, p, g, state):
    """The parameter after one step from this state, and the state, whose entries have PyTorch's names."""
    p = p.clone().requires_grad_()
    p.grad = g.clone()
    optimizer = make([p])
    optimizer.state[p].update({name: v.clone() if torch.is_tensor(v) else v for name, v in state.items()})
    optimizer.step()
    return p.detach(), optimizer.state[p]


def count(g):
    return g.as_integer(1 if g.flag(0.3) else g.extent(2, 50))


@row
def sgd(g):
    shape = g.shape()
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
    return Case([g.real(shape), g.real(shape), g.real(shape), count(g)],
                {"lr": 0.1, "momentum": momentum, "dampening": dampening, "nesterov": nesterov, "weight_decay": decay},
                function, differentiable=False)


def keeping(make, names, counted=True):
    """A function of p, g, the state of these names and, where counted, t; it returns p and that state."""
    def function(p, gradient, *rest):
        state, t = (rest[:-1], rest[-1]) if counted else (rest, 5)
        step = torch.tensor(float(t - 1)) if counted else 4
        q, after = stepped(make, p, gradient, {"step": step, **dict(zip(names, state))})
        return (q, *(after.get(name, before) for name, before in zip(names, state)))
    return function


BETAS = {"beta1": 0.8, "beta2": 0.95, "eps": 1e-6, "lr": 0.01}
# PyTorch's optimizer, the names of its state, and which of them are never negative.
ADAM_FAMILY = {
    "adam": (torch.optim.Adam, {}, ("exp_avg", "exp_avg_sq")),
    "adamw": (torch.optim.AdamW, {}, ("exp_avg", "exp_avg_sq")),
    "amsgrad": (torch.optim.Adam, {"amsgrad": True}, ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")),
    "radam": (torch.optim.RAdam, {}, ("exp_avg", "exp_avg_sq")),
    "adamax": (torch.optim.Adamax, {}, ("exp_avg", "exp_inf")),
}


@row(*ADAM_FAMILY)
def _(g, name):
    optimizer, more, names = ADAM_FAMILY[name]
    shape, decay = g.shape(), g.pick(0.0, 0.1)
    make = lambda p: optimizer(p, lr=0.01, betas=(0.8, 0.95), eps=1e-6, weight_decay=decay, **more)
    state = [g.real(shape), *(g.positive(shape) for _ in names[1:])]
    return Case([g.real(shape), g.real(shape), *state, count(g)], {**BETAS, "weight_decay": decay},
                keeping(make, names), differentiable=False)


@row
def nadam(g):
    shape, decay = g.shape(), g.pick(0.0, 0.1)
    foreach = g.flag(0.8)
    if not foreach:
        g.tags.add("one by one")
    make = lambda p: torch.optim.NAdam(p, 0.01, (0.8, 0.95), 1e-6, decay, 0.004, foreach=foreach)
    return Case([g.real(shape), g.real(shape), g.real(shape), g.positive(shape), g.between(0.1, 0.9), count(g)],
                {**BETAS, "weight_decay": decay, "momentum_decay": 0.004},
                keeping(make, ("exp_avg", "exp_avg_sq", "mu_product")), differentiable=False)


@row
def adagrad(g):
    shape, decay, slower = g.shape(), g.pick(0.0, 0.1), g.pick(0.0, 0.01)
    make = lambda p: torch.optim.Adagrad(p, 0.01, slower, decay, 0, 1e-6)
    return Case([g.real(shape), g.real(shape), g.positive(shape), count(g)],
                {"lr": 0.01, "lr_decay": slower, "weight_decay": decay, "eps": 1e-6}, keeping(make, ("sum",)),
                differentiable=False)


@row
def rmsprop(g):
    shape, decay, momentum, centered = g.shape(), g.pick(0.0, 0.1), g.pick(0.0, 0.9), g.flag()
    make = lambda p: torch.optim.RMSprop(p, 0.01, 0.9, 1e-6, decay, momentum, centered)
    v = g.positive(shape)
    a = g.as_real(v * 0.25)  # a mean of gradients, whose square is below the mean of squares
    plain = keeping(make, ("square_avg", "grad_avg", "momentum_buffer"), False)

    def function(p, gradient, v, a, m):
        q, v1, a1, m1 = plain(p, gradient, v, a, m)
        d = gradient + decay * p
        # Without momentum PyTorch keeps no buffer; the definition's is then the step's direction.
        direction = d / ((v1 - a1 * a1 if centered else v1).sqrt() + 1e-6)
        return q, v1, a1, m1 if momentum else direction
    return Case([g.real(shape), g.real(shape), g.as_real(v + 4), a, g.real(shape)],
                {"lr": 0.01, "alpha": 0.9, "eps": 1e-6, "weight_decay": decay, "momentum": momentum,
                 "centered": centered}, function, differentiable=False)


@row
def adadelta(g):
    shape, decay = g.shape(), g.pick(0.0, 0.1)
    make = lambda p: torch.optim.Adadelta(p, 0.5, 0.9, 1e-6, decay)
    return Case([g.real(shape), g.real(shape), g.positive(shape), g.positive(shape)],
                {"lr": 0.5, "rho": 0.9, "eps": 1e-6, "weight_decay": decay},
                keeping(make, ("square_avg", "acc_delta"), False), differentiable=False)


@row
def lion(g):  # PyTorch 1.13 has none; this is its text in tensors
    shape, decay = g.shape(), g.pick(0.0, 0.1)
    return Case([g.real(shape), g.real(shape), g.real(shape)],
                {"lr": 0.01, "beta1": 0.75, "beta2": 0.95, "weight_decay": decay},
                lambda p, d, m: (p * (1 - 0.01 * decay) - 0.01 * torch.sign(0.75 * m + 0.25 * d),
                                 0.95 * m + (1 - 0.95) * d), differentiable=False)


@row
def clip_by_norm(g):
    limit = g.pick(0.5, 2.0, 100.0)

    def function(*gradients):
        parameters = [torch.nn.Parameter(torch.zeros_like(d)) for d in gradients]
        for p, d in zip(parameters, gradients):
            p.grad = d.clone()
        torch.nn.utils.clip_grad_norm_(parameters, limit)
        return tuple(p.grad for p in parameters)
    return Case([g.real(g.shape(1, 2)) for _ in range(g.extent(1, 3))], {"max_norm": limit, "eps": 1e-6}, function,
                differentiable=False)


@row
def clip_by_value(g):
    limit = g.pick(0.5, 1.0)
    return Case([g.real(g.shape())], {"limit": limit}, lambda d: torch.clamp(d, -limit, limit))


@row
def normalize_gradient(g):
    return Case([g.real(g.shape(1, 2))], {"eps": 1e-3}, lambda d: d / (torch.linalg.vector_norm(d) + 1e-3))


def learning_rate(make, initial, step):
    """What PyTorch's schedule says at this step, in closed form."""
    schedule = make(torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], initial))
    schedule.last_epoch = int(step)
    return schedule._get_closed_form_lr()[0]


def schedule(g, make, initial, attributes, *operands):
    step = g.as_integer(g.extent(0, 12))

    def function(step, *_):
        return torch.tensor(learning_rate(make, initial, step), dtype=g.type())
    return Case([step, *operands], {**attributes, "dtype": g.type_name()}, function, differentiable=False)


@row
def constant_schedule(g):
    value = g.pick(0.1, 1.5)
    return schedule(g, lambda o: lr_scheduler.ConstantLR(o, 1.0, 5), value, {"value": value})


@row
def linear_schedule(g):
    share, steps = g.pick(0.0, 0.25), g.extent(1, 10)
    return schedule(g, lambda o: lr_scheduler.LinearLR(o, 1.0, share, steps), 0.5,
                    {"initial": 0.5, "final": 0.5 * share, "steps": steps})


@row
def cosine_schedule(g):
    final, steps = g.pick(0.0, 0.1), g.extent(1, 10)
    case = schedule(g, lambda o: lr_scheduler.CosineAnnealingLR(o, steps, final), 0.5,
                    {"initial": 0.5, "final": final, "steps": steps})
    case.operands[0] = g.as_integer(min(case.operands[0], steps))  # PyTorch's goes up again; ours stays
    return case


@row
def warmup_schedule(g):
    share, steps = g.pick(0.25, 0.5), g.extent(1, 10)

    def function(step, after):
        if step >= steps:
            return after.clone()
        found = learning_rate(lambda o: lr_scheduler.LinearLR(o, share, 1.0, steps), 0.5, step)
        return torch.tensor(found, dtype=after.dtype)
    return Case([g.as_integer(g.extent(0, 12)), g.real()], {"initial": 0.5 * share, "peak": 0.5, "steps": steps},
                function, differentiable=False)


@row
def staircase_schedule(g):
    every, gamma = g.extent(1, 4), g.pick(0.1, 0.5)
    return schedule(g, lambda o: lr_scheduler.StepLR(o, every, gamma), 0.5,
                    {"initial": 0.5, "every": every, "gamma": gamma})


@row
def multistep_schedule(g):
    milestones, gamma = sorted(g.extent(0, 12) for _ in range(g.extent(0, 3))), g.pick(0.1, 0.5)
    return schedule(g, lambda o: lr_scheduler.MultiStepLR(o, milestones, gamma), 0.5,
                    {"initial": 0.5, "gamma": gamma}, g.as_integer(milestones))


@row
def exponential_schedule(g):
    gamma = g.pick(0.9, 0.5)
    return schedule(g, lambda o: lr_scheduler.ExponentialLR(o, gamma), 0.5, {"initial": 0.5, "gamma": gamma})
