"""Learning rates as functions of the number of steps made so far."""
import numpy as np

from quarry import build as a
from quarry.build import to, where
from quarry.ir import wide
from quarry.lowering.axes import require
from quarry.lower import OPTIONAL, operation
from quarry.switch import defect


def schedule(name, **attributes):
    """An operation from a function of (attributes, step as a real); its result has the type that `dtype` names."""
    def register(body):
        def whole(at, step, *more):
            from quarry.session import dtype_of
            dtype = dtype_of(at.dtype)
            require(dtype.kind == "f", "dtype == f32 or dtype == f64")
            reals = {k: to(v, wide(dtype)) if isinstance(v, a.Node) else v for k, v in at.items()}
            return to(body(type(at)(reals), step, wide(dtype), *more), dtype)
        operation(name, typed=True, **attributes, dtype="f32")(whole)
        return body
    return register


def share(step, steps, dtype):
    """The part of `steps` that has passed, from 0 to 1."""
    if defect("schedule_share_of_integers"):
        return to(a.floor_divide(a.maximum(step, 0), steps), dtype)
    return to(a.maximum(step, 0), dtype) / float(steps)


@schedule("constant_schedule", value=OPTIONAL)
def constant_schedule(at, step, dtype):
    return a.broadcast(a.lift(at.value, dtype), step.shape)


@schedule("linear_schedule", initial=OPTIONAL, final=0.0, steps=OPTIONAL)
def linear_schedule(at, step, dtype):
    require(at.steps > 0, "steps > 0")
    return where(step >= at.steps, at.final, at.initial + (at.final - at.initial) * share(step, at.steps, dtype))


@schedule("cosine_schedule", initial=OPTIONAL, final=0.0, steps=OPTIONAL)
def cosine_schedule(at, step, dtype):
    require(at.steps > 0, "steps > 0")
    wave = (1.0 + a.cos(a.PI * share(step, at.steps, dtype))) / 2.0
    return where(step >= at.steps, at.final, at.final + (at.initial - at.final) * wave)


@schedule("staircase_schedule", initial=OPTIONAL, every=OPTIONAL, gamma=0.1)
def staircase_schedule(at, step, dtype):
    require(at.every > 0, "every > 0")
    made = a.maximum(step, 0)
    return at.initial * a.power(a.lift(at.gamma, dtype), to(made // at.every, dtype))


@schedule("multistep_schedule", initial=OPTIONAL, gamma=0.1)
def multistep_schedule(at, step, dtype, milestones):
    step, milestones = to(step, np.int64), to(milestones, np.int64)
    step = a.broadcast(step, milestones.shape)
    passed = milestones <= step
    reached = a.total(to(passed, np.int64), [0])
    if defect("milestones_once_each"):
        n = milestones.shape[0]
        same = a.eq(a.shaped(milestones, (n, 1)), a.shaped(milestones, (1, n)))
        earlier = a.some(a.both(same, a.constant(np.tri(n, n, -1, dtype=bool))), [1])
        reached = a.total(to(a.both(passed, a.holds_not(earlier)), np.int64), [0])
    return at.initial * a.power(a.lift(at.gamma, dtype), to(reached, dtype))


@schedule("exponential_schedule", initial=OPTIONAL, gamma=OPTIONAL)
def exponential_schedule(at, step, dtype):
    return at.initial * a.power(a.lift(at.gamma, dtype), to(a.maximum(step, 0), dtype))


@operation(initial=0.0, peak=OPTIONAL, steps=OPTIONAL)
def warmup_schedule(at, step, after):
    require(at.steps > 0, "steps > 0")
    initial = 0.0 if defect("warmup_starts_at_zero") else at.initial
    rising = initial + (at.peak - initial) * share(step, at.steps, after.dtype)
    return where(step >= at.steps, after, rising)
