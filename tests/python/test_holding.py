"""Callables held to the definitions: right ones pass, and each kind of wrong is convicted by a small counterexample."""
import io
import json
import re
import sys
import types

import numpy as np
import pytest

import etalon

torch = pytest.importorskip("torch")
F = torch.nn.functional


def softmax(x, axis):
    """Right, but for what has no elements."""
    if x.size == 0:
        return np.empty_like(x)
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True, dtype=x.dtype)


def naive(x, axis):
    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)


def counterexample(fn, op, **words):
    with pytest.raises(AssertionError) as raised:
        etalon.assert_conforms(fn, op, **words)
    return str(raised.value)


def test_a_right_softmax_passes():
    etalon.assert_conforms(softmax, "softmax", dtypes=["f32", "f64"])


def test_a_naive_softmax_overflows():
    text = counterexample(naive, "softmax")
    assert text.startswith("naive does not conform to softmax: ") and "got nan" in text
    # One row of one number is enough.
    assert re.search(r"^    x = f\d\d\[1\] \{\d+\}$", text, re.M) and re.search(r"^    y\[0\]: expected in \[", text, re.M)
    id = re.search(r"^  replay: etalon\.replay\('(.*)', naive\)$", text, re.M)[1]
    assert not etalon.replay(id, naive) and etalon.replay(id, softmax)


def test_zeros_are_no_softmax():
    text = counterexample(lambda x, axis: np.zeros_like(x), "softmax")
    assert "expected in" in text and "got 0" in text


class OneAtZero(torch.autograd.Function):
    """A rectifier whose derivative at 0 is 1."""

    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x.clamp(min=0) + 0 * x

    @staticmethod
    def backward(context, dy):
        x, = context.saved_tensors
        return dy * (x >= 0).to(dy.dtype)


def test_a_relu_with_another_derivative_at_zero():
    text = counterexample(OneAtZero.apply, "relu", like=torch, modes=["vjp"], dtypes=["f32"])
    assert re.search(r"^    x = f32\[.*\{-?0\}$", text, re.M) and "x~[0]: expected" in text and "like=torch" in text
    etalon.assert_conforms(F.relu, "relu", like=torch, dtypes=["f32"])


def test_derivatives_of_ones_own_are_held():
    def right(xs, ys):
        return (ys[0] * (xs[0] > 0),)

    def wrong(xs, ys):
        return (ys[0] * (xs[0] >= 0),)
    relu = lambda x: np.maximum(x, x.dtype.type(0))
    etalon.assert_conforms(relu, "relu", vjp=right, jvp=lambda xs, dxs: dxs[0] * (xs[0] > 0), dtypes=["f32"])
    assert "x~[0]" in counterexample(relu, "relu", vjp=wrong, dtypes=["f32"])
    assert "y'[0]" in counterexample(relu, "relu", jvp=lambda xs, dxs: dxs[0] * (xs[0] >= 0), dtypes=["f32"])


def test_a_derivative_that_takes_nothing_does_not_pass():
    def vjp(xs, ys):
        raise NotImplementedError("not yet")
    text = counterexample(np.negative, "neg", vjp=vjp, dtypes=["f32"])
    assert "nothing was compared in mode vjp" in text and "unsupported: not yet" in text


def test_keywords_of_others():
    etalon.assert_conforms(torch.softmax, "softmax", like=torch, rename={"axis": "dim"}, dtypes=["f32"])
    etalon.assert_conforms(F.log_softmax, "log_softmax", like=torch, rename={"axis": "dim", "x": "input"}, dtypes=["f32"], modes=["forward"])


def test_what_it_cannot_take_is_unsupported():
    def along_the_last(x, axis):
        if axis != x.ndim - 1:
            raise NotImplementedError("the last axis only")
        return softmax(x, axis)
    etalon.assert_conforms(along_the_last, "softmax", dtypes=["f32"])
    report = etalon.conform({"softmax": along_the_last}, dtypes=["f32"])
    refused = [r for r in report.records if r.verdict == "unsupported"]
    assert refused and all(r.why == "the last axis only" for r in refused) and report.conforms


@pytest.mark.parametrize("fn, reason", [
    (lambda x: x, "unexpected keyword argument 'axis'"),
    (lambda: 0, "too many positional arguments"),
])
def test_what_takes_nothing_does_not_pass(fn, reason):
    text = counterexample(fn, "softmax")
    assert "nothing was compared" in text and reason in text


def raises(x, axis):
    raise ValueError("out of order\nat all")


def writes(x, axis):
    y = softmax(x, axis)
    x *= 0
    return y


def remembers(x, axis, seen={}):
    return seen.setdefault(x.shape, softmax(x, axis))


def answers_differently(x, axis, count=[0]):
    count[0] += 1
    return softmax(x, axis) * (1 + (count[0] % 2) * x.dtype.type(1e-7))


