"""Hypothesis over the suite's own generator: what shrinks is the case's place in it."""
from hypothesis import strategies

from etalon.cases import Case, ids


def case(op, like=None, modes=None, dtypes=None, checks=(), tier="full", seed=1):
    """Cases of an operation, the first of the suite the simplest."""
    return strategies.sampled_from(ids(op, like=like, modes=modes, dtypes=dtypes, checks=checks, tier=tier, seed=seed)).map(lambda id: Case(id, op))
