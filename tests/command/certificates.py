"""Certificates of training runs as their users meet them: signed, verified, audited, forged, disputed.

Usage: certificates.py ETALON
"""
import base64
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from checks import Checks

etalon = sys.argv[1]
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
check = Checks()
refused = check.refused


def run(*words):
    return subprocess.run([etalon, *map(str, words)], capture_output=True, text=True, timeout=300, cwd=folder)


def openssl(*words):
    return subprocess.run(["openssl", *words], capture_output=True, cwd=folder)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def journal(name):
    return [json.loads(line) for line in (folder / name / "journal.jsonl").read_text().splitlines()]


def write_journal(name, lines):
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (folder / name / "journal.jsonl").write_text(text)


def root(texts):
    """RFC 9162, section 2.1.1, written once more."""
    if len(texts) == 1:
        return hashlib.sha256(b"\0" + texts[0]).digest()
    k = 1
    while 2 * k < len(texts):
        k *= 2
    return hashlib.sha256(b"\1" + root(texts[:k]) + root(texts[k:])).digest()


for name in ("k", "stranger"):
    check(openssl("genpkey", "-algorithm", "ed25519", "-out", f"{name}.pem").returncode == 0, "openssl genpkey")
    openssl("pkey", "-in", f"{name}.pem", "-pubout", "-out", f"{name}.pub")
openssl("genpkey", "-algorithm", "ed448", "-out", "other.pem")

check(run("train", "moons", "--epochs", "10", "--run", "r", "--no-plots").returncode == 0, "train")
check(run("certify", "r", "--key", "k.pem", "-o", "c.json").returncode == 0, "certify")
check(run("certify", "r", "--key", "k.pem", "-o", "again.json").returncode == 0, "certify again")
check((folder / "c.json").read_bytes() == (folder / "again.json").read_bytes(), "the same run has another certificate")

# What others read: OpenSSL checks the signature, and the statement says what the folder holds.
envelope = json.loads((folder / "c.json").read_text())
payload = base64.b64decode(envelope["payload"])
kind = envelope["payloadType"]
(folder / "signed").write_bytes(f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload)
(folder / "signature").write_bytes(base64.b64decode(envelope["signatures"][0]["sig"]))
check(openssl("pkeyutl", "-verify", "-pubin", "-inkey", "k.pub", "-rawin", "-in", "signed", "-sigfile", "signature").returncode == 0,
      "openssl does not accept the signature")
statement = json.loads(payload)
predicate = statement["predicate"]
lines = (folder / "r" / "journal.jsonl").read_bytes().splitlines()
check(predicate["run"] == digest((folder / "r" / "run.json").read_bytes()), "the run's name")
check(predicate["intervals"] == {"count": len(lines), "root": root(lines).hex()}, "the root of the intervals")
check(predicate["states"]["end"] == journal("r")[-1]["state"], "the last state")
run("export", "safetensors", "r", "-o", "model.safetensors")
check({"name": "model.safetensors", "digest": {"sha256": digest((folder / "model.safetensors").read_bytes())}} in statement["subject"],
      "the model's digest")

verified = run("verify", "c.json", "--key", "k.pub", "--file", "model.safetensors", "--run", "r")
check(verified.returncode == 0 and verified.stdout.endswith("holds\n"), f"verify: {verified.stdout!r} {verified.stderr!r}")
(folder / "other.safetensors").write_bytes((folder / "model.safetensors").read_bytes() + b" ")
for words, say in ((["--key", "stranger.pub"], "no signature is this key's"),
                   (["--key", "k.pub", "--file", "other.safetensors"], "is no file's of the certificate")):
    ran = run("verify", "c.json", *words)
    check(ran.returncode == 1 and say in ran.stdout and ran.stdout.endswith("does not hold\n"), f"verify {words}: {ran.stdout!r}")

# Names in a certificate are whoever's: none of them starts a line or moves the cursor, and metrics are nobody's but the trainer's.
def signed(name, statement):
    payload = json.dumps(statement).encode()
    (folder / "signed").write_bytes(f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload)
    check(openssl("pkeyutl", "-sign", "-rawin", "-inkey", "k.pem", "-in", "signed", "-out", "signature").returncode == 0, "openssl does not sign")
    text = {part: base64.b64encode(data).decode() for part, data in (("payload", payload), ("sig", (folder / "signature").read_bytes()))}
    whole = {"payloadType": kind, "payload": text["payload"], "signatures": [envelope["signatures"][0] | {"sig": text["sig"]}]}
    (folder / name).write_text(json.dumps(whole))


