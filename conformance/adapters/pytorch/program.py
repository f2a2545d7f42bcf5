"""A program, call by call: each operand is a value by name, each operation a row of the table."""
import types

import tensors
from table import ROWS, Rejected, Unsupported, refusal

NUMBERS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def attribute(name, value):
    if isinstance(value, dict):
        raise Unsupported("attribute", f"{name} from a value of the program")
    if isinstance(value, list):
        return [attribute(name, v) for v in value]
    if isinstance(value, str):
        return int(value) if value.lstrip("-").isdigit() else NUMBERS.get(value, value)
    return value


def call(step, values, differentiates):
    """Adds the results of one call to the values."""
    operation = step.get("operation")
    if operation not in ROWS:
        raise Unsupported("operation", f"{operation} is not an operation of PyTorch that this adapter knows"
                          if operation else "programs of calls only")
    row = ROWS[operation]
    if differentiates and not row.differentiable:
        raise Unsupported("mode", f"PyTorch has {operation}, but does not differentiate it")
    attributes = types.SimpleNamespace(**{k: attribute(k, v) for k, v in step["attributes"].items()})
    operands = [None if name is None else values[name] for name in step["operands"]]
    try:
        results = row.function(attributes, *operands)
    except (RuntimeError, ValueError, IndexError, TypeError, ArithmeticError) as error:
        raise refusal(error) from error
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    if len(results) != len(step["results"]):
        raise Rejected(f"{operation} has {len(results)} results, not {len(step['results'])}")
    values.update(zip(step["results"], results))


def run(program, inputs, differentiates):
    """The outputs of the program on these inputs."""
    if "buffers" in program:
        raise Unsupported("request", "programs that assign")
    values = {declared["name"]: x for declared, x in zip(program["inputs"], inputs)}
    for step in program["calls"]:
        call(step, values, differentiates)
    return [values[name] for name in program["outputs"]]


def real(x):
    return x is not None and x.dtype in (tensors.DTYPES["f32"], tensors.DTYPES["f64"])
