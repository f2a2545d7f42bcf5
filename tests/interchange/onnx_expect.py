"""Calls of `expect` that are exported, run as ONNX's generator of tests runs them, which stands here in its outline: what is
called with which numbers, held against NumPy's. Usage: onnx_expect.py ETALON; without NumPy it is skipped."""
import pathlib
import subprocess
import sys
import tempfile
import types

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from checks import Checks  # noqa: E402

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)

etalon, check, calls = str(pathlib.Path(sys.argv[1]).resolve()), Checks(), []


class Base:
    pass


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
    return made


def expect(node, inputs, outputs, name, **kwargs):
    calls.append((node, inputs, outputs, name, kwargs))


helper = module("onnx.helper", make_node=lambda operation, inputs, outputs, **attributes: (operation, inputs, outputs, attributes),
                make_opsetid=lambda domain, version: (domain, version))
module("onnx", helper=helper)
for parent in ("backend", "backend.test", "backend.test.case"):
    module(f"onnx.{parent}")
module("onnx.backend.test.case.base", Base=Base)
module("onnx.backend.test.case.node", expect=expect)

with np.errstate(all="ignore"):
    meant = {"Exp": np.exp, "Neg": np.negative, "Less": np.less, "Max": np.maximum, "Transpose": lambda x, perm: np.transpose(x, perm)}


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


meant["Softmax"] = softmax
with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch) / "calls"
    asked = ["export", "onnx", folder, "--ops", "exp,neg,lt,maximum,transpose,softmax", "--expect"]
    done = subprocess.run([etalon, *asked], capture_output=True, text=True)
    check(done.returncode == 0 and done.stderr == "", done)
    written = sorted(p.name for p in folder.iterdir())
    check(written == ["exp.py", "less.py", "max.py", "neg.py", "softmax.py", "transpose.py"], written)
    for path in folder.iterdir():
        scope = {}
        exec(compile(path.read_text(), str(path), "exec"), scope)
        classes = [c for c in scope.values() if isinstance(c, type) and issubclass(c, Base) and c is not Base]
        check(len(classes) == 1, f"{path.name}: {classes}")
        classes[0].export()
    names = [name for _, _, _, name, _ in calls]
    check(len(set(names)) == len(names) > 50 and f"{len(names)} calls of expect" in done.stdout, f"{len(names)} calls: {done.stdout}")
    compared = 0
    for (operation, operands, results, attributes), inputs, outputs, name, kwargs in calls:
        check(len(inputs) == len(operands) and len(outputs) == len(results) == 1 and name.startswith("test_"), name)
        check(set(kwargs) == {"opset_imports"} and kwargs["opset_imports"] in ([("", 17)], [("", 13)]), f"{name}: {kwargs}")
        if operation == "Max" and len(inputs) != 2 or outputs[0].size == 0:
            continue
        wide = [x.astype(np.float64) if x.dtype.kind == "f" else x for x in inputs]
        with np.errstate(all="ignore"):
            found = meant[operation](*wide, **attributes)
        y = outputs[0]
        check(found.shape == y.shape and (y.dtype == np.bool_) == (found.dtype == np.bool_), f"{name}: {y.dtype} {y.shape}")
        for a, b in zip(found.ravel().tolist(), y.ravel().tolist()):
            compared += 1
            # Numbers are rounded to the type.
            near = a == b if isinstance(b, (bool, int)) else abs(a - b) <= 1e-44 + 2**-22 * abs(a)
            check(near, f"{name}: expected {a}, found {b}")
    check(compared > 200, f"{compared} numbers compared")
    seen = {operation for (operation, _, _, _), *_ in calls}
    check(seen == set(meant), seen)
    done = subprocess.run([etalon, "export", "onnx", folder / "none", "--ops", "exp", "--dtypes", "bf16", "--expect"], capture_output=True,
                          text=True)
    check(done.returncode == 2 and done.stderr.count("\n") == 1 and not (folder / "none").exists(), done)
sys.exit(check.status(200, f"{len(calls)} calls", f"{compared} numbers"))
