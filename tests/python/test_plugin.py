"""The plug-in of pytest, which loads by its entry point, and strategies of Hypothesis."""
import re
import subprocess
import sys
import xml.etree.ElementTree

import numpy as np
import pytest

import etalon

hypothesis = pytest.importorskip("hypothesis")

TESTS = '''
import numpy as np
import pytest

@pytest.mark.etalon("neg", "relu", dtypes=["f32"], checks=["value"])
def test_right(etalon_case):
    fn = {"neg": np.negative, "relu": lambda x: np.maximum(x, x.dtype.type(0))}[etalon_case.op]
    etalon_case.assert_conforms(fn)

@pytest.mark.etalon("softmax", dtypes=["f32"], checks=["value"])
def test_zeros(etalon_case):
    etalon_case.assert_conforms(lambda x, axis: np.zeros_like(x))

@pytest.mark.etalon("softmax", dtypes=["f32"], checks=["value"], waivers={"softmax": "not yet"})
def test_waived(etalon_case):
    etalon_case.assert_conforms(lambda x, axis: x / x * 2)

@pytest.mark.etalon("neg", dtypes=["f32"], checks=["value"])
def test_nothing(etalon_case):
    def fn(x):
        raise NotImplementedError("nothing yet")
    etalon_case.assert_conforms(fn)
'''


def run(folder, *words):
    (folder / "test_mine.py").write_text(TESTS)
    report = folder / "report.xml"
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *words, "test_mine.py"], cwd=folder,
                          capture_output=True, text=True)
    return done, list(xml.etree.ElementTree.parse(report).iter("testcase")) if report.exists() else []


def of(tests, name):
    return [t for t in tests if t.get("name").startswith(name)]


def test_a_test_per_case(tmp_path):
    done, tests = run(tmp_path)
    right, zeros, waived, nothing = (of(tests, name) for name in ("test_right", "test_zeros", "test_waived", "test_nothing"))
    assert right and all(t.find("failure") is None and t.find("skipped") is None for t in right)
    failed = [t for t in zeros if t.find("failure") is not None]
    assert failed and "expected in" in failed[0].find("failure").text and "etalon.replay('softmax.value" in failed[0].find("failure").text
    assert waived and any(t.find("skipped") is not None and "not yet" in t.find("skipped").get("message") for t in waived)
    assert nothing and all("nothing yet" in t.find("skipped").get("message") for t in nothing)
    properties = {p.get("name"): p.get("value") for p in right[0].iter("property")}
    assert properties["etalon_operation"] == "neg" and properties["etalon_dtype"] == "f32" and properties["etalon_check"] == "value"
    assert re.fullmatch(r"neg\.value\.f32\.\d{4}@1-[0-9a-f]{8}", properties["etalon_id"]) and done.returncode == 1


def test_tier_and_seed(tmp_path):
    quick, full = (run(tmp_path, "-k", "test_right", *words)[1] for words in ((), ("--etalon-tier=full", "--etalon-seed=7")))
    assert len(full) > len(quick) and all("@7-" in t.get("name") for t in full)


def test_a_fixture_without_a_mark_is_a_usage_error(tmp_path):
    (tmp_path / "test_other.py").write_text("def test_it(etalon_case):\n    pass\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_other.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0 and "etalon_case needs @pytest.mark.etalon" in done.stdout + done.stderr


def test_strategies_find_and_shrink():
    from etalon.strategies import case
    settings = hypothesis.settings(database=None, deadline=None, max_examples=200, derandomize=True)

    @settings
    @hypothesis.given(case("neg", dtypes=["f32"], checks=["value"]))
    def right(drawn):
        drawn.assert_conforms(np.negative)
    right()

    @settings
    @hypothesis.given(case("relu", dtypes=["f32"], checks=["value"]))
    def wrong(drawn):
        drawn.assert_conforms(np.abs)
    with pytest.raises(AssertionError, match=r"etalon\.replay\('relu\.value"):
        wrong()


def test_a_case_shows_its_numbers():
    from etalon.cases import ids
    shown = str(etalon.Case(ids("softmax", dtypes=["f32"], checks=["value"])[0]))
    assert "x = f32[" in shown and "softmax(x[..rest, n @ axis])" in shown