strange = json.loads(payload)
evil = "x\nholds\n\x1b[2J\x7f"
strange["subject"][0]["name"] = evil
strange["predicate"]["environments"] = [{"from": 0, "device": evil, "build": evil}]
strange["predicate"]["metrics"] = {evil: "0x1p+0"}
strange["predicate"]["shadow"] = {"policy": evil, "replayed": 1, "judged": 1, "transient": 0}
signed("strange.json", strange)
ran = run("verify", "strange.json", "--key", "k.pub", "--run", "r")
shown = ran.stdout.splitlines()
check(ran.returncode == 1 and shown[-1] == "does not hold" and "holds" not in shown and not {"\x1b", "\x7f"} & set(ran.stdout), f"names: {ran.stdout!r}")
check(sum("x holds  [2J " in line for line in shown) == 5, f"names on their lines: {shown}")
metrics = [line for line in verified.stdout.splitlines() if line.startswith("metric ")]
check(metrics and all(line.endswith(", the trainer's word") for line in metrics), f"metrics: {metrics}")

# Every character of the certificate matters, but the hint at the key.
text = (folder / "c.json").read_text()
for at in range(0, len(text) - 1, 331):
    changed = text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1:]
    (folder / "changed.json").write_text(changed)
    hint = text.find('"keyid"') <= at < text.find('"sig"')
    ran = run("verify", "changed.json", "--key", "k.pub")
    check(hint or ran.returncode != 0, f"verify: character {at} does not matter")

# An audit repeats by its nonce, and finds what was forged when it asks for it.
audited = run("audit", "c.json", "--key", "k.pub", "--run", "r", "--intervals", "7", "--json", "a.json")
found = json.loads((folder / "a.json").read_text())
check(found["level"] == "bitwise" and not {"contract", "elements", "undecided"} & set(found), f"what an audit rests on: {found}")
check(audited.returncode == 0 and found["holds"] and len(found["intervals"]) == 7, f"audit: {audited.stdout!r} {audited.stderr!r}")
again = run("audit", "c.json", "--key", "k.pub", "--run", "r", "--intervals", "7", "--nonce", found["nonce"], "--json", "b.json", "--threads", "2")
check(again.returncode == 0 and json.loads((folder / "b.json").read_text()) == found, "an audit does not repeat")
device = run("audit", "c.json", "--key", "k.pub", "--run", "r", "--intervals", "1", "--backend", "cuda-emulated")
check(device.returncode == 0 or "cuda-emulated" in device.stderr, f"audit on an emulated device: {device.stdout!r} {device.stderr!r}")

# What another device computed is audited here to the bit, and noted as what it was.
on_device = ["--epochs", "1", "--interval", "10", "--backend", "cuda-emulated"]
check(run("train", "moons", *on_device, "--run", "e", "--no-plots").returncode == 0, "train on the emulated device")
check(run("certify", "e", "--key", "k.pem", "-o", "e.json").returncode == 0, "certify what the emulated device computed")
said = json.loads(base64.b64decode(json.loads((folder / "e.json").read_text())["payload"]))["predicate"]["environments"]
check([e["device"] for e in said] == ["cuda-emulated"], f"where it was computed: {said}")
audited = run("audit", "e.json", "--key", "k.pub", "--run", "e", "--all", "--json", "e-audit.json")
across = json.loads((folder / "e-audit.json").read_text())["intervals"]
check(audited.returncode == 0 and len(across) >= 3 and all(i["same"] for i in across), f"audit of another device: {audited.stdout!r}")

