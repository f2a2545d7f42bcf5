"""What is wrong is one exception of Python's own, with the name, what was expected and what was found."""
import ctypes

import numpy as np
import pytest

import etalon


@pytest.mark.parametrize("x, found", [
    (np.zeros(2, ">f4"), ">f4"),
    (np.array([1, "a"], object), "O"),
    (np.zeros(2, np.int8), "int8"),
    (np.zeros(2, np.complex64), "complex64"),
    (np.array(["a"]), "U1"),
    (np.zeros(2, "f4,f4"), "f4"),
    ([1.0, 2.0], "list"),
    ("text", "str"),
    (1.5, "float"),
    ((ctypes.c_char * 3)(), "'<c'"),
    (b"bytes", "'B'"),
])
def test_arrays_that_are_none(x, found):
    with pytest.raises(TypeError) as raised:
        etalon.value("softmax", x)
    words = str(raised.value)
    assert words.startswith("softmax: operand x: expected ") and found in words and "\n" not in words


def test_too_many_axes():
    with pytest.raises(TypeError, match=r"operand x: expected at most 8 axes, found 9"):
        etalon.value("softmax", np.zeros((1,) * 9, np.float32))


def test_a_tensor_of_another_device():
    class Elsewhere:
        def __dlpack__(self):
            raise RuntimeError("no memory here")
    with pytest.raises(RuntimeError, match="no memory here"):
        etalon.value("neg", Elsewhere())


@pytest.mark.parametrize("words, op, operands, attributes", [
    ("softmax2", "softmax2", ["x"], {}),
    ("axis", "softmax", ["x"], {"axis": 7}),
    ("axes", "softmax", ["x"], {"axes": 0}),
    ("at most 1 operands, found 2", "softmax", ["x", "x"], {}),
])
def test_calls_that_are_none(words, op, operands, attributes):
    x = np.zeros(2, np.float32)
    with pytest.raises(ValueError) as raised:
        etalon.value(op, *[x for _ in operands], **attributes)
    assert words in str(raised.value) and "\n" not in str(raised.value)


def test_nothing_is_promoted():
    with pytest.raises(ValueError, match="f64"):
        etalon.value("add", np.float32([1]), np.float64([1]))
    with pytest.raises(ValueError, match="3"):
        etalon.value("matmul", np.zeros((2, 3), np.float32), np.zeros((4, 2), np.float32))


def test_seeds_that_do_not_fit():
    x = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match=r"\[2\]"):
        etalon.vjp("softmax", x, np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="expected 1 cotangents, found 2"):
        etalon.vjp("softmax", x, [x, x])
    with pytest.raises(ValueError, match="at most 1 tangents"):
        etalon.jvp("softmax", x, (x, x))
    with pytest.raises(TypeError, match="found both"):
        etalon.interval("softmax", x, tangents=(x,), cotangents=x)


def test_attributes_that_are_none():
    x = np.zeros(2, np.float32)
    for wrong in ({"axis": None}, {"axis": object()}, {"axis": 2**80}):
        with pytest.raises(TypeError, match="^attribute axis: expected"):
            etalon.value("softmax", x, **wrong)


def test_a_definition_names_the_place():
    with pytest.raises(ValueError) as raised:
        etalon.define("mine(x[n]) -> y[n]\n  y[i] = z[i]\n")
    assert str(raised.value).startswith("definition:2:10: ")
    with pytest.raises(ValueError):
        etalon.define("")
    with pytest.raises(ValueError, match="softmax"):
        etalon.define("softmax(x[n]) -> y[n]\n  y[i] = x[i]\n")


def test_a_program_names_the_place():
    with pytest.raises(ValueError) as raised:
        etalon.program("input x : f32[2]\ny = softmaxx(x)\noutput y\n")
    assert "program:2" in str(raised.value) and "softmaxx" in str(raised.value)
    program = etalon.program("input x : f32[2]\ny = neg(x)\noutput y\n")
    with pytest.raises(ValueError, match=r"input x : f32\[2\] is missing"):
        program.run()
    with pytest.raises(ValueError, match="no input z"):
        program.run(x=np.zeros(2, np.float32), z=np.zeros(2, np.float32))
    with pytest.raises(ValueError, match=r"f32\[3\]"):
        program.run(x=np.zeros(3, np.float32))


def test_contracts_and_words_that_are_none():
    x = np.zeros(2, np.float32)
    with pytest.raises(ValueError, match="ieeee"):
        etalon.interval("exp", x, contract="ieeee")
    with pytest.raises(OSError):
        etalon.interval("exp", x, contract="no/such.json")
    with pytest.raises(ValueError, match="contract: "):
        etalon.interval("exp", x, contract={"default_function": {"k0": "much"}})
    for words in ({"tier": "all"}, {"modes": ["backward"]}, {"checks": ["speed"]}, {"contract": "mine"}):
        with pytest.raises(ValueError, match=next(iter(words.values()))[0] if isinstance(next(iter(words.values())), list) else next(iter(words.values()))):
            etalon.assert_conforms(np.negative, "neg", **words)
    with pytest.raises(TypeError, match="like: expected numpy or torch, found jax"):
        etalon.assert_conforms(np.negative, "neg", like="jax")
    with pytest.raises(ValueError, match="no callable for relu"):
        etalon.conform({"neg": np.negative}, ["relu"])
    with pytest.raises(ValueError, match="softmax"):
        etalon.replay("softmax.value.f32.0003@1-00000000", np.negative)
