"""What an operation means: values and derivatives, the interval of every conforming answer, programs."""
import fractions
import json
import math
import pathlib

import numpy

from etalon import _etalon
from etalon.arrays import alone, first_tensor, like, plain, plain_operand


def _exact(text):
    """An array of fractions, integers, or decimals of 50 digits, from what the library says."""
    if text is None:
        return None
    kind, shape, elements = text
    read = {"fraction": fractions.Fraction, "integer": int, "digits": str}[kind]
    array = numpy.empty(len(elements), object)
    array[:] = [read(element) for element in elements]
    return array.reshape(shape)


def _operands(operands):
    return tuple(operands) if isinstance(operands, (tuple, list)) else (operands,)


def value(op, *operands, exact=False, **attributes):
    """The results of an operation, each element the number nearest to what the equations mean.

    `operands` are arrays of shapes that the definition takes: NumPy's, buffers, or tensors by DLPack; None for an optional one,
    a list for a pack. Several results are a tuple. With `exact`, object arrays of `fractions.Fraction`, or of decimals of 50
    digits where the equations are not rational.

    >>> import numpy as np
    >>> value("add", np.float32([1, 2]), np.float32([[10], [20]]))
    array([[11., 12.],
           [21., 22.]], dtype=float32)
    >>> value("div", np.float64(1), np.float64(3), exact=True)
    array(Fraction(1, 3), dtype=object)
    """
    given = tuple(map(plain_operand, operands))
    if exact:
        return alone([_exact(text) for text in _etalon.exact_value(op, given, attributes)])
    return alone(like(first_tensor(operands), _etalon.value(op, given, attributes)))


def jvp(op, operands, tangents, exact=False, **attributes):
    """The tangents of the results, of their shapes, given tangents that stand and look as the operands do; None for what stays.

    >>> import numpy as np
    >>> jvp("mul", (np.float32([2]), np.float32([3])), (np.float32([1]), None))
    array([3.], dtype=float32)
    """
    operands, tangents = _operands(operands), _operands(tangents)
    given = tuple(map(plain_operand, operands)), tuple(map(plain_operand, tangents))
    if exact:
        return alone([_exact(text) for text in _etalon.exact_jvp(op, *given, attributes)])
    return alone(like(first_tensor(operands), _etalon.jvp(op, *given, attributes)))


def _as_operands(operands, found):
    """One entry per operand, as it stands: a list for a pack, None for what is left out or has no cotangent."""
    found = iter(found)

    def entry(x):
        return None if x is None else [entry(member) for member in x] if isinstance(x, (list, tuple)) else next(found)
    return tuple(entry(x) for x in operands)


def vjp(op, operands, cotangents, exact=False, **attributes):
    """The cotangents of the operands, of their shapes, given those of the results: one array for one operand that is no tuple, else
    a tuple with None for what is not real.

    >>> import numpy as np
    >>> vjp("mul", (np.float32([2]), np.float32([3])), np.float32([1]))
    (array([3.], dtype=float32), array([2.], dtype=float32))
    """
    several, operands = isinstance(operands, (tuple, list)), _operands(operands)
    given = tuple(map(plain_operand, operands))
    if exact:
        found = [_exact(text) for text in _etalon.exact_vjp(op, given, plain_operand(cotangents), attributes)]
    else:
        found = like(first_tensor(operands), _etalon.vjp(op, given, plain_operand(cotangents), attributes))
    found = _as_operands(operands, found)
    return found if several else found[0]


def contract_words(contract):
    """A contract as the library reads it: a name, or JSON from a dictionary or a file."""
    if isinstance(contract, dict):
        return json.dumps(contract)
    text = str(contract)
    return pathlib.Path(text).read_text() if "." in text or "/" in text else text


class Interval:
    """Per element the numbers that a contract admits: `lower`, `upper` (f64, or integers) and `flags`, of the shape of what is
    answered; a tuple of each where that is several tensors, with None for what has none.

    Flags: 1 a number between the ends, 2 inf, 4 -inf, 8 nan, 16 anything."""

    def __init__(self, made, of):
        self._made, self._of = made, of

    def _part(self, place, ends):
        return alone([None if one is None else one[place] for one in ends])

    @property
    def lower(self):
        return self._part(0, self._made.ends(self._of))

    @property
    def upper(self):
        return self._part(1, self._made.ends(self._of))

    @property
    def flags(self):
        return self._part(2, self._made.ends(self._of))

    @property
    def ways(self):
        """(lower, upper, flags) for each way in which the definition lets it be computed: an answer lies, as a whole, in one."""
        return [tuple(self._part(place, ends) for place in range(3)) for ends in self._made.ways(self._of)]

    def judge(self, *answer):
        """The verdict on an answer, one array per tensor: `.passed`, `.worst`, `.offender`, `.why`."""
        if len(answer) == 1 and isinstance(answer[0], (tuple, list)):
            answer = answer[0]
        return self._made.judge(self._of, [plain(y) for y in answer])

    def __repr__(self):
        return f"lower {self.lower!r}\nupper {self.upper!r}"


