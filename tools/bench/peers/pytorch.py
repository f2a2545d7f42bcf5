"""PyTorch's side of `etalon bench`: pytorch.py [cpu|cuda [eager|graph|compile]].

On a GPU without TF32, and `graph` is eager work replayed as a CUDA graph, `compile` the same of what torch.compile makes with max-autotune."""
import os
import sys

import numpy as np
import torch
from torch.nn import functional as F

from peer import Library, NotOffered, Work, pure, serve

DEVICE, MODE = (sys.argv[1:] + ["cpu", "eager"][len(sys.argv) - 1:])[:2]
ON_GPU = DEVICE == "cuda"


def blas_in_use():
    with open("/proc/self/maps") as maps:
        files = {line.split()[-1] for line in maps if "blas" in line}
    return ", ".join(sorted(os.path.basename(os.path.realpath(f)) for f in files)) or "unknown BLAS"


def version():
    if ON_GPU:
        return f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, {torch.cuda.get_device_name()}, without TF32, {MODE}"
    torch.mm(torch.ones(2, 2), torch.ones(2, 2))
    capability = [l for l in torch.__config__.show().splitlines() if "capability" in l]
    return f"PyTorch {torch.__version__} from Python, {capability[0].split(':')[-1].strip() if capability else ''}, {blas_in_use()}"


def read(path, dims, integer=False):
    return torch.from_numpy(np.fromfile(path, dtype=np.int64 if integer else np.float32).reshape(dims)).to(DEVICE)


def compiled(function):
    """Graphs are captured below: max-autotune's own would copy each input at each run."""
    return torch.compile(function, mode="max-autotune-no-cudagraphs") if MODE == "compile" else function


def captured(run):
    """What runs the same kernels on the same memory, as one graph."""
    if MODE == "eager":
        return run
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = run()

    def replay():
        graph.replay()
        return results

    return replay


def on_device(work):
    """The ways as this mode runs them; only the first is compiled, since that takes long."""
    if MODE == "eager":
        return work
    ways = dict(list(work.ways.items())[:1]) if MODE == "compile" else work.ways
    return Work({key: captured(compiled(run)) for key, run in ways.items()}, work.outputs, work.reset)


def product(sizes, files):
    m, k, n = sizes["m"], sizes["k"], sizes["n"]
    a, b = read(files[0], (m, k)), read(files[1], (k, n))
    out = torch.empty(m, n, device=DEVICE)
    return pure(mm=lambda: torch.mm(a, b), mm_out=lambda: torch.mm(a, b, out=out))


def convolution(part):
    def prepare(sizes, files):
        batch, cin, cout, side = sizes["batch"], sizes["in"], sizes["out"], sizes["side"]
        plain = [read(files[0], (batch, cin, side, side)), read(files[1], (cout, cin, 3, 3))]
        if part != "forward":
            plain.append(read(files[2], (batch, cout, side, side)))
        last = [t.contiguous(memory_format=torch.channels_last) for t in plain]

        def way(tensors):
            if part == "forward":
                return lambda: F.conv2d(tensors[0], tensors[1], padding=1)
            mask = [part == "data", part == "weights", False]
            which = mask.index(True)
            backward = torch.ops.aten.convolution_backward
            x, kernel, d = tensors
            return lambda: backward(d, x, kernel, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, mask)[which]

        return pure(contiguous=way(plain), channels_last=way(last))

    return prepare


def gelu_chain(sizes, files):
    rows, columns = sizes["rows"], sizes["columns"]
    x, w, b = read(files[0], (rows, columns)), read(files[1], (columns,)), read(files[2], (columns,))
    first = torch.empty_like(x)

    def reusing():
        torch.mul(x, w, out=first)
        first.add_(b)
        return F.gelu(first, approximate="tanh")

    return pure(plain=lambda: F.gelu(x * w + b, approximate="tanh"),
                addcmul=lambda: F.gelu(torch.addcmul(b, x, w), approximate="tanh"), reusing=reusing)


def softmax(sizes, files):
    x = read(files[0], (sizes["rows"], sizes["columns"]))
    out = torch.empty_like(x)
    return pure(plain=lambda: torch.softmax(x, -1), out=lambda: torch.softmax(x, -1, out=out))


def transposition(sizes, files):
    x = read(files[0], (sizes["n"], sizes["n"]))
    out = torch.empty_like(x)
    return pure(contiguous=lambda: x.t().contiguous(), copy=lambda: out.copy_(x.t()))


def total(sizes, files):
    x = read(files[0], (sizes["n"],))
    return pure(sum=lambda: torch.sum(x))


def layer_norm(sizes, files):
    rows, columns = sizes["rows"], sizes["columns"]
    x, gamma, beta, d = (read(f, s) for f, s in zip(files, [(rows, columns), (columns,), (columns,), (rows, columns)]))

    def native():
        y, mean, rstd = torch.native_layer_norm(x, (columns,), gamma, beta, 1e-5)
        return (y, *torch.ops.aten.native_layer_norm_backward(d, x, (columns,), mean, rstd, gamma, beta, [True, True, True]))

    return pure(native=native)


