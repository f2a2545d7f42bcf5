"""Arrays of others on their way in, and results in the arrays of who asked."""
import sys

import numpy


def torch_if_loaded():
    return sys.modules.get("torch")


def is_torch(x):
    torch = torch_if_loaded()
    return torch is not None and isinstance(x, torch.Tensor)


def plain(x):
    """The array in host memory that the library reads; a NumPy array is one."""
    if isinstance(x, numpy.ndarray) or not is_torch(x):
        return x
    x = x.detach().resolve_conj().resolve_neg()
    # DLPack has no truth values in this PyTorch.
    return x.numpy() if x.dtype == torch_if_loaded().bool and x.device.type == "cpu" else x


def plain_operand(x):
    return [plain(member) for member in x] if isinstance(x, (list, tuple)) else plain(x)


def first_tensor(operands):
    """The first array of the operands of a call."""
    for x in operands:
        for member in x if isinstance(x, (list, tuple)) else (x,):
            if member is not None:
                return member
    return None


def like(asked_by, results):
    """The results as PyTorch's where the operand that asked is one of PyTorch's; nothing is copied."""
    if not is_torch(asked_by):
        return results
    torch = torch_if_loaded()

    def tensor(x):
        if x is None or x.dtype == object:
            return x
        y = torch.from_numpy(x)
        return y.view(torch.bfloat16) if x.dtype == numpy.int16 else y
    return [tensor(x) for x in results]


def alone(results):
    """The result, or a tuple where there are several."""
    return results[0] if len(results) == 1 else tuple(results)
