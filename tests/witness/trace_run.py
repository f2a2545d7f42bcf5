"""Runs of another system as its trainers write them down, and the auditor who is asked about them."""
import hashlib
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from checks import Checks  # noqa: E402

KINDS = {"float32": "F32", "int64": "I64"}
CONTRACT = pathlib.Path(__file__).resolve().parent / "pytorch-cpu.json"


def digest(data):
    return hashlib.sha256(data).hexdigest()


def array(tensor):
    return tensor.detach().clone().contiguous().numpy()


def safetensors(tensors):
    """The one file of these tensors: larger elements first, then names, nothing between."""
    order = sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0]))
    header, at = {}, 0
    for name, value in order:
        header[name] = {"dtype": KINDS[value.dtype.name], "shape": list(value.shape), "data_offsets": [at, at + value.nbytes]}
        at += value.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(numpy.ascontiguousarray(value).tobytes() for _, value in order)


def tensors_in(data):
    (size,) = struct.unpack_from("<Q", data)
    kinds = {kind: numpy.dtype(name) for name, kind in KINDS.items()}
    found = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        begin, end = (8 + size + at for at in entry["data_offsets"])
        found[name] = numpy.frombuffer(data[begin:end], kinds[entry["dtype"]]).reshape(entry["shape"]).copy()
    return found


def journal(lines):
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


class Auditor:
    """Signs and audits in a folder of its own, and counts what is not as it should be."""

    def __init__(self, etalon):
        self.command = str(pathlib.Path(shutil.which(etalon) or etalon).resolve())
        self.holder = tempfile.TemporaryDirectory()
        self.scratch = pathlib.Path(self.holder.name)
        self.check = Checks()
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", "k.pem"], cwd=self.scratch, check=True, capture_output=True)
        subprocess.run(["openssl", "pkey", "-in", "k.pem", "-pubout", "-out", "k.pub"], cwd=self.scratch, check=True)

    def etalon(self, *words):
        return subprocess.run([self.command, *map(str, words)], capture_output=True, text=True, timeout=300, cwd=self.scratch)

    def audit(self, run, trace, *more):
        """What was printed, what is wrong by interval, and how many elements were held to bounds, and were not."""
        made = self.etalon("certify", run, "--explained", "--key", "k.pem", "-o", run / "c.json")
        self.check(made.returncode == 0, f"certify {run}: {made.stderr}")
        ran = self.etalon("audit", run / "c.json", "--key", "k.pub", "--run", run, "--explained", trace, "--contract", CONTRACT, "--json",
                          run / "a.json", *more)
        if not (run / "a.json").exists():
            return ran, {}, (0, 0)
        found = json.loads((run / "a.json").read_text())
        self.check(found["level"] == "explained" and found["contract"]["name"] == json.loads(CONTRACT.read_text())["name"], f"{run}: {found}")
        self.check(found["holds"] == (ran.returncode == 0) and f"{found['elements']} elements held to their bounds" in ran.stdout, f"{run}: {found}")
        self.intervals = [i["interval"] for i in found["intervals"]]
        return ran, {i["interval"]: i["difference"] for i in found["intervals"] if not i["same"]}, (found["elements"], found["undecided"])
