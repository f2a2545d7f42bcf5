"""PyTorch's tensors as operands, and derivatives by autograd: reverse, forward, and forward through reverse."""
import numpy
import torch
from torch.autograd import forward_ad

from etalon.answering import run
from etalon.refusals import Unsupported
from etalon.torch_limits import limit

class ByTorch:
    dtypes = ("f16", "bf16", "f32", "f64", "i32", "i64", "bool")
    modes = ("forward", "jvp", "vjp", "jvp_of_vjp")
    version = torch.__version__

    def __init__(self, device=None):
        self.device = device

    def take(self, array, dtype):
        if any(stride < 0 for stride in array.strides):
            raise Unsupported("layout", "PyTorch has no negative strides")
        x = torch.from_numpy(array)
        if array.dtype == numpy.int16:  # the bits of what NumPy has not
            x = x.view(torch.bfloat16)
        return x if self.device is None else x.to(self.device)

    def give(self, y):
        if not isinstance(y, torch.Tensor):
            raise TypeError(f"expected a tensor of PyTorch, found {type(y).__name__}")
        y = y.detach().cpu().resolve_conj().resolve_neg()
        return y.numpy() if y.dtype == torch.bool else y

    def zeros_like(self, x):
        return torch.zeros_like(x)

    def seeds(self, given, like):
        given = list(given) + [None] * (len(like) - len(given))
        return [self.take(t, None) if t is not None else torch.zeros_like(x) if x.is_floating_point() else None for t, x in zip(given, like)]

    def refused(self, error):
        """What PyTorch says that it does not offer, or the error itself."""
        what, why = limit(error)
        return Unsupported(what, why) if what else error

    def forward(self, question, called, inputs):
        return {"outputs": run(question, called, inputs)}

    def jvp(self, question, called, inputs):
        with forward_ad.dual_level():
            tangents = self.seeds(question["tangents"], inputs)
            duals = [forward_ad.make_dual(x, t) if w else x for x, t, w in zip(inputs, tangents, question["wrt"])]
            pairs = [tuple(forward_ad.unpack_dual(y)) if y.is_floating_point() else (y, None) for y in run(question, called, duals)]
        # There is no tangent where nothing moves.
        return {"outputs": [y for y, _ in pairs],
                "tangents": [torch.zeros_like(y) if t is None and y.is_floating_point() else t for y, t in pairs]}

    def vjp(self, question, called, inputs):
        marked = [x.requires_grad_() for x, w in zip(inputs, question["wrt"]) if w]
        outputs = run(question, called, inputs)
        found = pulled_back(outputs, self.seeds(question["cotangents"], outputs), marked)
        return {"outputs": outputs, "cotangents": spread(found, question["wrt"])}

    def jvp_of_vjp(self, question, called, inputs):
        wrt = question["wrt"]
        with forward_ad.dual_level():
            tangents = self.seeds(question["tangents"], inputs)
            for x, w in zip(inputs, wrt):
                if w:
                    x.requires_grad_()
            duals = [forward_ad.make_dual(x, t) if w else x for x, t, w in zip(inputs, tangents, wrt)]
            outputs = run(question, called, duals)
            moving = self.seeds(question["cotangent_tangents"], outputs)
            cotangents = [None if c is None else forward_ad.make_dual(c, m) for c, m in zip(self.seeds(question["cotangents"], outputs), moving)]
            found = [forward_ad.unpack_dual(d) for d in pulled_back(outputs, cotangents, [x for x, w in zip(duals, wrt) if w])]
        return {"outputs": outputs, "cotangents": spread([d.primal for d in found], wrt),
                "cotangent_tangents": spread([torch.zeros_like(d.primal) if d.tangent is None else d.tangent for d in found], wrt)}


def pulled_back(outputs, cotangents, leaves):
    """The cotangents of the leaves, zeros where no output depends on one."""
    pairs = [(y, c) for y, c in zip(outputs, cotangents) if y.is_floating_point() and y.requires_grad]
    if not pairs or not leaves:
        return [torch.zeros_like(x) for x in leaves]
    found = torch.autograd.grad([y for y, _ in pairs], leaves, [c for _, c in pairs], allow_unused=True)
    return [torch.zeros_like(x) if d is None else d for x, d in zip(leaves, found)]


def spread(found, wrt):
    """One entry per input, None where it is not marked."""
    found = iter(found)
    return [next(found) if w else None for w in wrt]
