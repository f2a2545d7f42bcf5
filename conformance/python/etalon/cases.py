"""The suite's cases one by one, for test runners."""
from etalon import _etalon
from etalon.answering import BAD, name_of
from etalon.holding import Held, counterexample, replay_line
from etalon.refusals import Unsupported


class Case:
    """One case of the suite: a call with numbers, and what is asked of it. `str(case)` shows both."""

    def __init__(self, id, op=None):
        self.id, self.op = id, op or id.split(".", 1)[0]

    def __str__(self):
        return _etalon.shown(self.id, {"ops": [self.op]})

    def __repr__(self):
        return f"Case({self.id!r})"

    def assert_conforms(self, fn, **words):
        """As `etalon.assert_conforms`, of this case alone. Raises Unsupported where the callable does not take it."""
        held = Held({self.op: fn}, name=name_of(fn), replay=replay_line(fn, words), **words)
        outcome = _etalon.ask(self.id, held.answer, held.description, held.options)
        if outcome.verdict == "unsupported":
            raise Unsupported("request", outcome.why)
        if outcome.verdict in BAD:
            raise AssertionError(counterexample(held, self.id, outcome.why))


def ids(op, like=None, modes=None, dtypes=None, checks=(), tier="quick", seed=1):
    """The ids of the cases that a run begins with."""
    held = Held({op: lambda: None}, name="cases", like=like, modes=modes, dtypes=dtypes, checks=list(checks), tier=tier, seed=seed)
    return _etalon.cases(held.description, held.options)