def _indices(at):
    """Per element its indices, as the library reads them."""
    if at is None:
        return []
    given = numpy.asarray(at)
    if given.size == 0 and given.ndim == 2:  # of a scalar
        given = given.astype(int)
    if given.dtype.kind not in "iu" or given.ndim not in (1, 2):
        raise TypeError(f"at: expected a list of indices of elements, found an array of {given.ndim} axes and type {given.dtype}")
    return given.reshape(len(given), -1 if given.size else 0).tolist()


def interval(op, *operands, tangents=None, cotangents=None, contract="ieee", at=None, **attributes):
    """What a contract admits of the results; with `tangents` of their tangents, with `cotangents` of those of the operands.

    `at` asks for some elements alone, by their indices: integers of a vector, else one tuple for each element; a tuple of such
    lists where several tensors are answered. `lower` and `upper` are lists then, and so is what `judge` takes; other elements
    are taken to be right. Values cost what the elements are computed from, derivatives as much as the whole.

    >>> import numpy as np
    >>> b = interval("exp", np.float32([1]), contract="ieee")
    >>> bool(b.lower[0] < np.exp(1) < b.upper[0]), b.judge(np.exp(np.float32([1]))).passed
    (True, True)
    >>> interval("matmul", np.ones((9, 4), np.float32), np.ones((4, 9), np.float32), at=[(8, 8), (0, 1)]).upper
    array([4., 4.])
    """
    if tangents is not None and cotangents is not None:
        raise TypeError("interval: expected tangents or cotangents, found both")
    of = "tangents" if tangents is not None else "cotangents" if cotangents is not None else "outputs"
    given_tangents = None if tangents is None else tuple(map(plain_operand, _operands(tangents)))
    asked = None if at is None else [_indices(each) for each in (at if isinstance(at, tuple) else (at,))]
    made = _etalon.interval(op, tuple(map(plain_operand, operands)), given_tangents, plain_operand(cotangents), contract_words(contract), attributes, asked)
    return Interval(made, of)


def intervals(op, *operands, chunk=1024, contract="ieee", **attributes):
    """What a contract admits of the result, chunk after chunk of its elements in row-major order: pairs of the indices, one row
    for each element, and their interval. No more than a chunk and what it is computed from is held at a time.

    >>> import numpy as np
    >>> [(at.tolist(), bound.upper.tolist()) for at, bound in intervals("neg", np.float32([1, 2, 3]), chunk=2)]
    [([[0], [1]], [-1.0, -2.0]), ([[2]], [-3.0])]
    """
    if chunk < 1:
        raise ValueError(f"intervals: expected a chunk of at least 1 element, found {chunk}")
    given = tuple(map(plain_operand, operands))
    shapes = _etalon.shapes(op, given, attributes)
    if len(shapes) != 1:
        raise ValueError(f"intervals: expected an operation of one result, found {len(shapes)}")
    count = math.prod(shapes[0])
    for begin in range(0, count, chunk):
        flat = numpy.arange(begin, min(begin + chunk, count))
        at = numpy.stack(numpy.unravel_index(flat, shapes[0]), axis=1) if shapes[0] else numpy.zeros((1, 0), int)
        yield at, interval(op, *given, contract=contract, at=at, **attributes)


def assert_admits(answer, op, *operands, **words):
    """Raises AssertionError with the element that is outside where `interval(op, …)` does not admit the answer."""
    verdict = interval(op, *operands, **words).judge(*(answer if isinstance(answer, (tuple, list)) else (answer,)))
    if not verdict:
        name = op if isinstance(op, str) else op.name
        raise AssertionError(f"{name}: {verdict.why}")


class Program:
    """A program in the text form of docs/program.md, run on the reference. Parameters live in `state`, by name.

    >>> import numpy as np
    >>> p = program('''input g : f32[2]
    ... parameter w : f32[2]
    ... change = scale(g) {by = 0.5}
    ... w1 = sub(w, change)
    ... output change
    ... update w := w1''')
    >>> p.state["w"] = np.float32([1, 1])
    >>> p.run(g=np.float32([2, 4]))["change"], p.state["w"]
    (array([1., 2.], dtype=float32), array([ 0., -1.], dtype=float32))
    """

    def __init__(self, text):
        self._made = _etalon.Program(text)
        self.state = {}

    text = property(lambda self: self._made.text, doc="The program as text.")
    inputs = property(lambda self: self._made.inputs, doc="What is given at each run: types by name.")
    parameters = property(lambda self: self._made.parameters, doc="What lives in `state`: types by name.")
    outputs = property(lambda self: self._made.outputs, doc="The names of the outputs, in order.")

    def _given(self, inputs):
        return {name: plain(x) for name, x in {**self.state, **inputs}.items()}

    def run(self, **inputs):
        """The outputs by name; parameters that the program updates hold their new values in `state`."""
        outputs, state = self._made.run(self._given(inputs))
        self.state.update(state)
        return outputs

    def interval(self, contract="ieee", **inputs):
        """What a contract admits of the outputs, and behind them of the new values of parameters."""
        return Interval(self._made.interval(self._given(inputs), contract_words(contract)), "outputs")


def program(text):
    """The program of a text. A text that is none is a ValueError with line and column."""
    return Program(text)
