"""Schedules: one number per step, in the wide type of what they answer."""
import numpy as np

from .elementwise import PI, where
from .registry import register
from .switch import on
from .tape import lift


def share(c, step):
    """How much of the steps is done, from 0."""
    return max(int(step.a), 0) / c.w(c.steps)


def answer(c, value):
    return lift(np.asarray(value, c.w))


def given(c, name):
    return c.w(c[name])


register("constant_schedule", result="dtype")(lambda c, step: answer(c, c.value))


@register("linear_schedule", result="dtype")
def linear(c, step):
    if int(step.a) >= c.steps:
        return answer(c, c.final)
    return answer(c, given(c, "initial") + (given(c, "final") - given(c, "initial")) * share(c, step))


@register("cosine_schedule", result="dtype")
def cosine(c, step):
    if int(step.a) >= c.steps:
        return answer(c, c.final)
    wave = (1 + np.cos(c.w(PI) * share(c, step))) / 2
    return answer(c, given(c, "final") + (given(c, "initial") - given(c, "final")) * wave)


@register("warmup_schedule", t=1)
def warmup(c, step, after):
    done = int(step.a) >= c.steps
    value = given(c, "initial") + (given(c, "peak") - given(c, "initial")) * share(c, step)
    return where(np.asarray(done), after * 1.0, lift(value, after))


@register("staircase_schedule", result="dtype")
def staircase(c, step):
    n = max(int(step.a), 0)
    return answer(c, given(c, "initial") * np.power(given(c, "gamma"), c.w(n // c.every)))


@register("exponential_schedule", result="dtype")
def exponential(c, step):
    return answer(c, given(c, "initial") * np.power(given(c, "gamma"), c.w(max(int(step.a), 0))))


@register("multistep_schedule", result="dtype")
def multistep(c, step, milestones):
    reached = milestones.a < step.a if on("milestone_after_its_step") else milestones.a <= step.a
    return answer(c, given(c, "initial") * np.power(given(c, "gamma"), c.w(int(np.sum(reached)))))
