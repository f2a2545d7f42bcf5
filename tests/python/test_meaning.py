"""Values, derivatives and intervals of calls: what goes in as whatever array, and what comes out."""
import array
import decimal
import fractions

import numpy as np
import pytest

import etalon

torch = pytest.importorskip("torch")


def test_a_value_is_the_nearest_number():
    x = np.array([[0.25, -3, 7.5], [1e-30, 2, 88]], np.float32)
    wide = x.astype(np.longdouble)
    expected = np.exp(wide - wide.max(1, keepdims=True))
    expected = (expected / expected.sum(1, keepdims=True)).astype(np.float32)
    assert np.array_equal(etalon.value("softmax", x, axis=1), expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.int64])
def test_element_types_stay(dtype):
    y = etalon.value("add", dtype([1, 2]), dtype([[10], [20]]))
    assert y.dtype == dtype and y.tolist() == [[11, 12], [21, 22]]


def test_truth_values():
    assert etalon.value("logical_and", np.array([True, True]), np.array([True, False])).tolist() == [True, False]


def test_strides_and_read_only_memory():
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    for x in (base.T, base[::-2, 1::3], np.broadcast_to(np.float32([1, 2]), (3, 2))):
        assert np.array_equal(etalon.value("neg", x), -x)
    base.flags.writeable = False
    assert np.array_equal(etalon.value("neg", base), -base)


def test_buffers_and_scalars():
    assert etalon.value("neg", array.array("d", [1.5, 2])).tolist() == [-1.5, -2]
    assert etalon.value("neg", memoryview(np.float32([[1], [2]]))).tolist() == [[-1], [-2]]
    assert etalon.value("neg", np.float64(3)) == -3


def test_tensors_of_pytorch():
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3).t().requires_grad_()
    y = etalon.value("neg", x)
    assert isinstance(y, torch.Tensor) and torch.equal(y, -x.detach())
    half = torch.tensor([1.0, 3.0], dtype=torch.bfloat16)
    y = etalon.value("div", half, torch.tensor([3.0, 7.0], dtype=torch.bfloat16))
    # Quotients of 8 bits in 24 are rounded twice to the same number: no quotient lies that near to a tie.
    assert y.dtype == torch.bfloat16 and torch.equal(y, (half.float() / torch.tensor([3.0, 7.0])).bfloat16())
    assert etalon.value("logical_not", torch.tensor([True, False])).tolist() == [False, True]


def test_derivatives_of_packs_and_absent_operands():
    a, b = np.float32([1, 2]), np.float32([3])
    (da, db), = etalon.vjp("concat", ([a, b],), np.float32([10, 20, 30]), axis=0)
    assert da.tolist() == [10, 20] and db.tolist() == [30]
    w, x = np.float32([[1, 2], [3, 4]]), np.float32([[5, 6]])
    dx, dw, none = etalon.vjp("linear", (x, w, None), np.float32([[1, 1]]))
    assert none is None and dx.tolist() == [[4, 6]] and dw.tolist() == [[5, 6], [5, 6]]
    moved = etalon.jvp("linear", (x, w, None), (np.float32([[1, 0]]), None))
    assert moved.tolist() == [[1, 3]]


def test_exact_values():
    third = etalon.value("div", np.float64([1, 2]), np.float64([3, 7]), exact=True)
    assert third.tolist() == [fractions.Fraction(1, 3), fractions.Fraction(2, 7)]
    with decimal.localcontext() as context:
        context.prec = 60
        expected = decimal.Decimal(2).exp()
        context.prec = 50
        assert decimal.Decimal(etalon.value("exp", np.float64([2]), exact=True)[0]) == +expected
        slope = etalon.vjp("exp", np.float64([2]), np.float64([-1]), exact=True)
        assert decimal.Decimal(slope[0]) == -+expected
    # Even where it cancels: log(exp(x)) is not asked, but 1 - exp(-1e-18) is.
    with decimal.localcontext() as context:
        context.prec = 90
        expected = decimal.Decimal(1e-18).exp() - 1
        context.prec = 50
        assert decimal.Decimal(etalon.value("expm1", np.float64([1e-18]), exact=True)[0]) == +expected


def test_numbers_that_are_none_have_words():
    assert etalon.value("exp", np.float64([np.inf, np.nan, -np.inf]), exact=True).tolist() == ["inf", "nan", "0"]