def attention(sizes, files):
    dims = (sizes["batch"], sizes["heads"], sizes["length"], sizes["width"])
    q, k, v = (read(f, dims) for f in files)
    hidden = torch.ones(dims[2], dims[2], device=DEVICE).triu(1).bool()
    return pure(**{name: lambda form=form: form(q, k, v) for name, form in causal_forms(hidden).items()})


def attention_cotangents(sizes, files):
    dims = (sizes["batch"], sizes["heads"], sizes["length"], sizes["width"])
    q, k, v, d = (read(f, dims) for f in files)
    leaves = [t.requires_grad_() for t in (q, k, v)]
    hidden = torch.ones(dims[2], dims[2], device=DEVICE).triu(1).bool()

    def way(form):
        def run():
            y = form(*leaves)
            return (y.detach(), *torch.autograd.grad(y, leaves, d))
        return run

    return differentiated({name: way(compiled(form)) for name, form in causal_forms(hidden).items()})


def differentiated(ways):
    """What they differentiate is compiled already, and derivatives with it."""
    ways = dict(list(ways.items())[:1]) if MODE == "compile" else ways
    return Work({key: captured(run) for key, run in ways.items()}, lambda results: results if isinstance(results, (tuple, list)) else [results])


def causal_forms(hidden):
    forms = {}
    if hasattr(F, "scaled_dot_product_attention"):  # from 2.0
        forms["fused"] = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)
    forms["plain"] = lambda q, k, v: causal(q, k, v, hidden)
    return forms


def causal(q, k, v, hidden):
    scores = (q @ k.transpose(-2, -1)) * q.shape[-1] ** -0.5
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), -1) @ v


def moons_answers(p, x):
    w1, b1, w2, b2, w3 = p
    return F.linear(F.relu(F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)), w3)


def mlp_answers(p, x):
    w1, b1, w2, b2, w3, b3 = p
    return F.linear(F.relu(F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)), w3, b3)


def cnn_answers(p, x):
    k1, b1, k2, b2, w3, b3 = p
    small = F.max_pool2d(F.relu(F.conv2d(x, k1, b1, padding=1)), 2)
    smaller = F.max_pool2d(F.relu(F.conv2d(small, k2, b2, padding=1)), 2)
    return F.linear(smaller.reshape(64, -1), w3, b3)


HIDDEN = torch.ones(64, 64, device=DEVICE).triu(1).bool()


def block(p, x):
    gamma, beta, wq, wk, wv, wo, gamma2, beta2, wi, bi, wu, bu = p
    normal = F.layer_norm(x, (128,), gamma, beta)
    q, k, v = (F.linear(normal, w).view(8, 64, 4, 32).transpose(1, 2) for w in (wq, wk, wv))
    x = x + F.linear(causal(q, k, v, HIDDEN).transpose(1, 2).reshape(8, 64, 128), wo)
    wide = F.gelu(F.linear(F.layer_norm(x, (128,), gamma2, beta2), wi, bi), approximate="tanh")
    return x + F.linear(wide, wu, bu)


def gpt_answers(p, text):
    x = F.embedding(text, p[0]) + p[1]
    x = block(p[14:26], block(p[2:14], x))
    return F.linear(F.layer_norm(x, (128,), p[26], p[27]), p[28])


def gpt_shapes():
    shapes = [(96, 128), (64, 128)]
    for _ in range(2):
        shapes += [(128,)] * 2 + [(128, 128)] * 4 + [(128,)] * 2 + [(512, 128), (512,), (128, 512), (128,)]
    return shapes + [(128,), (128,), (96, 128)]


def class_loss(answers, targets):
    return F.cross_entropy(answers.reshape(-1, answers.shape[-1]), targets.reshape(-1))


def hinge(answers, targets):
    return F.relu(1 - targets * answers).mean()


MODELS = {
    "moons": dict(shapes=[(16, 2), (16,), (16, 16), (16,), (1, 16)], data=(10, 2), targets=(10, 1), answers=moons_answers,
                  loss=hinge, optimizer=lambda p, **how: torch.optim.SGD(p, lr=0.1, weight_decay=1e-4, **how), state=None),
    "mlp": dict(shapes=[(512, 784), (512,), (256, 512), (256,), (10, 256), (10,)], data=(128, 784), targets=(128,),
                answers=mlp_answers, loss=class_loss, optimizer=lambda p, **how: torch.optim.Adam(p, lr=1e-3, **how), state="exp_avg"),
    "cnn": dict(shapes=[(16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (10, 1568), (10,)], data=(64, 1, 28, 28), targets=(64,),
                answers=cnn_answers, loss=class_loss,
                optimizer=lambda p, **how: torch.optim.SGD(p, lr=0.01, momentum=0.9, **how), state="momentum_buffer"),
    "gpt": dict(shapes=gpt_shapes(), data=(8, 64), targets=(8, 64), answers=gpt_answers, loss=class_loss,
                optimizer=lambda p, **how: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.01, **how), state="exp_avg"),
}


