"""Golden packs as the command writes, reads and judges them: the same bytes whoever writes, the published schema, and one
clear line for whatever is wrong with a file or an answer.

    packs.py ETALON SOURCE
"""
import base64
import hashlib
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

etalon, root = sys.argv[1], pathlib.Path(sys.argv[2])
OPERATIONS = "softmax,adam,max,relu,amsgrad"


def run(*words, text=""):
    return subprocess.run([etalon, "pack", *map(str, words)], input=text, capture_output=True, text=True)


def lines_of(pack, operation):
    return [line.rstrip(",") for line in (pack / f"{operation}.json").read_text().splitlines() if line.startswith('{"request"')]


def sealed(pack, operation, text):
    """Puts other text in place of an operation's, with its digest."""
    (pack / f"{operation}.json").write_text(text)
    index = json.loads((pack / "pack.json").read_text())
    for entry in index["files"]:
        if entry["operation"] == operation:
            entry["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (pack / "pack.json").write_text(json.dumps(index))


def refused(result, status, *parts):
    said = result.stderr if status == 2 else result.stdout
    assert result.returncode == status, f"expected status {status}, found {result.returncode}: {result.stdout}{result.stderr}"
    assert status != 2 or len(said.splitlines()) == 1 and result.stdout == "", f"expected one line, found {said}"
    for part in parts:
        assert part in said, f"expected {part} in {said}"


def the_pack(folder):
    [pack] = pathlib.Path(folder).glob("etalon-pack-1-ieee-*")
    return pack


with tempfile.TemporaryDirectory() as name:
    here = pathlib.Path(name)
    for jobs in (1, 3):
        wrote = run("write", "--ops", OPERATIONS, "--jobs", jobs, "-o", here / str(jobs), "--json")
        assert wrote.returncode == 0, wrote.stderr
    pack = the_pack(here / "1")
    files = sorted(p.name for p in pack.iterdir())
    assert all((pack / f).read_bytes() == (the_pack(here / "3") / f).read_bytes() for f in files), "bytes depend on the number of threads"
    refused(run("write", "--ops", "relu", "-o", here / "1"), 2, "packs are never changed")
    assert json.loads(run("check", pack, "--json").stdout)["ok"] is True

    index = json.loads((pack / "pack.json").read_text())
    assert [f["sha256"] for f in index["files"]] == [hashlib.sha256((pack / f["file"]).read_bytes()).hexdigest() for f in index["files"]]
    tests = {f["operation"]: json.loads((pack / f["file"]).read_text()) for f in index["files"]}
    every = [t for operation in tests.values() for t in operation["tests"]]
    assert {t["mode"] for t in every} == {"forward", "jvp", "vjp", "jvp_of_vjp"}
    assert any(t.get("rejected") for t in every) and any(t.get("joint") for t in every), "expected rejected and joint tests"
    assert any(t["id"].endswith("#2") for t in tests["adam"]["tests"]), "adam has no trajectory of two steps"
    flags = {flag for t in every for flag in t["flags"]}
    assert flags >= {"ties", "subnormal", "empty", "cancelling", "overflow", "kink"}, f"flags: {sorted(flags)}"
    assert all(note for operation in tests.values() for note in operation["notes"].values())

    # Of relu the answer is known: x where x > 0, else 0.
    for t in tests["relu"]["tests"]:
        if t["mode"] != "forward" or t.get("rejected") or t["inputs"][0]["dtype"] != "f32":
            continue
        x = struct.unpack(f"<{len(base64.b64decode(t['inputs'][0]['data'])) // 4}f", base64.b64decode(t["inputs"][0]["data"]))
        low, high = (struct.unpack(f"<{len(x)}f", base64.b64decode(t["results"][0]["ways"][0][end])) for end in ("lower", "upper"))
        if "nan" not in t["flags"] and "overflow" not in t["flags"]:
            assert all(l <= max(v, 0) <= h for l, v, h in zip(low, x, high)), t["id"]

    # The reference passes; one number that is off is convicted by the name of its case.
    requests = run("requests", pack).stdout
    answers = subprocess.run([etalon, "serve", "--backend", "reference"], input=requests, capture_output=True, text=True, check=True).stdout
    judged = run("judge", pack, "--json", text=answers)
    assert judged.returncode == 0 and json.loads(judged.stdout)["failures"] == [], judged.stdout[:500]
    first = next(t["id"] for t in tests["softmax"]["tests"] if t["mode"] == "forward" and t["inputs"][0]["dtype"] == "f32" and "normal" in t["flags"] and t["results"][0]["value"])
    spoilt = []
    for line in answers.splitlines():
        answer = json.loads(line)
        if answer["id"] == first:
            answer["outputs"][0]["data"] = base64.b64encode(struct.pack("<f", 2) + base64.b64decode(answer["outputs"][0]["data"])[4:]).decode()
        spoilt.append(json.dumps(answer))
    judged = run("judge", pack, "--json", text="\n".join(spoilt))
    assert judged.returncode == 1 and [f["id"] for f in json.loads(judged.stdout)["failures"]] == [first], judged.stdout[:500]
    refused(run("judge", pack, text=""), 1, "unanswered")
    refused(run("judge", pack, text="{"), 2, "standard input:1:")
    refused(run("judge", pack, text='{"id":"nobody","error":"x"}'), 2, "nobody")
    assert first in run("show", pack, first).stdout
    refused(run("show", pack, first + "x"), 2, "did you mean")
    refused(run("header", pack, "softmaxx"), 2, "did you mean 'softmax'")

    # Hostile files: each one line that names the file, and what was wrong.
    text = (pack / "relu.json").read_text()
    line = next(each for each in lines_of(pack, "relu") if "rejected" not in json.loads(each) and json.loads(each)["results"][0]["value"])

    def changed(change):
        other = json.loads(line)
        change(other)
        return text.replace(line, json.dumps(other), 1)

    def set_way(key, value):
        return lambda t: t["results"][0]["ways"][0].__setitem__(key, value)

    hostile = {
        "truncated": (text[:len(text) // 2], "relu.json"),
        "another version": (text.replace('"etalon_pack":1', '"etalon_pack":2'), "expected version 1, found 2"),
        "no base64": (changed(set_way("lower", "????")), "expected base64"),
        "too few bytes": (changed(set_way("lower", "AA==")), "bytes"),
        "a number for base64": (changed(set_way("upper", 3)), "upper"),
        "bits": (changed(set_way("admits", {"0": 64})), "expected bits from 0 to 31, found 64"),
        "a position": (changed(set_way("admits", {"99999": 8})), "expected positions below"),
        "a huge shape": (changed(lambda t: t["results"][0].__setitem__("shape", [1 << 40, 1 << 40])), "shape"),
        "no ways": (changed(lambda t: t["results"][0].__setitem__("ways", [])), "ways"),
        "no results": (changed(lambda t: t.__setitem__("results", [])), "results"),
        "no list": (changed(lambda t: t["results"][0].__setitem__("list", "x")), "a list of an answer"),
        "flags": (changed(lambda t: t.__setitem__("flags", 1)), "flags"),
        "a test that is none": (text.replace(line, "3", 1), "tests["),
        "nested": ("[" * 100000, "relu.json"),
    }
    for what, (other, part) in hostile.items():
        bad = here / "bad" / pack.name
        shutil.rmtree(bad, ignore_errors=True)
        shutil.copytree(pack, bad)
        sealed(bad, "relu", other)
        result = run("requests", bad, "--ops", "relu")
        refused(result, 2, "relu.json", part)
        result = run("check", bad)
        assert result.returncode == 1 and part in result.stdout, f"{what}: {result.stdout}"
    shutil.rmtree(bad)
    shutil.copytree(pack, bad)
    (bad / "relu.json").write_text(text.replace("0", "1", 1))
    refused(run("requests", bad, "--ops", "relu"), 2, "expected SHA-256")
    (bad / "stray.json").write_text("{}")
    refused(run("check", bad), 1, "stray.json", "expected SHA-256")
    for other, part in (("{", "pack.json"), ('{"etalon_pack":1}', "pack.json"), ('{"etalon_pack":3}', "version"),
                        ((pack / "pack.json").read_text().replace("relu.json", "../relu.json"), "the operation's name")):
        (bad / "pack.json").write_text(other)
        refused(run("check", bad), 2, "pack.json", part)
    refused(run("check", here / "nowhere"), 2, "nowhere")

    try:
        import jsonschema
    except ImportError as missing:
        print(f"skipped the schema: {missing}")
        sys.exit(77)
    schema = json.loads((root / "docs/pack.schema.json").read_text())
    assert json.loads((pack / "schema.json").read_text()) == schema
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for file in ["pack.json", *(f["file"] for f in index["files"])]:
        for error in validator.iter_errors(json.loads((pack / file).read_text())):
            raise AssertionError(f"{file}: {error.message[:200]}")
    for what in ("bits", "no ways", "no results", "no list", "flags", "a test that is none", "no base64"):
        assert not validator.is_valid(json.loads(hostile[what][0])), f"the schema accepts {what}"
print(f"{len(every)} tests")
