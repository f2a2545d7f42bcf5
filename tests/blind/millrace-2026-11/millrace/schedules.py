"""Learning rates as functions of the number of steps made so far."""
import numpy as np

from .rule import Op, need


def none_jvp(c, ts):
    return [None] * len(c.y)


def none_vjp(c, gs):
    return [None] * len(c.x)


def schedule(name, value, last=False):
    def forward(c):
        need(c.a["dtype"] in ("f32", "f64"), "dtype", "only f32 and f64 are offered")
        return [np.asarray(value(c.a, *[x if x.ndim else int(x) for x in c.x]), np.longdouble)]
    Op(name, "call", forward, none_jvp, none_vjp, lambda c: c.a["dtype"], extended=True)


LD = np.longdouble


def share(a, step):
    return LD(max(step, 0)) / a["steps"]


def linear(a, step):
    if step >= a["steps"]:
        return a["final"]
    return a["initial"] + (LD(a["final"]) - a["initial"]) * share(a, step)


def cosine(a, step):
    if step >= a["steps"]:
        return a["final"]
    return a["final"] + (LD(a["initial"]) - a["final"]) * ((1 + np.cos(np.pi * share(a, step))) / 2)


def staircase(a, step):
    return a["initial"] * LD(a["gamma"]) ** (max(step, 0) // a["every"])


def multistep(a, step, milestones):
    reached = milestones <= step
    return a["initial"] * LD(a["gamma"]) ** int(reached.sum())


schedule("constant_schedule", lambda a, step: a["value"])
schedule("linear_schedule", linear)
schedule("cosine_schedule", cosine)
schedule("staircase_schedule", staircase)
schedule("multistep_schedule", multistep)
schedule("exponential_schedule", lambda a, step: a["initial"] * LD(a["gamma"]) ** max(step, 0))


def warmup_forward(c):
    step, a = int(c.x[0]), c.a
    if step >= a["steps"]:
        return [c.x[1]]
    return [np.asarray(a["initial"] + (LD(a["peak"]) - a["initial"]) * share(a, step))]


def warmup_jvp(c, ts):
    return [ts[1] if int(c.x[0]) >= c.a["steps"] else np.zeros((), c.wide)]


def warmup_vjp(c, gs):
    on = int(c.x[0]) >= c.a["steps"]
    return [None, gs[0] if on else np.zeros((), c.wide)]


Op("warmup_schedule", "call", warmup_forward, warmup_jvp, warmup_vjp, lambda c: c.dtypes[1], extended=True)
