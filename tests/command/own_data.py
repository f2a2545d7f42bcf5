"""Training on files of one's own as its users meet it: every format, killed and gone on with, watched, and refused in one line.

Usage: own_data.py ETALON [KILLS]
"""
import gzip
import hashlib
import json
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
import zipfile

from checks import Checks

etalon = sys.argv[1]
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
check = Checks()


def run(*words, **more):
    return subprocess.run([etalon, *map(str, words)], capture_output=True, text=True, timeout=120, cwd=folder, **more)


def refused(words, *arguments, status=2):
    """One line on standard error with these words, and nothing begun."""
    check.refused(run(*arguments), status, words)


def elements_of_npy(data):
    """The bytes behind the header of format 1.0."""
    return data[10 + struct.unpack("<H", data[8:10])[0]:]


def tensors_of(data):
    """The bytes of each tensor of a safetensors file."""
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    return {name: data[8 + size + start:8 + size + end] for name, tensor in header.items() for start, end in [tensor["data_offsets"]]}


def write(name, data):
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return name


def flowers(rows, seed):
    """Three kinds, by two lengths of which the second has another unit."""
    chance, lines = random.Random(seed), ["id,petal,sepal,kind"]
    for row in range(rows):
        kind = row % 3
        lines.append(f"{row},{chance.gauss(2 + 2 * kind, 0.5):.3f},{1000 * chance.gauss(5 - kind, 0.4):.0f},{('oak', 'ash', 'elm')[kind]}")
    return "\n".join(lines) + "\n"


def idx(kind, extents, elements):
    return struct.pack(f">HBB{len(extents)}I", 0, kind, len(extents), *extents) + bytes(elements)


def newest(name):
    return max((folder / name / "checkpoints").glob("step-*"), key=lambda path: int(path.name.split("-")[1]))


def left(name):
    digest = hashlib.sha256((newest(name) / "state.safetensors").read_bytes()).hexdigest()
    files = [(folder / file).read_text() for file in (f"{name}/run.json", f"{name}/journal.jsonl", f"{name}.jsonl")]
    return [*files, newest(name).name.split("-")[1], digest]


def lines_of(name):
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


write("my.csv", flowers(150, 1))
data = ["--data", "my.csv", "--target", "kind", "--ignore", "id", "--hidden", "8"]
task = [*data, "--epochs", "60", "--patience", "15", "--best", "--no-plots"]


def classifies():
    ran = run("train", *task, "--run", "r", "--metrics", "r.jsonl", "--svg", "plots", "--html", "r.html")
    check(ran.returncode == 0, f"train: {ran.stderr!r}")
    metrics = lines_of("r.jsonl")
    epochs, keys = [m["epoch"] for m in metrics], {"epoch", "step", "rate", "loss", "validation_loss", "validation_accuracy", "perplexity"}
    check(epochs == list(range(1, len(metrics) + 1)) and len(metrics) > 1, f"metrics: epochs {epochs}")
    check(metrics[-1]["validation_loss"] < metrics[0]["validation_loss"] and metrics[-1]["validation_accuracy"] > 0.8,
          f"metrics: {metrics[-1]}")
    check(all(set(m) == keys for m in metrics), f"metrics: {metrics[0]}")
    declared = json.loads((folder / "r" / "run.json").read_text())
    held = (folder / "my.csv").read_bytes()
    digest, leaf = (hashlib.sha256(prefix + held).hexdigest() for prefix in (b"", b"\0"))
    own = declared["own"]
    check(own["files"] == [{"name": "my.csv", "bytes": len(held), "sha256": digest, "root": leaf}], f"run.json: {own['files']}")
    check(own["classes"] == ["ash", "elm", "oak"] and declared["dropped"] == 135 % 32, f"run.json: {own['classes']}, {declared['dropped']}")
    check("7 rows of each epoch fill no batch" in ran.stdout, "the tail is not said")
    rows = [line.split() for line in ran.stdout.splitlines()]
    table = {row[0]: row[1:] for row in rows if row and row[0] in ("ash", "elm", "oak")}
    check(len(table) == 3 and sum(int(row[0]) for row in table.values()) == 15, f"table: {table}")
    for name in ("loss", "validation-loss", "validation", "confusion"):
        check(xml.parse(folder / "plots" / f"{name}.svg").getroot().tag.endswith("svg"), f"{name}.svg")
    page = (folder / "r.html").read_text()
    check("http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", ""), "the page names another place")
    for name, cells in table.items():
        row = page.split(f'<th scope="row">{name}</th>')[1].split("</tr>")[0]
        check(row.strip() == "".join(f"<td>{cell}</td>" for cell in cells), f"the page's row of {name}: {row}")
    check(all((folder / "plots" / f"{name}.svg").read_text() in page for name in ("loss", "validation-loss", "validation", "confusion")), "pictures")
    best = min(metrics, key=lambda m: m["validation_loss"])["step"]
    kept = list((folder / "r" / "checkpoints").glob(f"step-{best}-*/state.safetensors"))
    check(len(kept) == 1, f"the best checkpoint, of step {best}, is not kept")
    exported = run("export", "safetensors", "r", "--best", "--state", "-o", "best")
    check(exported.returncode == 0 and (folder / "best").read_bytes() == kept[0].read_bytes(), f"export --best: {exported.stderr!r}")
    # What is exported starts another run.
    run("export", "npz", "r", "-o", "r.npz")
    ran = run("train", *data, "--epochs", "1", "--from", "r.npz", "--no-plots", "--run", "again")
    begun = list((folder / "again" / "checkpoints").glob("step-0-*/state.safetensors"))
    check(ran.returncode == 0 and len(begun) == 1, f"--from: {ran.stderr!r}")
    with zipfile.ZipFile(folder / "r.npz") as archive:
        given = {name.removesuffix(".npy"): elements_of_npy(archive.read(name)) for name in archive.namelist()}
    held = tensors_of(begun[0].read_bytes())
    check(given and all(held.get(name) == elements for name, elements in given.items()), f"--from: {sorted(given)} are not what {sorted(held)} begin with")


