"""PyTorch's tensors as operands; its derivatives are its adapter's."""
from functools import partial

import numpy
import torch

from etalon.answering import run
from etalon.refusals import Unsupported
from etalon.torch_autodiff import jvp, jvp_of_vjp, vjp
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

    def seeds(self, given):
        return [None if t is None else self.take(t, None) for t in given]

    def refused(self, error):
        """What PyTorch says that it does not offer, or the error itself."""
        what, why = limit(error)
        return Unsupported(what, why) if what else error

    def forward(self, question, called, inputs):
        return {"outputs": run(question, called, inputs)}

    def jvp(self, question, called, inputs):
        return jvp(partial(run, question, called), inputs, question["wrt"], self.seeds(question["tangents"]))

    def vjp(self, question, called, inputs):
        return vjp(partial(run, question, called), inputs, question["wrt"], self.seeds(question["cotangents"]))

    def jvp_of_vjp(self, question, called, inputs):
        return jvp_of_vjp(partial(run, question, called), inputs, question["wrt"],
                          *[self.seeds(question[field]) for field in ("tangents", "cotangents", "cotangent_tangents")])