def settings_of(name, model):
    """The ways in which an optimizer may be told to work."""
    if ON_GPU:
        how = dict(last=False, **(dict(capturable=True) if MODE != "eager" and model["state"] == "exp_avg" else {}))
        return {"fused": dict(fused=True, **how)} if MODE == "compile" else {"foreach": dict(foreach=True, **how), "fused": dict(fused=True, **how)}
    settings = {"loop": dict(last=False, foreach=False), "foreach": dict(last=False, foreach=True)}
    if name == "cnn":
        settings["foreach, channels_last"] = dict(last=True, foreach=True)
    return settings


def training(name):
    def prepare(_, files):
        model = MODELS[name]
        count = len(model["shapes"])
        first = [read(f, s) for f, s in zip(files, model["shapes"])]
        data = read(files[count], model["data"], integer=name == "gpt")
        targets = read(files[count + 1], model["targets"], integer=model["loss"] is class_loss)
        current = {}

        def start(last, **how):
            form = dict(memory_format=torch.channels_last) if last else {}
            current["p"] = [(t.clone().contiguous(**form) if t.dim() == 4 else t.clone()).requires_grad_() for t in first]
            current["x"] = data.contiguous(**form) if last and data.dim() == 4 else data
            current["optimizer"] = model["optimizer"](current["p"], **how)

        loss_of = compiled(lambda p, x: model["loss"](model["answers"](p, x), targets))

        def step():
            current["optimizer"].zero_grad(set_to_none=True)
            loss = loss_of(current["p"], current["x"])
            loss.backward()
            current["optimizer"].step()
            return loss

        def outputs(loss):
            moments = [current["optimizer"].state[p][model["state"]] for p in current["p"]] if model["state"] else []
            return [loss, *current["p"], *moments]

        best = {}

        def begin_in_place():
            """A graph knows its memory."""
            with torch.no_grad():
                for p, value in zip(current["p"], first):
                    p.copy_(value)
            for state in current["optimizer"].state.values():
                for value in state.values():
                    if torch.is_tensor(value):
                        value.zero_()

        def reset():
            begin_in_place() if ON_GPU else start(**best["setting"])

        def way(setting):
            def run():
                if best.get("setting") is not setting:
                    best["setting"] = setting
                    start(**setting)
                    current["step"] = captured(step)
                    reset()
                return current["step"]()
            return run

        work = Work({key: way(setting) for key, setting in settings_of(name, model).items()}, outputs, reset)
        work.settle = lambda: setattr(work, "run", current["step"])
        return work

    return prepare


def derivative(name, kind):
    def prepare(_, files):
        model = MODELS[name]
        count = len(model["shapes"])
        p = [read(f, s) for f, s in zip(files, model["shapes"])]
        x = read(files[count], model["data"])
        if kind == "forward":
            answers_of = compiled(model["answers"])

            def forward():
                with torch.no_grad():
                    return answers_of(p, x)
            return differentiated({"plain": forward})
        if kind == "vjp":
            leaves = [t.requires_grad_() for t in p]
            with torch.no_grad():
                seed = read(files[count + 1], model["answers"](p, x).shape)

            answers_of = compiled(model["answers"])

            def reverse():
                answers = answers_of(leaves, x)
                return (answers, *torch.autograd.grad(answers, leaves, seed))
            return differentiated({"plain": reverse})
        tangents = [read(f, s) for f, s in zip(files[count + 1:], model["shapes"])]

        def forward_mode():
            with torch.no_grad(), torch.autograd.forward_ad.dual_level():
                duals = [torch.autograd.forward_ad.make_dual(a, b) for a, b in zip(p, tangents)]
                return tuple(torch.autograd.forward_ad.unpack_dual(model["answers"](duals, x)))
        return differentiated({"forward_ad": forward_mode})

    return prepare


def plain(recipe):
    """A recipe whose ways have nothing to compile before they are captured."""
    return lambda sizes, files: on_device(recipe(sizes, files))


RECIPES = {name: plain(recipe) for name, recipe in {"gemm": product, "gelu-chain": gelu_chain, "softmax": softmax, "layer-norm": layer_norm,
                                                    "attention": attention, "sum": total, "transpose": transposition}.items()}
RECIPES["attention-vjp"] = attention_cotangents
RECIPES.update({f"conv-{part}": plain(convolution(part)) for part in ("forward", "data", "weights")})
RECIPES.update({f"train-{name}": training(name) for name in MODELS})
RECIPES.update({f"{name}-{kind}": derivative(name, kind) for name in ("moons", "mlp") for kind in ("forward", "jvp", "vjp")})


class PyTorch(Library):
    def version(self):
        return version()

    def load(self):
        torch.mm(torch.ones(2, 2, device=DEVICE), torch.ones(2, 2, device=DEVICE))

    def work_of(self, request):
        if request["recipe"] not in RECIPES:
            raise NotOffered("no such recipe")
        torch.set_num_threads(request["threads"])
        return RECIPES[request["recipe"]](request["sizes"], request["inputs"])

    def write(self, output, path):
        output.detach().contiguous().cpu().numpy().tofile(path)

    def finish(self):
        if ON_GPU:
            torch.cuda.synchronize()


if ON_GPU:
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
serve(PyTorch())
