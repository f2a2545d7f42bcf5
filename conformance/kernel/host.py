"""The process that runs a kernel in Python: reads calls as lines of words, answers each with one line. It holds nothing of what
is expected. Usage: host.py KERNEL.py FUNCTION numpy|torch"""
import importlib.util
import os
import sys

import numpy

DTYPES = ["float16", None, "float32", "float64", "int32", "int64", "bool"]  # in the order of spec/backend.h
NAMES = {"float16": 0, "bfloat16": 1, "float32": 2, "float64": 3, "int32": 4, "int64": 5, "bool": 6}
BFLOAT16 = 1
path, name, like = sys.argv[1:]
torch = None
if like == "torch":
    import torch


class Broken(Exception):
    """The answer is none."""


class Words:
    def __init__(self, line):
        self.words = iter(line.split())

    def text(self):
        return next(self.words)

    def integer(self):
        return int(next(self.words))

    def integers(self, count):
        return [self.integer() for _ in range(count)]


def strided(buffer, dtype, shape, strides, offset):
    """The tensor that lies in the buffer, as NumPy's array that may not be written to."""
    code = numpy.dtype(DTYPES[dtype] or "int16")
    array = numpy.ndarray(shape, code, buffer, offset, [s * code.itemsize for s in strides])
    array.flags.writeable = False
    return array


def operand(words):
    """An operand as the kernel gets it, and how to see that it is what it was; None for an absent one."""
    dtype = words.integer()
    if dtype < 0:
        return None, lambda: True
    rank = words.integer()
    shape, strides = words.integers(rank), words.integers(rank)
    offset, _, data = words.integer(), words.integer(), words.text()
    sent = bytes.fromhex("" if data == "-" else data)
    if torch is None:
        buffer = sent or bytes(8)
        return strided(buffer, dtype, shape, strides, offset), lambda: not sent or buffer == bytes.fromhex(data)
    buffer = numpy.frombuffer(bytearray(sent or bytes(8)), DTYPES[dtype] or "int16")
    flat = torch.from_numpy(buffer)
    flat = flat.view(torch.bfloat16) if dtype == BFLOAT16 else flat
    return flat.as_strided(shape, strides, offset // buffer.itemsize), lambda: not sent or buffer.tobytes() == sent


def attribute(words):
    name, kind = words.text(), words.integer()
    if kind == 0:
        return name, words.integer()
    if kind == 1:
        return name, float.fromhex(words.text())
    if kind == 2:
        return name, words.integer() != 0
    if kind == 3:
        return name, words.text()
    count = words.integer()
    return name, words.integers(count) if kind == 4 else [float.fromhex(words.text()) for _ in range(count)]


def grouped(operands, groups):
    """Operands as they are declared: one each, or a list for a pack."""
    rest = iter(operands)
    return [next(rest) if length < 0 else [next(rest) for _ in range(length)] for length in groups]


def plain(result):
    """Its element type, extents and bytes."""
    if torch is not None and isinstance(result, torch.Tensor):
        dtype = str(result.dtype).replace("torch.", "")
        result = result.detach().contiguous()
        array = (result.view(torch.int16) if dtype == "bfloat16" else result).numpy()
    else:
        array = numpy.asarray(result)
        dtype = array.dtype.name
    if dtype not in NAMES:
        raise Broken(f"a result has elements of {dtype}")
    return NAMES[dtype], array.shape, numpy.ascontiguousarray(array).tobytes().hex() or "-"


def answered(function, words):
    words.integer()  # what results hold before; here the kernel makes them
    given = [operand(words) for _ in range(words.integer())]
    for _ in range(words.integer()):
        words.integer()
        words.integers(words.integer())
        words.integer()
    attributes = dict(attribute(words) for _ in range(words.integer()))
    try:
        results = function(*grouped([x for x, _ in given], words.integers(words.integer())), **attributes)
    except NotImplementedError as why:
        return "declined " + (str(why) or "NotImplementedError").split("\n")[0]
    for at, (_, unchanged) in enumerate(given):
        if not unchanged():
            raise Broken(f"wrote to operand {at}")
    texts = ["done"]
    for result in results if isinstance(results, (list, tuple)) else [results]:
        dtype, shape, data = plain(result)
        texts.append(" ".join(map(str, [dtype, len(shape), *shape, data])))
    return " ".join(texts)


def load():
    spec = importlib.util.spec_from_file_location("kernel", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernel"] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def line_of(error):
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:500]


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the kernel prints goes to the log
    function = None
    for line in sys.stdin:
        words = Words(line)
        try:
            if words.text() == "hello":
                function = load()
                text = "ready"
            else:
                text = answered(function, words)
        except Broken as error:
            text = f"broken {error}"
        except Exception as error:  # of the kernel
            text = f"broken {line_of(error)}"
        answers.write(text + "\n")
        answers.flush()


main()
