"""Models that PyTorch exports, imported and judged: a convolutional network and a block of a transformer, with what PyTorch itself
computes as recorded outputs, which must lie within the program's bounds; one number that is wrong must not.

Usage: onnx_torch.py ETALON CONTRACT
"""
import pathlib
import subprocess
import sys
import tempfile
import warnings

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from checks import Checks  # noqa: E402

try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}; on Debian: apt-get install python3-torch")
    sys.exit(77)

import onnx_bytes

etalon, contract = sys.argv[1:3]
warnings.simplefilter("ignore")


class Cnn(torch.nn.Module):
    def __init__(self):
        super().__init__()
        nn = torch.nn
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(4, 6, 3, stride=2, groups=2), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Dropout(0.5))
        self.head = torch.nn.Linear(6, 3)

    def forward(self, x):
        return self.head(torch.flatten(self.features(x), 1)).log_softmax(-1)


class Block(torch.nn.Module):
    """A block of a language model: tokens and positions, causal attention with heads, a wide layer, and the scores of tokens."""

    def __init__(self, tokens=11, places=6, width=8, heads=2):
        super().__init__()
        self.tokens, self.places, self.heads = torch.nn.Embedding(tokens, width), torch.nn.Embedding(places, width), heads
        self.norm1, self.norm2, self.norm3 = (torch.nn.LayerNorm(width) for _ in range(3))
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.wide, self.narrow = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.register_buffer("mask", torch.tril(torch.ones(places, places)).view(1, 1, places, places))

    def attend(self, x):
        b, t, c = x.size()
        q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2) for part in self.qkv(x).split(c, dim=2))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / (k.size(-1) ** 0.5))
        scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, -1e4)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).contiguous().view(b, t, c))

    def forward(self, t):
        x = self.tokens(t) + self.places(torch.arange(0, t.size(1), dtype=torch.long, device=t.device).unsqueeze(0))
        x = x + self.attend(self.norm1(x))
        x = x + self.narrow(torch.nn.functional.gelu(self.wide(self.norm2(x))))
        return self.norm3(x) @ self.tokens.weight.t()


def tensor(x):
    return onnx_bytes.tensor(x.shape, {torch.float32: 1, torch.int64: 7}[x.dtype], x.contiguous().numpy().tobytes())


def run(*words):
    done = subprocess.run([etalon, "import", "onnx", *map(str, words)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


check = Checks()


def judged(folder, name, model, x, **dynamic):
    """The model at several opsets: what PyTorch computed passes, and nothing else does."""
    y = model(x).detach()
    data = folder / "data"
    data.mkdir(exist_ok=True)
    (data / "input_0.pb").write_bytes(tensor(x))
    for opset in (11, 13, 16):
        path = folder / f"{name}-{opset}.onnx"
        torch.onnx.export(model, x, str(path), opset_version=opset, input_names=["x"], output_names=["y"], **dynamic)
        dims = ["--dim", f"batch={x.shape[0]}"] if dynamic else []
        (data / "output_0.pb").write_bytes(tensor(y))
        status, said = run(path, *dims, "--data", data, "--contract", contract)
        print(f"{name}, opset {opset}: {said.strip()}")
        check(status == 0, f"{name}, opset {opset}: exit status {status}")
        wrong = y.clone()
        wrong.view(-1)[0] += 0.25 + wrong.abs().max() / 4
        (data / "output_0.pb").write_bytes(tensor(wrong))
        status, said = run(path, *dims, "--data", data, "--contract", contract)
        check(status == 1 and "fail" in said, f"{name}, opset {opset}: a wrong number: {status}, {said}")
        if dynamic:
            status, said = run(path)
            check(status == 2 and 'the extent "batch" is open' in said, f"{name}: an open extent: {status}, {said}")


with tempfile.TemporaryDirectory() as scratch:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    cnn = Cnn()
    cnn(torch.randn(16, 1, 9, 9))  # so that the running statistics are some
    judged(pathlib.Path(scratch), "cnn", cnn.eval(), torch.randn(2, 1, 9, 9))
    any_batch = {"dynamic_axes": {"x": {0: "batch"}, "y": {0: "batch"}}}
    judged(pathlib.Path(scratch), "cnn of any batch", cnn.eval(), torch.randn(3, 1, 9, 9), **any_batch)
    tokens = torch.randint(0, 11, (2, 5))
    judged(pathlib.Path(scratch), "gpt block", Block().eval(), tokens)
    judged(pathlib.Path(scratch), "gpt block of any batch", Block().eval(), tokens, **any_batch)
sys.exit(check.status(20))
