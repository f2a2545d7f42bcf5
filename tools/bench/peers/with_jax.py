"""JAX's side of `etalon bench`: each piece of work is one jitted function, in f32 without TF32."""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # others use the card too

import jax
import jax.numpy as jnp
import numpy as np

from peer import Library, NotOffered, Work, serve

jax.config.update("jax_default_matmul_precision", "highest")


def read(path, dims, integer=False):
    return jnp.asarray(np.fromfile(path, dtype=np.int64 if integer else np.float32).reshape(dims).astype(np.int32 if integer else np.float32))


def pure(function, *operands):
    jitted = jax.jit(function)
    return Work({"jit": lambda: jitted(*operands)}, lambda results: results if isinstance(results, (tuple, list)) else [results])


def product(sizes, files):
    return pure(jnp.matmul, read(files[0], (sizes["m"], sizes["k"])), read(files[1], (sizes["k"], sizes["n"])))


def transposition(sizes, files):
    return pure(lambda x: x.T, read(files[0], (sizes["n"], sizes["n"])))


def total(sizes, files):
    return pure(jnp.sum, read(files[0], (sizes["n"],)))


def gelu_chain(sizes, files):
    rows, columns = sizes["rows"], sizes["columns"]
    return pure(lambda x, w, b: jax.nn.gelu(x * w + b, approximate=True), read(files[0], (rows, columns)), read(files[1], (columns,)), read(files[2], (columns,)))


def softmax(sizes, files):
    return pure(jax.nn.softmax, read(files[0], (sizes["rows"], sizes["columns"])))


def normal(x, gamma, beta):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * gamma + beta


def layer_norm(sizes, files):
    rows, columns = sizes["rows"], sizes["columns"]

    def run(x, gamma, beta, d):
        y, reverse = jax.vjp(normal, x, gamma, beta)
        return (y, *reverse(d))

    return pure(run, *(read(f, s) for f, s in zip(files, [(rows, columns), (columns,), (columns,), (rows, columns)])))


def causal(q, k, v):
    length = q.shape[-2]
    scores = q @ jnp.swapaxes(k, -2, -1) * q.shape[-1] ** -0.5
    return jax.nn.softmax(jnp.where(jnp.tri(length, dtype=bool), scores, -jnp.inf), -1) @ v


def attention(sizes, files):
    dims = (sizes["batch"], sizes["heads"], sizes["length"], sizes["width"])
    return pure(causal, *(read(f, dims) for f in files))


def linear(x, w, b=0.0):
    return x @ w.T + b


def moons_answers(p, x):
    w1, b1, w2, b2, w3 = p
    return linear(jax.nn.relu(linear(jax.nn.relu(linear(x, w1, b1)), w2, b2)), w3)


def mlp_answers(p, x):
    w1, b1, w2, b2, w3, b3 = p
    return linear(jax.nn.relu(linear(jax.nn.relu(linear(x, w1, b1)), w2, b2)), w3, b3)


def block(p, x):
    gamma, beta, wq, wk, wv, wo, gamma2, beta2, wi, bi, wu, bu = p
    n = normal(x, gamma, beta)
    q, k, v = (linear(n, w).reshape(8, 64, 4, 32).swapaxes(1, 2) for w in (wq, wk, wv))
    x = x + linear(causal(q, k, v).swapaxes(1, 2).reshape(8, 64, 128), wo)
    return x + linear(jax.nn.gelu(linear(normal(x, gamma2, beta2), wi, bi), approximate=True), wu, bu)


def gpt_answers(p, text):
    x = p[0][text] + p[1]
    x = block(p[14:26], block(p[2:14], x))
    return linear(normal(x, p[26], p[27]), p[28])


def gpt_shapes():
    one = [(128,)] * 2 + [(128, 128)] * 4 + [(128,)] * 2 + [(512, 128), (512,), (128, 512), (128,)]
    return [(96, 128), (64, 128), *one, *one, (128,), (128,), (96, 128)]


def class_loss(answers, targets):
    scores = jax.nn.log_softmax(answers.reshape(-1, answers.shape[-1]))
    return -jnp.take_along_axis(scores, targets.reshape(-1, 1), 1).mean()


def hinge(answers, targets):
    return jax.nn.relu(1 - targets * answers).mean()


def sgd(p, g, m, v, t):
    return p - 0.1 * (g + 1e-4 * p), m, v


def adam(p, g, m, v, t, decay=0.0):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    size = jnp.sqrt(v / (1 - 0.999**t)) + 1e-8
    return p * (1 - 1e-3 * decay) - 1e-3 * (m / (1 - 0.9**t)) / size, m, v


def adamw(p, g, m, v, t):
    return adam(p, g, m, v, t, 0.01)


MODELS = {
    "moons": dict(shapes=[(16, 2), (16,), (16, 16), (16,), (1, 16)], data=(10, 2), targets=(10, 1), answers=moons_answers, loss=hinge, rule=sgd, moments=False),
    "mlp": dict(shapes=[(512, 784), (512,), (256, 512), (256,), (10, 256), (10,)], data=(128, 784), targets=(128,), answers=mlp_answers, loss=class_loss,
                rule=adam, moments=True),
    "gpt": dict(shapes=gpt_shapes(), data=(8, 64), targets=(8, 64), answers=gpt_answers, loss=class_loss, rule=adamw, moments=True),
}


def training(name):
    def prepare(_, files):
        model = MODELS[name]
        count = len(model["shapes"])
        first = [read(f, s) for f, s in zip(files, model["shapes"])]
        data = read(files[count], model["data"], integer=name == "gpt")
        targets = read(files[count + 1], model["targets"], integer=model["loss"] is class_loss)
        current = {}

        def step(state):
            p, m, v, t = state
            loss, g = jax.value_and_grad(lambda p: model["loss"](model["answers"](p, data), targets))(p)
            moved = [model["rule"](*one, t) for one in zip(p, g, m, v)]
            return loss, ([a for a, _, _ in moved], [b for _, b, _ in moved], [c for _, _, c in moved], t + 1)

        jitted = jax.jit(step, donate_argnums=0)

        def reset():
            copies = [jnp.array(p) for p in first]
            current["state"] = (copies, [jnp.zeros_like(p) for p in first], [jnp.zeros_like(p) for p in first], jnp.float32(1))

        def run():
            loss, current["state"] = jitted(current["state"])
            return loss

        def outputs(loss):
            return [loss, *current["state"][0], *(current["state"][1] if model["moments"] else [])]

        reset()
        return Work({"jit": run}, outputs, reset)

    return prepare


RECIPES = {"gemm": product, "transpose": transposition, "sum": total, "gelu-chain": gelu_chain, "softmax": softmax, "layer-norm": layer_norm, "attention": attention}
RECIPES.update({f"train-{name}": training(name) for name in MODELS})


class Jax(Library):
    """Runs are asked for and return at once; the last result is there when all before it are."""

    last = None

    def version(self):
        return f"JAX {jax.__version__} on {jax.devices()[0].device_kind}, without TF32"

    def load(self):
        jnp.ones((2, 2)).block_until_ready()

    def work_of(self, request):
        if request["recipe"] not in RECIPES:
            raise NotOffered("no such recipe")
        work = RECIPES[request["recipe"]](request["sizes"], request["inputs"])

        def remembered(run):
            def remember():
                self.last = run()
                return self.last
            return remember

        return Work({key: remembered(run) for key, run in work.ways.items()}, work.outputs, work.reset)

    def write(self, output, path):
        np.asarray(output).tofile(path)

    def finish(self):
        jax.block_until_ready(self.last)


serve(Jax())
