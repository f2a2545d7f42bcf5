"""The adapter of adapter.py that also answers `script`: a request as a few lines of Python that need NumPy alone.

    etalon conform --backend 'exec:python3 conformance/adapters/numpy/scripts.py'

The rows of the table run as they are, on arrays that remember which call of NumPy made them."""
import builtins
import collections
import itertools
import json
import keyword
import math
import sys

import numpy as np

import adapter


class Failed(Exception):
    """A call that NumPy refuses: its function and arguments."""


class Written(np.ndarray):
    """An array that knows the call which made it, as function, operands and options; without one it is written as numbers."""
    call = None

    def __array_ufunc__(self, function, method, *operands, **options):
        if method != "__call__":
            raise adapter.Unsupported("request", f"a script of {function.__name__}.{method} is not offered")
        return made(function, operands, options)

    def __array_function__(self, function, types, operands, options):
        return made(function, operands, options)


def made(function, operands, options):
    try:
        result = function(*plain(operands), **plain(options))
    except Exception as failure:
        raise Failed(function, operands, options) from failure
    array = np.asarray(result).view(Written)
    array.call = (function, operands, options)
    return array


def plain(v):
    """What NumPy is given: without this the call would come back to us."""
    if isinstance(v, Written):
        return v.view(np.ndarray)
    if isinstance(v, (list, tuple)):
        return type(v)(map(plain, v))
    return {k: plain(item) for k, item in v.items()} if isinstance(v, dict) else v


def parts(v):
    """The arrays that a call is given, each as often as it stands there."""
    if isinstance(v, Written):
        return [v]
    items = v.values() if isinstance(v, dict) else v if isinstance(v, (list, tuple)) else []
    return [part for item in items for part in parts(item)]


def in_order(arrays, before):
    """The arrays that these are made of, and these, each after its parts."""
    for array in arrays:
        if not any(array is other for other in before):
            in_order(parts(array.call), before)
            before.append(array)
    return before


def type_text(dtype):
    return "bool" if dtype == bool else f"np.{np.dtype(dtype).name}"


def number(v, dtype):
    """A number as Python reads it, in the fewest digits that mean the same in this type."""
    if not isinstance(v, float):
        return repr(v)
    if not math.isfinite(v):
        return "np.nan" if math.isnan(v) else "np.inf" if v > 0 else "-np.inf"
    short = str(dtype.type(v))
    return short if dtype.type(float(short)) == v else repr(v)


def literal(x):
    """An expression that makes this array."""
    if x.size == 0:
        return f"np.zeros({x.shape}, {type_text(x.dtype)})"
    write = lambda v: "[" + ", ".join(map(write, v)) + "]" if isinstance(v, list) else number(v, x.dtype)
    return f"np.array({write(x.tolist())}, {type_text(x.dtype)})"


def argument(v, names):
    if isinstance(v, Written):
        return names[id(v)]
    if isinstance(v, (list, tuple)):
        items = ", ".join(argument(item, names) for item in v)
        return f"[{items}]" if isinstance(v, list) else f"({items},)" if len(v) == 1 else f"({items})"
    if isinstance(v, np.ndarray):
        return literal(v)
    if isinstance(v, np.generic):
        return f"{type_text(v.dtype)}({number(v.item(), v.dtype)})"
    return type_text(v) if isinstance(v, (np.dtype, type)) else number(v, np.dtype(float))


def call_text(call, names):
    function, operands, options = call
    # What NumPy calls amax and round_ in some versions has a better name as well.
    name = min((name for name, value in vars(np).items() if value is function), key=len)
    return f"np.{name}(" + ", ".join([*(argument(v, names) for v in operands), *(f"{k}={argument(v, names)}" for k, v in options.items())]) + ")"


def fresh(wish, taken):
    """A name that is free, and taken from now on."""
    base = wish if wish.isidentifier() else "x"
    numbered = (f"{base}{k}" for k in itertools.count(1))
    name = next(name for name in itertools.chain([base], numbered) if name not in taken)
    taken.add(name)
    return name


def lines_of(printed, wishes):
    """The lines that make these arrays, and how each array is written after them."""
    wanted = in_order(printed, [])
    uses = collections.Counter(map(id, printed + [part for array in wanted for part in parts(array.call)]))
    names, lines, taken = {}, [], {"np", *keyword.kwlist, *dir(builtins)}
    for array in wanted:
        text = call_text(array.call, names) if array.call else literal(array)
        if array.call or uses[id(array)] > 1:
            name = fresh(wishes.get(id(array), "v"), taken)
            lines.append(f"{name} = {text}")
            text = name
        names[id(array)] = text
    return lines, names


def script(request):
    """The text of the script; it ends with the call that fails, if one does."""
    inputs = [adapter.decoded(t).view(Written) for t in request["inputs"]]
    wishes = {id(x): declared["name"] for x, declared in zip(inputs, request["program"]["inputs"])}
    shown, failed = request.get("element"), None
    try:
        outputs = adapter.run(request, inputs)
        printed = [outputs[shown["tensor"]]] if shown else outputs
    except Failed as failure:
        failed = failure.args
        printed = parts(failed)
    lines, names = lines_of(printed, wishes)
    element = f".item({shown['element']})" if shown else ".tolist()"
    ends = [call_text(failed, names)] if failed else [f"print({names[id(array)]}{element})" for array in printed]
    return "\n".join(["import numpy as np", *lines, *ends]) + "\n"


def answer(request):
    if request["request"] == "describe":
        return {**adapter.answer(request), "scripts": True}
    if request["request"] != "script":
        return adapter.answer(request)
    try:
        return {"id": request["id"], "script": script(request)}
    except adapter.Unsupported as gap:
        return {"id": request["id"], "unsupported": {"what": gap.args[0], "why": gap.args[1]}}
    except Exception as failure:
        return {"id": request["id"], "error": f"{type(failure).__name__}: {failure}"}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
