"""The standard that tensor programs and their derivatives are checked against.

>>> import etalon, numpy as np
>>> x = np.array([1, 2, 3], np.float32)
>>> etalon.value("softmax", x)
array([0.09003057, 0.24472848, 0.66524094], dtype=float32)
>>> etalon.interval("softmax", x).judge(np.zeros(3, np.float32)).passed
False
>>> def naive(x, axis):
...     return np.exp(x) / np.exp(x).sum(axis, keepdims=True)
>>> etalon.assert_conforms(naive, "softmax")  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
AssertionError: naive does not conform to softmax: ...

What everything means is decided by the definitions (`etalon.op("softmax").text`); this package carries arrays in and out."""
from etalon._etalon import Operation, Record, Verdict, define, op, operations, version as __version__
from etalon.calls import Interval, Program, assert_admits, interval, intervals, jvp, program, value, vjp
from etalon.cases import Case
from etalon.door import door
from etalon.holding import Report, assert_conforms, conform, replay
from etalon.refusals import Unsupported

__all__ = ["Case", "Interval", "Operation", "Program", "Record", "Report", "Unsupported", "Verdict", "assert_admits",
           "assert_conforms", "conform", "define", "door", "interval", "intervals", "jvp", "op", "operations", "program", "replay", "value", "vjp"]