def killed(count):
    """Processes of one run, killed at random times; what is left must be what was left of the one that was not."""
    words = [*data, "--epochs", "200", "--patience", "180", "--best", "--no-plots"]
    run("train", *words, "--run", "first")  # compiles
    begin = time.monotonic()
    ran = run("train", *words, "--run", "whole", "--metrics", "whole.jsonl")
    seconds = time.monotonic() - begin
    check(ran.returncode == 0, f"train: {ran.stderr!r}")
    whole, chance, kills, runs = left("whole"), random.Random(5), 0, 0
    while kills < count and runs < 100 and not check.faults:
        name, done = f"k{runs}", False
        runs += 1
        while not done and kills < 200:
            begun = (folder / name / "run.json").exists()
            start = ["resume", name, "--no-plots"] if begun else ["train", *words, "--run", name]
            process = subprocess.Popen([etalon, *start, "--metrics", f"{name}.jsonl", "--threads", str(chance.randint(1, 2))], cwd=folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                _, said = process.communicate(timeout=chance.uniform(0.1, 0.9) * seconds)
                check(process.returncode == 0, f"{start}: {process.returncode}, {said!r}")
                done = True
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                kills += 1
        found = left(name)
        check(found == whole, f"{name}: {[a == b for a, b in zip(found, whole)]} of run.json, journal, metrics, step, state")
    print(f"{kills} kills in {runs} runs")


def audited():
    """A run that ended early is one that can be certified and audited."""
    chance = random.Random(3)
    write("noise.csv", "x,y,k\n" + "".join(f"{chance.random():.4f},{chance.random():.4f},{chance.choice('ab')}\n" for _ in range(120)))
    ran = run("train", "--data", "noise.csv", "--target", "k", "--run", "a", "--patience", "3", "--interval", "2", "--epochs", "50",
              "--rate", "0.05", "--no-plots")
    steps, journal = json.loads((folder / "a" / "run.json").read_text())["steps"], (folder / "a" / "journal.jsonl").read_text()
    check(ran.returncode == 0 and json.loads(journal.splitlines()[-1])["step"] < steps, f"it did not end early: {ran.stdout[-300:]!r}")
    for words in (["genpkey", "-algorithm", "ed25519", "-out", "key.pem"], ["pkey", "-in", "key.pem", "-pubout", "-out", "key.pub"]):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    check(run("certify", "a", "--key", "key.pem", "-o", "c.json").returncode == 0, "certify")
    ran = run("audit", "c.json", "--key", "key.pub", "--run", "a", "--all")
    check(ran.returncode == 0 and ran.stdout.count("as certified") == 1 + len(journal.splitlines()), f"audit: {ran}")
    ran = run("resume", "a", "--no-plots")
    check(ran.returncode == 0 and (folder / "a" / "journal.jsonl").read_text() == journal, f"resume of a run that is over: {ran}")


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        for bit in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * ((crc ^ byte >> bit) & 1)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def messages_of(data):
    """Field and value of each in a protocol buffer."""
    def varint(at):
        value = shift = 0
        while True:
            value, shift, at = value | (data[at] & 127) << shift, shift + 7, at + 1
            if data[at - 1] < 128:
                return value, at
    at, found = 0, []
    while at < len(data):
        key, at = varint(at)
        size = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 0:
            value, at = varint(at)
        else:
            if size is None:
                size, at = varint(at)
            value, at = data[at:at + size], at + size
        found.append((key >> 3, value))
    return found


def events_in(path):
    """What TensorBoard would see: step and scalars of each event, checksums checked."""
    data, found = path.read_bytes(), []
    while data:
        length, crc = struct.unpack("<QI", data[:12])
        body, crc_of_body = data[12:12 + length], struct.unpack("<I", data[12 + length:16 + length])[0]
        check((crc, crc_of_body) == (crc32c(data[:8]), crc32c(body)), "a record of events has another checksum")
        fields = dict(messages_of(body))
        scalars = [dict(messages_of(value)) for _, value in messages_of(fields.get(5, b""))]
        found.append((fields[2], {v[1].decode(): struct.unpack("<f", v[2])[0] for v in scalars}))
        data = data[16 + length:]
    return found


def watched():
    ran = run("train", *data, "--epochs", "4", "--no-plots", "--run", "e", "--metrics", "e.jsonl", "--tensorboard", "tb")
    check(ran.returncode == 0, f"--tensorboard: {ran.stderr!r}")
    files = list((folder / "tb").iterdir())
    check(len(files) == 1 and "tfevents" in files[0].name, f"--tensorboard: {files}")
    events = [(step, scalars) for step, scalars in events_in(files[0]) if scalars]
    lines = lines_of("e.jsonl")
    check(len(events) == 4 and [step for step, _ in events] == [line["step"] for line in lines], f"events: {events}")
    for (_, scalars), line in zip(events, lines):
        same = all(scalars[name] == struct.unpack("<f", struct.pack("<f", line[name]))[0] for name in scalars)
        check(same and set(scalars) == set(line) - {"epoch", "step"}, f"events: {scalars}, {line}")


def formats():
    small = ["--epochs", "3", "--no-plots", "--hidden", "4"]
    write("my.csv.gz", gzip.compress((folder / "my.csv").read_bytes()))
    for words in (["--data", "my.csv.gz", "--target", "kind", "--ignore", "id"],
                  ["own", "--data", "my.csv", "--target", "petal", "--regression", "--ignore", "kind"]):
        ran = run("train", *words, *small, "--metrics", "m.jsonl")
        check(ran.returncode == 0, f"{words}: {ran.stderr!r}")
    check("perplexity" not in lines_of("m.jsonl")[0] and "validation_accuracy" not in lines_of("m.jsonl")[0], "numbers have no accuracy")
    chance = random.Random(2)
    write("images.idx", idx(8, [60, 3, 3], [chance.randrange(256) for _ in range(540)]))
    write("labels.idx", idx(8, [60], [row % 4 for row in range(60)]))
    ran = run("train", "--data", "images.idx", "--labels", "labels.idx", *small, "--run", "i")
    check(ran.returncode == 0 and len(json.loads((folder / "i" / "run.json").read_text())["own"]["files"]) == 2, f"idx: {ran.stderr!r}")
    write("labels.idx", idx(8, [60], [0] + [row % 4 for row in range(1, 60)][::-1]))
    refused(["i/run.json", "labels.idx", "SHA-256"], "resume", "i")
    write("text.txt", "the cat sat on the mat and the dog sat on the log. " * 20)
    ran = run("train", "--data", "text.txt", "--context", "4", *small, "--metrics", "m.jsonl")
    metrics = lines_of("m.jsonl")
    check(ran.returncode == 0 and metrics[-1]["perplexity"] < metrics[0]["perplexity"], f"text: {ran.stderr!r}, {metrics}")


def refusals():
    words = ["--target", "kind", "--run", "never", "--no-plots"]
    good = "x,kind\n1,a\n2,b\n"
    table = {"x,kind\n1,a\nnan,b\n": ["bad.csv:3", "column 1", "'x'", "nan"], good + "3\n": ["bad.csv:4", "1 columns", "expected 2"],
             good + "inf,a\n": ["bad.csv:4", "column 1", "inf"], good + "3,1.5\n": ["bad.csv:4", "column 2", "1.5", "--regression"],
             good + "3,\"a\n": ["bad.csv:4", "quote"], good + "\0,a\n": ["bad.csv:4", "column 1"], "": ["bad.csv", "empty"],
             "x,kind\n": ["bad.csv", "no rows"], good + "3,a,": ["bad.csv:4", "3 columns"]}
    for text, expected in table.items():
        write("bad.csv", text)
        refused(expected, "train", "--data", "bad.csv", *words)
    write("bad.csv", good.encode() + b"3,\xff\n4,c\n")
    refused(["UTF-8"], "train", "--data", "bad.csv", "--batch", "2", *words)
    write("bad.csv", "x,kind\n1,0\n2,10\n")
    refused(["bad.csv:3", "column 2", "'10'", "0 to 9"], "train", "--data", "bad.csv", "--classes", "10", *words)
    refused(["gone.csv", "No such file"], "train", "--data", "gone.csv", *words)
    refused(["my.csv", "'kimd'", "'kind'"], "train", "--data", "my.csv", "--target", "kimd", "--run", "never")
    refused(["my.csv:2", "'kind'", "--ignore"], "train", "--data", "my.csv", "--target", "petal", "--regression", "--run", "never")
    refused(["--hidden", "x"], "train", "--data", "my.csv", "--hidden", "x")
    refused(["hidden layer of -1"], "train", "--data", "my.csv", "--target", "kind", "--ignore", "id", "--hidden", "-1")
    refused(["150 rows", "batches of 1000"], "train", *data, "--validation", "0", "--batch", "1000", "--run", "never")
    refused(["--patience"], "train", *data, "--validation", "0", "--patience", "3", "--run", "never")
    refused(["--best", "--run"], "train", *data, "--best")
    refused(["no/m.jsonl"], "train", *task, "--metrics", "no/m.jsonl", "--run", "never")
    refused(["one's own data"], "train", "digits", "--hidden", "4")
    refused(["task"], "train")
    write("bad.idx", idx(8, [3, 2], [1, 2, 3]))
    refused(["bad.idx", "3 bytes"], "train", "--data", "bad.idx", "--target", "1", "--run", "never")
    write("none.idx", idx(8, [0, 2**32 - 1], []))
    refused(["none.idx", "i32[0, 4294967295]", "expected rows of columns"], "train", "--data", "none.idx", "--target", "1", "--run", "never")
    write("behind.csv.gz", gzip.compress(good.encode()) + b"x")
    refused(["behind.csv.gz", "1 bytes behind"], "train", "--data", "behind.csv.gz", *words)
    check(not (folder / "never").exists(), "a run was begun with data that was refused")
    # The file of a run that is changed by a byte.
    before = (folder / "my.csv").read_text()
    write("my.csv", before.replace("oak", "elm", 1))
    refused(["r/run.json", "my.csv", "SHA-256", "--data"], "resume", "r")
    write("moved.csv", before)
    check(run("resume", "r", "--data", "moved.csv", "--no-plots", "--html", "over.html").returncode == 0, "resume --data")
    # Of a run that is over its folder has what was validated, to the same picture.
    check((folder / "plots" / "validation-loss.svg").read_text() in (folder / "over.html").read_text(), "the page of a run that is over")
    refused(["no/page.html"], "train", *task, "--html", "no/page.html", "--run", "never")
    write("my.csv", before)
    # run.json of a stranger.
    text = (folder / "r" / "run.json").read_text()
    declared = json.loads(text)
    own = declared["own"]
    for change in ({"own": 3}, {"own": dict(own, files=[])}, {"own": dict(own, more=1)}, {"patience": -1}, {"task": "digits"}, {"best": 1},
                   {"own": dict(own, model=dict(own["model"], features=2**63 - 1))}):
        (folder / "r" / "run.json").write_text(json.dumps(dict(declared, **change)))
        refused([""], "resume", "r")
        refused([""], "export", "npz", "r", "-o", "x.npz")
    named = dict(own, files=[dict(own["files"][0], name="gone\n\x1b[2J.csv")])
    (folder / "r" / "run.json").write_text(json.dumps(dict(declared, own=named)))
    refused(["gone  [2J.csv: the file cannot be read"], "resume", "r")
    (folder / "r" / "run.json").write_text(text)


classifies()
watched()
formats()
refusals()
audited()
killed(int(sys.argv[2]) if len(sys.argv) > 2 else 3)
sys.exit(check.status(60))