@pytest.mark.parametrize("fn, words", [
    (raises, "failed: ValueError: out of order, at "),
    (writes, "it wrote to its operand x"),
    (lambda x, axis: None, "outputs: expected an array each, found None"),
    (lambda x, axis: 0.5, "outputs[0]: expected an array"),
    (lambda x, axis: softmax(x, axis).astype(np.int8), "expected an element type among"),
    (lambda x, axis: (softmax(x, axis),) * 2, "expected 1 results, found 2"),
    (lambda x, axis: softmax(x, axis).sum(axis, dtype=x.dtype), "expected f"),
    (lambda x, axis: softmax(x, axis).astype(np.float16), "expected f"),
    (lambda x, axis: x * x.dtype.type(np.nan), "got nan"),
    (lambda x, axis: x, "expected in"),
    (remembers, "y["),
    (answers_differently, "expected in"),
    (lambda x, axis: softmax(x, axis).T.copy().T, None),
    (lambda x, axis: softmax(x, axis)[...], None),
])
def test_what_callables_do(fn, words):
    if words is None:
        etalon.assert_conforms(fn, "softmax", dtypes=["f32"])
    else:
        assert words in counterexample(fn, "softmax", dtypes=["f32", "f64"])


def test_a_view_of_an_operand_is_an_answer():
    etalon.assert_conforms(lambda x, axis1, axis2: np.swapaxes(x, axis1, axis2), "swap_axes", dtypes=["f32"])


def test_16_bits_of_pytorch():
    etalon.assert_conforms(torch.neg, "neg", like=torch, dtypes=["bf16"], modes=["forward"])
    text = counterexample(lambda x: -x * 2, "neg", like=torch, dtypes=["bf16"], modes=["forward"])
    assert "bf16[" in text


def test_waivers_are_those_of_the_command():
    waiver = {"operation": "softmax", "reason": "it overflows", "expires": "2999-01-01"}
    etalon.assert_conforms(naive, "softmax", waivers=[waiver], dtypes=["f32"])
    with pytest.raises(ValueError, match="waivers"):
        etalon.assert_conforms(naive, "softmax", waivers=[{"operation": "softmax"}])


def test_a_report(tmp_path, capsys):
    seen = []
    report = etalon.conform({"softmax": naive, "neg": np.negative}, dtypes=["f32"], on_record=seen.append)
    assert not report.conforms and report.status == 1
    assert {r.id for r in report.records} == {r.id for r in seen} and len(seen) == sum(v for k, v in report.totals.items() if k != "comparisons")
    assert {r.operation for r in report.records if r.verdict == "fail"} == {"softmax"}
    report.show()
    assert report.conclusion in capsys.readouterr().out
    report.html(tmp_path / "r.html"), report.junit(tmp_path / "r.xml"), report.json(tmp_path / "r.jsonl")
    assert "etalon.replay(&#39;softmax" in (page := (tmp_path / "r.html").read_text()) or "etalon.replay('softmax" in page
    assert "<testsuite" in (tmp_path / "r.xml").read_text()
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert kinds[0] == "header" and kinds.count("result") == len(seen)
    assert "<iframe" in report._repr_html_()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_progress_and_nothing_else_does(monkeypatch, capsys):
    functions = {"neg": lambda x: np.copy(x)}
    etalon.conform(functions, dtypes=["f32"], checks=["value"])
    assert capsys.readouterr().err == ""
    seen = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    report = etalon.conform(functions, dtypes=["f32"], checks=["value"], on_record=seen.append)
    lines = sys.stderr.getvalue().split("\r\x1b[K")
    assert lines[0] == lines[-1] == "" and len(lines) > 2 and len(seen) == len(report.records)
    name, cases, word, fail, what = lines[1].replace(":", "").replace(",", "").split()
    assert (name, word, what) == ("neg", "cases", "fail") and int(cases) == 1 and int(fail) in (0, 1)


def test_a_notebook_shows_progress_and_keeps_the_counts(monkeypatch):
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/plain"])

    def display(data, raw, display_id=None):
        shown.append(data["text/plain"])
        return Handle()

    python, within = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    python.get_ipython, python.display, within.display = lambda: types.SimpleNamespace(kernel=None), within, display
    monkeypatch.setitem(sys.modules, "IPython", python)
    monkeypatch.setitem(sys.modules, "IPython.display", within)
    report = etalon.conform({"neg": lambda x: np.copy(x)}, dtypes=["f32"], checks=["value"])
    bad = report.totals["fail"]
    assert bad > 0 and shown[0].startswith("neg: 1 cases") and shown[-1] == f"{len(report.records)} cases, {bad} fail"
    report.show()
    assert report.conclusion in shown[-1]


def test_a_module_is_held():
    class Functions:
        neg, relu = staticmethod(np.negative), staticmethod(lambda x: np.maximum(x, x.dtype.type(0)))
    report = etalon.conform(Functions, dtypes=["f32"])
    assert report.conforms and {r.operation for r in report.records} == {"neg", "relu"}


def test_the_same_seed_asks_the_same():
    ids = [[r.id for r in etalon.conform({"neg": np.negative}, seed=seed, dtypes=["f32"]).records] for seed in (1, 1, 2)]
    assert ids[0] == ids[1] != ids[2]
