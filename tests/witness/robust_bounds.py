"""NumPy bounds an MLP on boxes by hand, in real arithmetic: intervals, the adjoint sweep and CROWN. `etalon certify-robust`, which
also holds for every rounding, certifies as many rows, give or take one. Usage: robust_bounds.py ETALON [--rows N] [--stride N]

The weights are those of a short deterministic training; the rows are digits as a csv file, read by the program as text below."""
import argparse
import gzip
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}; on Debian: apt-get install python3-numpy")
    sys.exit(77)

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "training/data/digits.csv.gz"
EPSILONS = ["1/128", "1/64", "1/32"]
METHODS = ["ibp", "sweep", "crown"]
SIZES = {"hidden": (64, 64), "narrow": (32, 64), "output": (10, 32)}
PROGRAM = "".join(["input x : f32[1, 64]\n"] +
                  [f"parameter {n}.weight : f32[{o}, {i}]\nparameter {n}.bias : f32[{o}]\n" for n, (o, i) in SIZES.items()] +
                  ["a = linear(x, hidden.weight, hidden.bias)\nb = relu(a)\nc = linear(b, narrow.weight, narrow.bias)\nd = relu(c)\n",
                   "y = linear(d, output.weight, output.bias)\noutput y\n"])


def read_safetensors(path):
    data = path.read_bytes()
    length, = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, info in json.loads(data[8:8 + length]).items():
        if name != "__metadata__":
            begin, end = info["data_offsets"]
            tensors[name] = np.frombuffer(data[8 + length + begin:8 + length + end], "<f4").reshape(info["shape"]).astype(np.float64)
    return tensors


class Bounds:
    """Of one row: boxes of what each layer's relu reads, by one of the methods, and the least difference of two answers."""

    def __init__(self, layers, low, high, method):
        self.layers, self.method, self.centre, self.radius = layers, method, (low + high) / 2, (high - low) / 2
        self.boxes = []
        below = (low, high)
        for n in range(len(layers)):
            w, b = layers[n]
            middle, reach = (below[0] + below[1]) / 2, (below[1] - below[0]) / 2
            box = (w @ middle + b - abs(w) @ reach, w @ middle + b + abs(w) @ reach)
            if n + 1 == len(layers):
                self.answers = box
                break
            if method != "ibp":
                rows = np.eye(len(b))
                box = (np.maximum(box[0], self.least(rows, n)), np.minimum(box[1], -self.least(-rows, n)))
            self.boxes.append(box)
            below = (np.maximum(box[0], 0), np.maximum(box[1], 0))

    def least(self, rows, last):
        """No row times the outputs of linear layer `last` is below it."""
        return self.least_by_lines(rows, last) if self.method == "crown" else self.least_by_slopes(rows, last)

    def least_by_lines(self, rows, last):
        constant = np.zeros(len(rows))
        for n in range(last, -1, -1):
            w, b = self.layers[n]
            constant, rows = constant + rows @ b, rows @ w
            if n == 0:
                break
            low, high = self.boxes[n - 1]
            crosses = (low < 0) & (high > 0)
            width = np.where(crosses, high - low, 1)
            above, offset = np.where(crosses, high / width, low >= 0), np.where(crosses, -high * low / width, 0)
            # Of the lines below, the one that is higher in the middle.
            below = np.where(crosses, low + high > 0, low >= 0)
            constant = constant + np.minimum(rows, 0) @ offset
            rows = np.maximum(rows, 0) * below + np.minimum(rows, 0) * above
        return constant + rows @ self.centre - abs(rows) @ self.radius

    def least_by_slopes(self, rows, last):
        x = self.centre
        for n in range(last + 1):
            w, b = self.layers[n]
            x = w @ (x if n == 0 else np.maximum(x, 0)) + b
        low, high = rows, rows
        for n in range(last, -1, -1):
            w = self.layers[n][0]
            middle, reach = (low + high) / 2 @ w, (high - low) / 2 @ abs(w)
            low, high = middle - reach, middle + reach
            if n > 0:
                least, most = self.boxes[n - 1][0] >= 0, self.boxes[n - 1][1] > 0
                low, high = np.minimum(low * least, low * most), np.maximum(high * least, high * most)
        return rows @ x - np.maximum(abs(low), abs(high)) @ self.radius

    def margin(self, label):
        others = [k for k in range(len(self.answers[0])) if k != label]
        by_boxes = self.answers[0][label] - self.answers[1][others]
        if self.method == "ibp":
            return by_boxes.min()
        rows = np.eye(len(self.answers[0]))
        return np.maximum(by_boxes, self.least(rows[label] - rows[others], len(self.layers) - 1)).min()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("etalon")
    parser.add_argument("--rows", type=int, default=105)
    parser.add_argument("--stride", type=int, default=1)
    options = parser.parse_args()
    table = np.loadtxt(gzip.open(DIGITS, "rt"), delimiter=",")[-(options.rows // options.stride):]
    rows, labels = table[:, :64] / 16, table[:, 64].astype(int)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def etalon(*words):
            subprocess.run([options.etalon, *map(str, words)], check=True, stdout=subprocess.DEVNULL)

        (folder / "net.txt").write_text(PROGRAM)
        (folder / "rows.csv").write_text("".join(",".join(map(repr, r.tolist())) + f",{l}\n" for r, l in zip(rows, labels)))
        etalon("train", "digits", "--epochs", 40, "--seed", 5, "--no-plots", "--run", folder / "run")
        etalon("export", "safetensors", folder / "run", "-o", folder / "net.safetensors")
        etalon("certify-robust", "--program", folder / "net.txt", "--values", folder / "net.safetensors", "--data", folder / "rows.csv",
               "--no-header", "--target", 65, "--classes", 10, "--epsilon", ",".join(EPSILONS), "--method", ",".join(METHODS), "--json",
               folder / "found.json")
        found = json.loads((folder / "found.json").read_text())
        tensors = read_safetensors(folder / "net.safetensors")
    layers = [(tensors[f"{n}.weight"], tensors[f"{n}.bias"]) for n in SIZES]
    faults, counts, furthest = [], [], 0
    for e, text in enumerate(EPSILONS):
        epsilon = 1 / float(text.split("/")[1])
        for m, method in enumerate(METHODS):
            ours = [Bounds(layers, x - epsilon, x + epsilon, method).margin(l) for x, l in zip(rows, labels)]
            theirs = [r["margins"][e * len(METHODS) + m] for r in found["each"]]
            furthest = max(furthest, max(abs(a - b) / max(1, abs(a)) for a, b in zip(ours, theirs)))
            count = sum(x > 0 for x in ours)
            counted = next(s["certified"] for s in found["shares"] if s["epsilon"] == epsilon and s["method"] == method)
            counts.append(count)
            if counted != sum(x > 0 for x in theirs):
                faults.append(f"{method} {text}: {counted} certified, but {sum(x > 0 for x in theirs)} margins are above 0")
            if not abs(count - counted) <= 1:
                faults.append(f"{method} {text}: {counted} certified, by NumPy {count}")
            print(f"{method:>6} {text:>6}: {counted} of {len(rows)} certified, by NumPy {count}")
    if not (len(found["each"]) == len(rows) > 0 and len(set(counts)) > 3):
        faults.append("the rows say nothing")
    print(f"margins differ by at most {furthest:.2g} of their size, or of 1")
    print("\n".join(faults) or "agrees")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
