"""A step's program as PyTorch computes it: its text is read, each of its operations is a function of PyTorch, its gradients are
autograd's and its updates torch.optim's. The table has what the programs of the shipped tasks call."""
import re

import numpy
import torch
import torch.nn.functional as F

from pytorch_optimizers import stepped
from table import Table
from trace_run import array

OPERATIONS = Table()  # functions of the operands, attributes by name
row = OPERATIONS.row
MULTIPLIERS, WEYL = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)  # of Philox4x32, Salmon and others, SC 2011


def philox(seed, step, stream, count):
    """The first words of a stream, as 64-bit numbers."""
    low = numpy.uint64(0xFFFFFFFF)
    blocks = numpy.arange((count + 3) // 4, dtype=numpy.uint64)
    c = [blocks & low, blocks >> numpy.uint64(32), numpy.full_like(blocks, step), numpy.full_like(blocks, stream)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        p0, p1 = c[0] * numpy.uint64(MULTIPLIERS[0]), c[2] * numpy.uint64(MULTIPLIERS[1])
        c = [(p1 >> numpy.uint64(32)) ^ c[1] ^ numpy.uint64(key[0]), p1 & low, (p0 >> numpy.uint64(32)) ^ c[3] ^ numpy.uint64(key[1]), p0 & low]
        key = [(k + w) & 0xFFFFFFFF for k, w in zip(key, WEYL)]
    return torch.from_numpy(numpy.stack(c, 1).reshape(-1)[:count].astype(numpy.int64))


def uniforms(seed, step, stream, count):
    return (philox(int(seed), int(step), stream, count) // 256).to(torch.float32) / 16777216


def permutation(count, seed, step, stream=2):
    """The order of an epoch's rows: Fisher and Yates' shuffle from a stream, of which 2 is that of shuffles."""
    words = philox(seed, step, stream, 2 * count + 2).numpy().astype(object)
    order = list(range(count))
    for left in range(count, 1, -1):
        at = (words[2 * left] | words[2 * left + 1] << 32) % left
        order[left - 1], order[at] = order[at], order[left - 1]
    return order


for name in ("mul", "add", "sub", "div"):
    OPERATIONS[name] = getattr(torch, name)
OPERATIONS |= {"relu": torch.relu, "linear": F.linear}


@row
def cast(x, dtype):
    return x.to(torch.float32) if dtype == "f32" else x.to(torch.int64)


@row
def gather(x, at, axis):
    return x.select(axis, int(at))


@row
def reshape(x, shape):
    return x.reshape(shape)


@row
def uniform(seed, step, dtype, high, low, shape, stream):
    return (low + (high - low) * uniforms(seed, step, stream, int(numpy.prod(shape)))).reshape(shape)


@row
def dropout(x, seed, step, p, stream):
    dropped = (philox(int(seed), int(step), stream, x.numel()) + 1 <= p * 4294967296).reshape(x.shape)
    return torch.where(dropped, torch.zeros(()), x / (1 - p))


@row
def moved(x, seed, step, shift, stream, turn):
    n, h, w = x.shape
    d = (2 * uniforms(seed, step, stream, 3 * n) - 1).reshape(n, 3, 1, 1)
    r, c = torch.arange(h, dtype=torch.float32).reshape(h, 1), torch.arange(w, dtype=torch.float32).reshape(1, w)
    u = r + shift * d[:, 0] - turn * d[:, 2] * (c - (w - 1) / 2)
    v = c + shift * d[:, 1] + turn * d[:, 2] * (r - (h - 1) / 2)
    near = lambda place, size: torch.relu(1 - (place.unsqueeze(-1) - torch.arange(size, dtype=torch.float32)).abs())
    return torch.einsum("nrca,nrcb,nab->nrc", near(u, h), near(v, w), x)


@row
def conv2d(x, weight, bias, dilation, groups, padding, stride):
    return F.conv2d(x, weight, bias, stride, padding, dilation, groups)


@row
def max_pool2d(x, dilation, kernel, padding, stride):
    return F.max_pool2d(x, kernel, stride, padding, dilation)


@row
def cross_entropy(x, target, weight, axis, ignore_index, label_smoothing, reduction):
    return F.cross_entropy(x, target, weight, ignore_index=ignore_index, label_smoothing=label_smoothing, reduction=reduction)


@row
def hinge(x, target, reduction):
    return torch.relu(1 - x * target).mean()


@row
def linear_schedule(step, dtype, final, initial, steps):
    return torch.tensor(initial + (final - initial) * min(int(step), steps) / steps)


@row
def adamw(p, g, m, v, t, beta1, beta2, eps, eps_hat, lr, weight_decay):
    q, after = stepped(lambda p: torch.optim.AdamW(p, float(lr), (beta1, beta2), eps, weight_decay), p, g,
                       {"step": torch.tensor(float(t - 1)), "exp_avg": m, "exp_avg_sq": v})
    return q, after["exp_avg"], after["exp_avg_sq"]


@row
def sgd(p, g, m, t, dampening, lr, momentum, nesterov, weight_decay):
    q, _ = stepped(lambda p: torch.optim.SGD(p, float(lr), momentum, dampening, weight_decay, nesterov), p, g, {})
    return q, g + weight_decay * p


for name in ("finite_or_kept", "finite_or_kept_count"):
    OPERATIONS[name] = lambda value, old, guard: value if bool(torch.isfinite(guard)) else old


def attributes_in(text):
    found = {}
    for name, value in re.findall(r"(\w+) = (\[[^\]]*\]|[^,}]+)", text or ""):
        found[name] = value if value.startswith("$") or value.isidentifier() else eval(value)
        if value in ("true", "false"):
            found[name] = value == "true"
    return found


class Step:
    """One program. \\see run"""

    def __init__(self, text):
        self.calls, self.indices, self.constants, self.outputs, self.updates, self.given = [], [], {}, [], {}, []
        for line in re.sub(r"(?s)^definitions.*?end definitions\n", "", text).splitlines():
            self.read(re.sub(r' @ ".*$', "", line))
        self.trained = [name for _, operation, operands, _ in self.calls if operation == "vjp" for name in operands[1:]]

    def read(self, line):
        if declared := re.match(r"(input|parameter|index|constant) (\S+) : (\w+)\[.*?\](?: in 0\.\.(\d+))?(?: = (.*))?$", line):
            role, name, dtype, last, value = declared.groups()
            if role == "index":
                self.indices.append((name, int(last) + 1))
            elif role == "constant":
                self.constants[name] = torch.tensor(eval(value), dtype=torch.int64 if dtype == "i64" else torch.float32)
            else:
                self.given.append(name)
        elif line.startswith("output "):
            self.outputs = line[7:].split(", ")
        elif update := re.match(r"update (\S+) := (\S+)$", line):
            self.updates[update[1]] = update[2]
        elif call := re.match(r"(.*?) = (\w+)\((.*?)\)(?: \{(.*)\})?$", line):
            self.calls.append((call[1].split(", "), call[2], re.split(r"[,;] ", call[3]), attributes_in(call[4])))
        elif line:
            raise ValueError(f"no step: {line}")

    def run(self, counted, given, wrong=None):
        """Every value that the program names. `counted` says which of its steps, `given` what it reads; `wrong` may change what an operation
        has computed: it is given its name, operands, attributes and results."""
        values = {name: torch.from_numpy(value) for name, value in given.items()} | self.constants
        for name in self.trained:
            values[name].requires_grad_()
        for name, size in reversed(self.indices):
            counted, at = divmod(counted, size)
            values[name] = torch.tensor(at)
        known = set(values)
        for results, operation, operands, attributes in self.calls:
            if operation == "vjp":
                found = torch.autograd.grad(values[operands[0]], [values[name] for name in operands[1:]])
                values = {name: value.detach() for name, value in values.items()}  # what updates do has no derivative
            else:
                asked = {name: values[v[1:]] if isinstance(v, str) and v.startswith("$") else v for name, v in attributes.items()}
                args = [values.get(name) for name in operands]
                found = OPERATIONS[operation](*args, **asked)
                found = found if isinstance(found, tuple) else (found,)
                found = wrong(operation, args, asked, found) if wrong else found
            values |= zip(results, found)
        return {name: array(value) for name, value in values.items() if name not in known}
