"""Intervals of some elements alone, and of all, chunk after chunk."""
import subprocess
import sys

import numpy as np
import pytest

import etalon

X = np.random.default_rng(7).normal(size=(5, 8)).astype(np.float32)
AT = [(4, 7), (0, 0), (2, -1), (2, 3)]
PLACES = tuple(np.transpose([(i, j % 8) for i, j in AT]))


def test_some_elements_are_those_of_the_whole():
    whole, some = etalon.interval("softmax", X), etalon.interval("softmax", X, at=AT)
    assert some.lower.shape == (4,) and (whole.flags == 1).all() and (some.flags == 1).all()
    assert (some.lower == whole.lower[PLACES]).all() and (some.upper == whole.upper[PLACES]).all()
    assert len(some.ways) == len(whole.ways) > 1
    for (low, high, _), (all_low, all_high, _) in zip(some.ways, whole.ways):
        assert (low == all_low[PLACES]).all() and (high == all_high[PLACES]).all()


def test_some_elements_are_judged():
    y = etalon.value("softmax", X)[PLACES]
    some = etalon.interval("softmax", X, at=AT)
    assert some.judge(y).passed and some.judge(y).comparisons == 4
    wrong = y.copy()
    wrong[2] *= np.float32(1.001)
    assert some.judge(wrong).verdict == "fail" and "y[2]" in some.judge(wrong).offender
    assert not some.judge(y[:3]).passed and not some.judge(y.astype(np.float64)).passed and not some.judge(np.full(4, np.nan, np.float32)).passed


def test_some_elements_of_derivatives():
    x, dy = np.float32([-1, 0, 2]), np.float32([3, 5, 7])
    back = etalon.interval("relu", x, cotangents=dy, at=[2, 1])
    assert back.lower.tolist() == [7, 0] and back.upper.tolist() == [7, 0]
    assert back.judge(np.float32([7, 0])).passed and not back.judge(np.float32([7, 5])).passed
    along = etalon.interval("relu", x, tangents=(dy,), at=[2])
    assert along.judge(np.float32([7])).passed and not along.judge(np.float32([3])).passed


def test_some_elements_of_several_tensors():
    p, g, m = np.float32([1, 2]), np.float32([4, 8]), np.float32([0, 0])
    some = etalon.interval("sgd", p, g, m, np.int64(1), lr=0.5, momentum=0.0, at=([1], [0, 1]))
    assert [low.tolist() for low in some.lower] == [[-2], [4, 8]]
    assert some.judge(np.float32([-2]), np.float32([4, 8])).passed and not some.judge(np.float32([-2]), np.float32([4, 9])).passed
    product = etalon.interval("mul", np.float32([2, 3]), np.float32([5, 7]), cotangents=np.float32([1, 1]), at=(None, [1]))
    assert product.upper[1].tolist() == [3] and product.upper[0].tolist() == []


def test_integers_and_scalars():
    found = etalon.interval("argmax", X, axes=[1], at=[3])
    assert found.lower.tolist() == [int(X[3].argmax())] == found.upper.tolist()
    total = etalon.interval("mse", np.float32([1, 2]), np.float32([1, 4]), at=[()])
    assert total.lower.shape == (1,) and total.lower[0] <= 2 <= total.upper[0]


@pytest.mark.parametrize("at, words", [
    ([(5, 0)], "expected an index below 5 in axis 0, found 5"), ([(0, -9)], "expected an index below 8 in axis 1, found -9"),
    ([3], "expected 2 indices, found 1"), ([(1, 2, 3)], "expected 2 indices, found 3"), (([(0, 0)], [(0, 0)]), "expected a tuple of 1 lists"),
])
def test_elements_that_are_not_there(at, words):
    with pytest.raises(ValueError) as raised:
        etalon.interval("softmax", X, at=at)
    assert words in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("at", [[], [0.5], "ab", [[[0, 0]]], 3])
def test_no_list_of_indices(at):
    with pytest.raises(TypeError, match="at: expected"):
        etalon.interval("softmax", X, at=at)


@pytest.mark.parametrize("chunk", [1, 7, 8, 40, 1000])
def test_chunks_are_the_whole(chunk):
    whole, lower, places = etalon.interval("softmax", X), [], []
    for at, bound in etalon.intervals("softmax", X, chunk=chunk):
        assert 0 < len(at) <= chunk and bound.lower.shape == (len(at),)
        lower += bound.lower.tolist()
        places += at.tolist()
    assert lower == whole.lower.ravel().tolist() and places == [[i, j] for i in range(5) for j in range(8)]


def test_chunks_that_are_none():
    assert [at.shape for at, _ in etalon.intervals("sum", np.zeros((2, 2), np.float32), axes=[0, 1], keepdims=False)] == [(1, 0)]
    assert list(etalon.intervals("neg", np.zeros((0, 3), np.float32))) == []
    for chunk in (0, -1):
        with pytest.raises(ValueError, match="chunk of at least 1"):
            next(etalon.intervals("neg", np.float32([1]), chunk=chunk))
    with pytest.raises(ValueError, match="one result"):
        next(etalon.intervals("sgd", np.float32([1]), np.float32([1]), np.float32([0]), np.int64(1), lr=0.5))


LIMITED = """
import resource, sys, numpy as np, etalon
x = np.random.default_rng(1).normal(size=(1024, 16)).astype(np.float32)
list(etalon.intervals("softmax", x[:4], chunk=64))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (14 << 20),) * 2)
try:
    if sys.argv[1] == "whole":
        etalon.interval("softmax", x)
    else:
        assert sum(int((bound.flags == 1).sum()) for _, bound in etalon.intervals("softmax", x, chunk=512)) == x.size
    print("enough")
except MemoryError:
    print("too little")
"""


@pytest.mark.parametrize("how, found", [("streamed", "enough\n"), ("whole", "too little\n")])
def test_chunks_take_little_memory(how, found):
    done = subprocess.run([sys.executable, "-c", LIMITED, how], capture_output=True, text=True)
    assert done.stdout == found, done.stderr