shutil.copytree(folder / "r", folder / "f")
forged = journal("f")
forged[40]["losses"] = "0" * 64
write_journal("f", forged)
ran = run("verify", "c.json", "--key", "k.pub", "--run", "f")
check(ran.returncode == 1 and "the root of the intervals" in ran.stdout, f"verify of a forged journal: {ran.stdout!r}")
refused(run("audit", "c.json", "--key", "k.pub", "--run", "f"), 2, ["not the certificate's", "root"])
check(run("certify", "f", "--key", "k.pem", "-o", "f.json").returncode == 0, "certify what is forged")
everything = run("audit", "f.json", "--key", "k.pub", "--run", "f", "--all", "--json", "f-audit.json")
outcome = {i["interval"]: i["same"] for i in json.loads((folder / "f-audit.json").read_text())["intervals"]}
check(everything.returncode == 1 and len(outcome) == len(lines), f"audit of all: {everything.returncode}")
first_kept = max(int(p.name.split("-")[1]) for p in (folder / "f" / "checkpoints").glob("step-*") if int(p.name.split("-")[1]) <= forged[39]["step"])
met = {line["interval"] for line in forged if line["step"] >= forged[40]["step"] and
       max(int(p.name.split("-")[1]) for p in (folder / "f" / "checkpoints").glob("step-*") if int(p.name.split("-")[1]) < line["step"]) == first_kept}
check({i for i, same in outcome.items() if not same} == met and 41 in met, f"what the audit found: {sorted(i for i, s in outcome.items() if not s)}")

# Intervals that begin at one checkpoint are computed at once, and come to what each comes to alone.
alone = []
for nonce in ("0" * 64, "1" * 64, "2" * 64):
    run("audit", "f.json", "--key", "k.pub", "--run", "f", "--intervals", "1", "--nonce", nonce, "--json", "alone.json")
    alone += json.loads((folder / "alone.json").read_text())["intervals"]
together = {i["interval"]: i for i in json.loads((folder / "f-audit.json").read_text())["intervals"]}
check(len({i["interval"] for i in alone}) == 3 and all(i == together[i["interval"]] for i in alone), f"intervals alone: {alone}")

# Leaves that are left out, exchanged or doubled.
for name, change in (("cut", lambda l: l[:-1]), ("swapped", lambda l: l[:10] + [l[11], l[10]] + l[12:]), ("doubled", lambda l: l[:10] + [l[9]] + l[10:])):
    shutil.copytree(folder / "r", folder / name)
    write_journal(name, change(journal("r")))
    check(run("verify", "c.json", "--key", "k.pub", "--run", name).returncode in (1, 2), f"verify: leaves {name}")

disputed = run("dispute", "r", "f")
check(disputed.returncode == 1 and "interval 41," in disputed.stdout and "r: state" in disputed.stdout and
      disputed.stdout.count("it is the same") == 1 and disputed.stdout.count("it is another") == 1, f"dispute: {disputed.stdout!r}")
check(run("dispute", "r", "r").returncode == 0, "dispute of one")

# What a dishonest trainer may sign: the tree and the envelope are right, what they are of is not.
def sign(name, statement):
    """An envelope of this statement by the key k."""
    certificate = json.loads((folder / "c.json").read_text())
    payload, kind = json.dumps(statement).encode(), certificate["payloadType"].encode()
    (folder / "pae").write_bytes(b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload))
    check(openssl("pkeyutl", "-sign", "-inkey", "k.pem", "-rawin", "-in", "pae", "-out", "sig").returncode == 0, "openssl signs")
    certificate["payload"] = base64.b64encode(payload).decode()
    certificate["signatures"][0]["sig"] = base64.b64encode((folder / "sig").read_bytes()).decode()
    (folder / f"{name}.json").write_text(json.dumps(certificate))


def forge(name, source, change_lines=lambda lines: lines, change_folder=lambda path: None, change=lambda statement: None):
    """A folder and a certificate of it, made from an honest pair."""
    shutil.copytree(folder / source, folder / name)
    check(run("certify", name, "--key", "k.pem", "-o", "honest.json").returncode == 0, f"certify {name}")
    statement = json.loads(base64.b64decode(json.loads((folder / "honest.json").read_text())["payload"]))
    forged_lines = change_lines(journal(name))
    write_journal(name, forged_lines)
    change_folder(folder / name)
    predicate = statement["predicate"]
    predicate["states"]["end"] = forged_lines[-1]["state"]
    leaves = [json.dumps(line, separators=(",", ":")).encode() for line in forged_lines]
    predicate["intervals"] = {"count": len(leaves), "root": root(leaves).hex()}
    for subject in statement["subject"]:
        if subject["name"] == "state.safetensors":
            subject["digest"]["sha256"] = forged_lines[-1]["state"]
    change(statement)
    sign(name, statement)
    return run("audit", f"{name}.json", "--key", "k.pub", "--run", name, "--all")