def test_intervals_hold_the_right_answer_alone():
    x = np.linspace(-3, 3, 7, dtype=np.float32)
    bound = etalon.interval("softmax", x)
    y = etalon.value("softmax", x)
    assert (bound.lower <= y).all() and (y <= bound.upper).all() and (bound.flags == 1).all()
    assert bound.judge(y).passed and not bound.judge(np.zeros(7, np.float32)).passed
    off = y.copy()
    off[3] = np.nextafter(np.float32(bound.upper[3]), np.float32(1)) + 4e-7
    verdict = bound.judge(off)
    assert verdict.verdict == "fail" and verdict.offender.startswith("y[3]: ") and verdict.worst > 1
    assert not bound.judge(np.full(7, np.nan, np.float32)).passed
    assert not bound.judge(y[:6]).passed and not bound.judge(y.astype(np.float64)).passed


def test_an_answer_lies_in_one_of_the_ways():
    x = np.linspace(-3, 3, 7, dtype=np.float32)
    bound = etalon.interval("softmax", x)
    assert len(bound.ways) > 1
    assert (bound.lower == np.min([low for low, _, _ in bound.ways], 0)).all()
    assert (bound.upper == np.max([high for _, high, _ in bound.ways], 0)).all()


def test_intervals_of_derivatives():
    x, dy = np.float32([-1, 0, 2]), np.float32([3, 5, 7])
    back = etalon.interval("relu", x, cotangents=dy)
    assert back.judge(np.float32([0, 0, 7])).passed and not back.judge(np.float32([0, 5, 7])).passed
    along = etalon.interval("relu", x, tangents=(dy,))
    assert along.judge(np.float32([0, 0, 7])).passed and not along.judge(np.float32([0, 5, 7])).passed


def test_contracts_admit_more_or_less():
    x = np.float32([0.1, 0.2, 0.3])
    strict, loose = etalon.interval("exp", x), etalon.interval("exp", x, contract="fast-math")
    assert (loose.upper - loose.lower > strict.upper - strict.lower).all()
    assert (etalon.interval("exp", x, contract={"name": "mine", "default_function": {"k0": 100}}).upper > strict.upper).all()


def test_asserting_ones_own_numbers():
    x = np.float32([1, 2])
    etalon.assert_admits(np.exp(x), "exp", x)
    with pytest.raises(AssertionError, match=r"^exp: y\[0\]: expected in"):
        etalon.assert_admits(np.exp(x) * 2, "exp", x)


def test_an_operation_shows_itself():
    op = etalon.op("softmax")
    assert repr(op) == op.text and op.operands == ["x"] and op.results == ["y"] and op.attributes == {"axis": "-1"}
    assert "x'" in op.jvp and "y'" in op.jvp and "y~" in op.vjp and "x~" in op.vjp
    page = op._repr_html_()
    assert "exp(x[..i, j @ axis] - top[..i])" in page and "->" not in page and "-&gt;" in page
    assert etalon.op("floor_divide").notes in etalon.op("floor_divide").text


def test_a_definition_of_ones_own():
    twice = etalon.define("twice(x[...]) {by = 2.0} -> y[...]\n  y[...] = by*x[...]\n")
    assert etalon.value(twice, np.float32([3])).tolist() == [6]
    assert etalon.value(twice, np.float32([3]), by=5).tolist() == [15]
    assert etalon.vjp(twice, np.float32([3]), np.float32([1]), by=0.5).tolist() == [0.5]
    etalon.assert_conforms(lambda x, by: np.multiply(x, by, dtype=x.dtype), twice, dtypes=["f32"])
    with pytest.raises(AssertionError, match="does not conform to twice"):
        etalon.assert_conforms(lambda x, by: x + x, twice, dtypes=["f32"])


def test_steps_of_an_optimizer_keep_state():
    p, m = np.float64([1, -2]), np.float64([0, 0])
    for t, g in enumerate(np.float64([[0.5, 1], [0.25, -1]]), 1):
        p, m = etalon.value("sgd", p, g, m, np.int64(t), lr=0.5, momentum=0.5)
    assert m.tolist() == [0.5 * 0.5 + 0.25, 0.5 * 1 - 1] and p.tolist() == [1 - 0.25 - 0.25, -2 - 0.5 + 0.25]


PROGRAM = """input x : f32[2]
parameter w : f32[2]
h = mul(x, w)
loss = sum(h) {axes = [0], keepdims = false}
g = vjp(loss; w)
change = scale(g) {by = 0.5}
w1 = sub(w, change)
output loss
update w := w1
"""


def test_programs_run_with_state():
    program = etalon.program(PROGRAM)
    assert program.inputs == {"x": "f32[2]"} and program.parameters == {"w": "f32[2]"} and program.outputs == ["loss"]
    assert etalon.program(program.text).text == program.text
    program.state["w"] = np.float32([1, 2])
    x = np.float32([4, 8])
    assert [float(program.run(x=x)["loss"]) for _ in range(2)] == [20, -20]
    assert program.state["w"].tolist() == [-3, -6]
    bound = program.interval(x=x)
    assert bound.lower[0] <= -60 <= bound.upper[0]
