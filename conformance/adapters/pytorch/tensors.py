"""Tensors as the protocol writes them, and as PyTorch holds them: strides and offsets become real ones."""
import base64

import numpy
import torch

from table import Unsupported

DTYPES = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32, "i64": torch.int64, "bool": torch.bool}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
LITTLE = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8", "bool": "?"}


def dtype_of(name):
    if name not in DTYPES:
        raise Unsupported("dtype", f"{name} is not offered")
    return DTYPES[name]


def decoded(t):
    """A tensor that owns its memory; None stays None."""
    if t is None:
        return None
    dtype = dtype_of(t["dtype"])
    flat = torch.from_numpy(numpy.frombuffer(base64.b64decode(t["data"]), LITTLE[t["dtype"]]).copy()).to(dtype)
    if "strides" in t or "offset" in t:
        if any(stride < 0 for stride in t.get("strides", [])):
            raise Unsupported("layout", "PyTorch has no negative strides")
        dense = [int(numpy.prod(t["shape"][axis + 1:])) for axis in range(len(t["shape"]))]
        return flat.as_strided(t["shape"], t.get("strides", dense), t.get("offset", 0))
    return flat.reshape(t["shape"])


def encoded(x):
    """The dense form of a tensor; None stays None."""
    if x is None:
        return None
    x = x.detach().resolve_conj().resolve_neg().contiguous()
    if x.dtype not in NAMES:
        raise TypeError(f"an answer of {x.dtype}")
    name = NAMES[x.dtype]
    data = x.numpy().astype(LITTLE[name], copy=False).tobytes()
    return {"dtype": name, "shape": list(x.shape), "data": base64.b64encode(data).decode()}
