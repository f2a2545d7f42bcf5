"""What a comparison with a fixed tolerance makes of a kernel: one shape, one seed, numbers in [0, 1), one call, NumPy's allclose.

The kernel runs in a process of its own, whose exit status is the result; that is all that such a harness sees.
"""
import ctypes
import importlib.util
import os
import resource
import signal
import subprocess
import time

import numpy as np

TOLERANCES = (1e-2, 1e-4)
DTYPES = {"float32": 2, "float64": 3}


class Tensor(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int32), ("rank", ctypes.c_int32), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("data", ctypes.c_void_p)]


class Result(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int32), ("rank", ctypes.c_int32), ("shape", ctypes.c_void_p), ("data", ctypes.c_void_p)]


class Attribute(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int32), ("count", ctypes.c_int32), ("integer", ctypes.c_int64),
                ("real", ctypes.c_double), ("symbol", ctypes.c_char_p), ("integers", ctypes.c_void_p), ("reals", ctypes.c_void_p)]


class Call(ctypes.Structure):
    _fields_ = [("operand_count", ctypes.c_int32), ("operands", ctypes.c_void_p), ("result_count", ctypes.c_int32),
                ("results", ctypes.c_void_p), ("attribute_count", ctypes.c_int32), ("attributes", ctypes.c_void_p),
                ("pack_count", ctypes.c_int32), ("packs", ctypes.c_void_p)]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# Of each operation: shapes and element type of the operands, one real attribute or none, and what NumPy makes of it.
OPERATIONS = {
    "row_softmax": ([(16, 256)], "float32", None, softmax),
    "softmax": ([(16, 256)], "float32", 1, softmax),
    "row_sum": ([(16, 256)], "float32", None, lambda x: x.sum(1)),
    "row_sum in f64": ([(16, 256)], "float64", None, lambda x: x.sum(1)),
    "row_norm": ([(16, 256)], "float32", None, lambda x: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)),
    "relu in f32,f16": ([(16, 256)], "float32", None, lambda x: np.maximum(x, 0)),
    "relu": ([(16, 256)], "float32", None, lambda x: np.maximum(x, 0)),
    "reciprocal": ([(16, 256)], "float32", None, lambda x: 1 / x),
    "neg": ([(16, 256)], "float32", None, np.negative),
    "scale": ([(16, 256)], "float32", 0.5, lambda x: x * np.float32(0.5)),
    "row_tenths": ([(16, 256)], "float32", None, lambda x: x * 0.3),
    "add": ([(16, 256), (16, 256)], "float32", None, np.add),
    "matmul": ([(16, 256), (256, 16)], "float32", None, np.matmul),
}


def question(operation):
    """The operands, and what is expected."""
    shapes, dtype, _, meaning = OPERATIONS[operation]
    draw = np.random.default_rng(0)
    operands = [draw.random(shape).astype(dtype) for shape in shapes]
    return operands, meaning(*(x.astype("float64") for x in operands)).astype(dtype)


def compiled(text, folder, name, *flags):
    """The library, which the headers in the folder are for."""
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    subprocess.run(["cc", "-O1", "-w", "-shared", "-fPIC", "-I", str(folder), *flags, "-o", str(library), str(source), "-lm"], check=True)
    return library


def called(library, operands, expected, attribute):
    """The result of one call of a library's kernel."""
    keep, result = [], np.empty_like(expected)

    def integers(values):
        keep.append((ctypes.c_int64 * (len(values) + 1))(*values))
        return ctypes.addressof(keep[-1])

    tensors = (Tensor * len(operands))()
    for at, x in enumerate(operands):
        tensors[at] = Tensor(DTYPES[x.dtype.name], x.ndim, integers(x.shape), integers([s // x.itemsize for s in x.strides]), x.ctypes.data)
    results = (Result * 1)(Result(DTYPES[result.dtype.name], result.ndim, integers(result.shape), result.ctypes.data))
    attributes = (Attribute * 1)(Attribute(b"by", 1, 1, int(attribute or 0), float(attribute or 0), None, None, None))
    call = Call(len(operands), ctypes.addressof(tensors), 1, ctypes.addressof(results), 0 if attribute is None else 1,
                ctypes.addressof(attributes), 0, integers([]))
    status = ctypes.CDLL(str(library)).kernel(ctypes.byref(call))
    return result if status == 0 else None


def answered(kernel, operation):
    operands, expected = question(operation)
    path, function = kernel
    if function is None:
        found = called(path, operands, expected, OPERATIONS[operation][2])
    else:
        spec = importlib.util.spec_from_file_location("kernel", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found = getattr(module, function)(*operands)
    return [found is not None and bool(np.allclose(found, expected, rtol=t, atol=t)) for t in TOLERANCES]


def passes(kernel, operation, seconds=20):
    """Per tolerance, whether the kernel passes. \\param kernel a library and None, or a file and a function"""
    child = os.fork()
    if child == 0:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (512 << 20),) * 2)
        status = 3
        try:
            status = sum((not passed) << at for at, passed in enumerate(answered(kernel, operation)))
        finally:
            os._exit(status)
    deadline = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.005)
    code = os.waitstatus_to_exitcode(status)
    return [code >= 0 and not code >> at & 1 for at in range(len(TOLERANCES))]
