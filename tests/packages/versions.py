"""docs/versions.md, and every place that states a version, agree. Usage: versions.py ETALON ROOT"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

etalon, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
faults, checks = [], 0


def equal(found, expected, what):
    global checks
    checks += 1
    if found != expected:
        faults.append(f"{what}: expected {expected!r}, found {found!r}")


def run(*words, **more):
    return subprocess.run([etalon, *words], capture_output=True, text=True, timeout=120, **more)


def stated(path, pattern):
    found = re.search(pattern, (root / path).read_text(), re.M)
    return found and found[1]


table = dict(re.findall(r"^\| (\w+) \| ([^|]+) \|", (root / "docs/versions.md").read_text(), re.M))
equal(sorted(table), ["Etalon", "pack", "protocol", "report", "specification", "waivers", "what"], "docs/versions.md: rows")
ours, protocol, pack, report, waivers = (table.get(row) for row in ("Etalon", "protocol", "pack", "report", "waivers"))

equal(stated("CMakeLists.txt", r"^project\(etalon VERSION (\S+)"), ours, "CMakeLists.txt")
equal(stated("tools/debian/changelog", r"\Aetalon \((\S+)\)"), ours, "tools/debian/changelog")
equal(run("--version").stdout, f"etalon {ours}\n", "etalon --version")
specification = json.loads(run("spec", "--json").stdout)
equal(specification["etalon"], ours, "etalon spec --json")
equal(bool(re.fullmatch(r"sha256:[0-9a-f]{64}", specification["hash"])), True, "the specification's hash")

described = json.loads(run("serve", "--backend", "reference", input='{"etalon":%s,"request":"describe"}\n' % protocol).stdout)
equal((str(described["etalon"]), str(described["protocol"])), (protocol, protocol), "describe")
with tempfile.TemporaryDirectory() as scratch:
    answer = pathlib.Path(scratch) / "answer.json"
    for version, status in ((int(protocol), 0), (int(protocol) + 1, 2)):
        answer.write_text(json.dumps({**described, "etalon": version}) + "\n")
        ran = run("conform", "--dry-run", "--ops", "neg", "--backend", f"exec:read -r _; cat {answer}; cat > /dev/null")
        equal(ran.returncode, status, f"an adapter of protocol {version}: {ran.stderr}")
equal(stated("docs/protocol.md", r"\A# Protocol (\d+)$"), protocol, "docs/protocol.md")

with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    little = ("--ops", "neg", "--dtypes", "f32", "--checks", "value")
    run("conform", "--backend", "reference", *little, "--json", folder / "run.jsonl")
    lines = (folder / "run.jsonl").read_text().splitlines()
    header = json.loads(lines[0])
    equal((str(header["schema"]), header["spec"]), (report, specification["hash"]), "the header of a report")
    (folder / "other.jsonl").write_text("\n".join([json.dumps({**header, "schema": int(report) + 1}), *lines[1:]]) + "\n")
    ran = run("report", "render", folder / "other.jsonl")
    equal((ran.returncode, ran.stderr.count("\n")), (2, 1), "a report of another schema")
    run("pack", "write", "--ops", "neg", "--dtypes", "f32", "--out", folder / "packs")
    folders = list((folder / "packs").glob("*"))
    equal([f.name.split("-")[2] for f in folders], [pack], "the name of a pack")
    index = json.loads((folders[0] / "pack.json").read_text())
    equal((str(index["etalon_pack"]), str(index["protocol"])), (pack, protocol), "pack.json")
    equal(index["specification"].removeprefix("sha256:"), specification["hash"].removeprefix("sha256:"), "the pack's specification")
    for schema, status in ((int(waivers), 0), (int(waivers) + 1, 2)):
        (folder / "waivers.json").write_text(json.dumps({"schema": schema, "waivers": []}))
        ran = run("conform", "--backend", "reference", *little, "--waivers", folder / "waivers.json")
        equal(ran.returncode, status, f"waivers of schema {schema}")
print("\n".join(faults))
print(f"{checks} checks, {len(faults)} faults")
sys.exit(1 if faults or checks < 15 else 0)