def invented(lines, step=None):
    """Nothing of the digests is what training comes to."""
    return [{**line, "step": step or line["step"], "state": digest(b"s%d" % n), "losses": digest(b"l%d" % n)} for n, line in enumerate(lines)]


def out_of_patience(path):
    """Only the first checkpoint stays, and says that nothing was better for long."""
    for checkpoint in sorted((path / "checkpoints").iterdir()):
        if not checkpoint.name.startswith("step-0-"):
            shutil.rmtree(checkpoint)
            continue
        manifest = json.loads((checkpoint / "manifest.json").read_text())
        manifest["validation"] = [0.1, 1.0, 1.0, 1.0, 1.0]
        text = json.dumps(manifest)
        (checkpoint / "manifest.json").write_text(text)
        checkpoint.rename(checkpoint.with_name("step-0-" + digest(text.encode())[:16]))


def state_alone(statement):
    statement["subject"] = [subject for subject in statement["subject"] if subject["name"] == "state.safetensors"]


def other_model(statement):
    for subject in statement["subject"]:
        if subject["name"] == "model.safetensors":
            subject["digest"]["sha256"] = digest(b"another model")


check(run("train", "names", "--epochs", "6", "--patience", "3", "--run", "n", "--no-plots").returncode == 0, "train with patience")
check(forge("honest", "n").returncode == 0, "an honest run with patience does not hold")
for name, source, changes, say in (
        ("steps", "r", {"change_lines": lambda lines: invented(lines, 1)}, "ends after step 1, expected"),
        ("short", "r", {"change_lines": lambda lines: lines[:2]}, "the journal ends after step"),
        ("model", "r", {"change": other_model}, "model.safetensors is certified as"),
        ("patience", "n", {"change_lines": invented, "change_folder": out_of_patience, "change": state_alone}, "validation losses")):
    audited = forge(f"forged-{name}", source, **changes)
    check(audited.returncode != 0 and "Traceback" not in audited.stderr and say in audited.stdout + audited.stderr,
          f"forged {name}: {audited.returncode} {audited.stdout[-300:]!r} {audited.stderr!r}")

# Who computed the leaves is no part of a run: one declaration, one journal, one certificate but for what it says of machines.
for name, devices in (("one", 1), ("three", 3)):
    check(run("train", "moons", "--epochs", "4", "--batch", "12", "--grain", "4", "--devices", devices, "--run", name, "--no-plots").returncode == 0,
          f"train on {devices} devices")
    check(run("certify", name, "--key", "k.pem", "-o", f"{name}.json").returncode == 0, f"certify {name}")
statements = [json.loads(base64.b64decode(json.loads((folder / f"{name}.json").read_text())["payload"])) for name in ("one", "three")]
machines = [statement["predicate"].pop("environments") for statement in statements]
check(statements[0] == statements[1], "the number of devices is in the certificate")
check([[(e["from"], e["device"], e["threads"], e["devices"]) for e in of] for of in machines] == [[(0, "cpu", 1, 1)], [(0, "cpu", 1, 3)]],
      f"environments: {machines}")
# The build is named by what `sha256sum` prints of the command.
built = digest(pathlib.Path(etalon).read_bytes())
check([e["executable"] for of in machines for e in of] == [built, built], f"the executable: {machines}, expected {built}")
check(f", executable {built}," in run("verify", "one.json", "--key", "k.pub").stdout, "verify names no executable")

# Each resumption is noted, one that computed nothing is not; a torn file is refused and no fault of the run.
(folder / "resumed").mkdir()
for file in ("run.json", "journal.jsonl", "environments.jsonl"):
    shutil.copy(folder / "one" / file, folder / "resumed")
shutil.copytree(next((folder / "one/checkpoints").glob("step-0-*")), folder / "resumed/checkpoints" / next((folder / "one/checkpoints").glob("step-0-*")).name)
for _ in range(2):
    check(run("resume", "resumed", "--threads", "2", "--no-plots").returncode == 0, "resume from the start")
noted = [json.loads(line) for line in (folder / "resumed/environments.jsonl").read_text().splitlines()]
check([(e["from"], e["threads"], e["devices"]) for e in noted] == [(0, 1, 1), (0, 2, 1)], f"resumptions: {noted}")
check(run("certify", "resumed", "--key", "k.pem", "-o", "resumed.json").returncode == 0, "certify a resumed run")
shown = run("verify", "resumed.json", "--key", "k.pub").stdout
check(shown.count("computed   from step 0 by cpu (") == 2 and shown.count("the trainer's word\n") >= 2, f"verify: {shown}")
(folder / "resumed/environments.jsonl").write_text('{"from":0,"device":"cpu"')
refused(run("certify", "resumed", "--key", "k.pem", "-o", "resumed.json"), 2, ["environments.jsonl:1"])

# What a run starts from: drawn again by its seed, or read again from the file whose digest it has.
check(run("export", "npz", "one", "-o", "start.npz").returncode == 0, "export")
check(run("train", "moons", "--epochs", "1", "--from", "start.npz", "--run", "imported", "--no-plots").returncode == 0, "train --from")
check(json.loads((folder / "imported/run.json").read_text())["imported"] == {"sha256": digest((folder / "start.npz").read_bytes()), "maps": []}, "imported")
check(run("certify", "imported", "--key", "k.pem", "-o", "imported.json").returncode == 0, "certify what was imported")
on = ["audit", "imported.json", "--key", "k.pub", "--run", "imported", "--intervals", "1"]
ran = run(*on, "--from", "start.npz")
check(ran.returncode == 0 and "start: as certified" in ran.stdout, f"audit --from: {ran.stdout}")
check("trainer's word; --from checks it" in run(*on).stdout, "audit without the file")
refused(run(*on, "--from", "c.json"), 2, ["c.json", "SHA-256", "started from"])
refused(run("audit", "c.json", "--key", "k.pub", "--run", "r", "--from", "start.npz"), 2, ["--from", "seed draws"])


def hide_import(path):
    """Says that the seed drew what was read from a file; the checkpoints follow."""
    old = (path / "run.json").read_bytes()
    declared = json.loads(old)
    del declared["imported"]
    (path / "run.json").write_text(json.dumps(declared, indent=2) + "\n")
    for checkpoint in (path / "checkpoints").iterdir():
        text = (checkpoint / "manifest.json").read_text().replace(digest(old), digest((path / "run.json").read_bytes()))
        (checkpoint / "manifest.json").write_text(text)
        checkpoint.rename(checkpoint.with_name(checkpoint.name.rsplit("-", 1)[0] + "-" + digest(text.encode())[:16]))


shutil.copytree(folder / "imported", folder / "hidden")
hide_import(folder / "hidden")
check(run("certify", "hidden", "--key", "k.pem", "-o", "hidden.json").returncode == 0, "certify what hides its start")
ran = run("audit", "hidden.json", "--key", "k.pub", "--run", "hidden", "--intervals", "1", "--json", "hidden-audit.json")
check(ran.returncode == 1 and ran.stdout.endswith("does not hold\n"), f"a hidden start: {ran.stdout} {ran.stderr}")
check("the state before the first step is" in json.loads((folder / "hidden-audit.json").read_text()).get("start", ""), "a hidden start in --json")
check(json.loads((folder / "one" / "run.json").read_text())["grain"] == 4, "the grain is not in the declaration")
check(run("audit", "three.json", "--key", "k.pub", "--run", "one", "--intervals", "3").returncode == 0, "audit of leaves")

# Bad input, one line each.
run("train", "moons", "--epochs", "10", "--seed", "2", "--run", "s", "--no-plots")
refused(run("dispute", "r", "s"), 2, ["two runs"])
refused(run("verify", "c.json", "--key", "k.pem"), 2, ["k.pem", "public"])
refused(run("verify", "model.safetensors", "--key", "k.pub"), 2, ["model.safetensors", "JSON"])
refused(run("certify", "r", "--key", "other.pem", "-o", "d.json"), 2, ["other.pem", "ED25519"])
refused(run("certify", "r", "--key", "k.pem", "-o", "no/d.json"), 2, ["no/d.json"])
refused(run("certify", "nowhere", "--key", "k.pem", "-o", "d.json"), 2, ["nowhere/run.json"])
refused(run("audit", "c.json", "--key", "stranger.pub", "--run", "r"), 2, ["no signature"])
refused(run("audit", "c.json", "--key", "k.pub", "--run", "r", "--intervals", "1000"), 2, ["1000", "1 to 100"])
refused(run("audit", "c.json", "--key", "k.pub", "--run", "r", "--nonce", "12"), 2, ["nonce", "64"])
check(not (folder / "d.json").exists(), "something half-written")

sys.exit(check.status(50))
