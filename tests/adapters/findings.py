"""Runs the examples of docs/findings.md and compares what they print. Usage: findings.py ROOT [FOLDER of node_modules …]

A block runs where its library is installed, in the version that its part of the page is about; without it the part is
skipped, and says so."""
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
folders = [*sys.argv[2:], *(str(root / f"conformance/adapters/{name}/node_modules") for name in ("tfjs", "onnxruntime")),
           *filter(None, os.environ.get("NODE_PATH", "").split(os.pathsep))]
BLOCK = re.compile(r"^### (.+?)\n.*?^```(python|javascript|cpp)\n(.*?)^```\n^```text\n(.*?)^```\n", re.M | re.S)
# The parts of the page by their titles: the package in npm, for Python's the module.
PACKAGES = {"TensorFlow.js 4.22.0": "@tensorflow/tfjs", "ONNX Runtime 1.30.0": "onnxruntime-node"}


def missing_torch():
    try:
        import torch
    except ImportError as missing:
        return f"{missing}; conformance/adapters/pytorch/install says how to get it"
    return None if torch.__version__.startswith("1.13.") else f"this is PyTorch {torch.__version__}"


def missing_package(title):
    if not shutil.which("node"):
        return "node is not installed"
    found = [p for p in (pathlib.Path(f) / PACKAGES[title] / "package.json" for f in folders) if p.is_file()]
    if not found:
        return f"{PACKAGES[title]} is not installed; the adapter's install script gets it"
    version = json.loads(found[0].read_text())["version"]
    return None if version == title.split()[-1] else f"this is version {version}"


def python(title, script):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(script, title, "exec"), {})
    return printed.getvalue()


def javascript(_, script):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "finding.cjs"
        file.write_text(script)
        done = subprocess.run(["node", file], capture_output=True, text=True, check=False,
                              env={**os.environ, "NODE_PATH": os.pathsep.join(folders)})
    return done.stdout + (done.stderr if done.returncode else "")


def missing_onednn(title):
    """Where it can be compiled in the version of the title, on a processor of the kind that the findings are about."""
    if not shutil.which("c++"):
        return "no C++ compiler"
    header = next((p for p in map(pathlib.Path, ("/usr/include/oneapi/dnnl/dnnl_version.h", "/usr/include/dnnl_version.h")) if p.is_file() and "DNNL_VERSION_MAJOR" in p.read_text()), None)
    if not header:
        return "libdnnl-dev is not installed; conformance/adapters/onednn/install gets it"
    version = ".".join(re.search(rf"DNNL_VERSION_{part}\s+(\d+)", header.read_text())[1] for part in ("MAJOR", "MINOR", "PATCH"))
    if version != title.split()[-1]:
        return f"this is version {version}"
    info = pathlib.Path("/proc/cpuinfo")
    return None if info.is_file() and " avx2 " in info.read_text() else "the processor has no AVX2"


def cpp(preamble, blocks):
    """All blocks in one program, since the library's header takes long; what each prints."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "findings.cpp", pathlib.Path(folder) / "findings"
        source.write_text(preamble + "int main() {\n" + "".join("{\n" + block + "}\nstd::puts(\"====\");\n" for block in blocks) + "}\n")
        built = subprocess.run(["c++", "-std=c++17", "-O0", str(source), "-o", str(program), "-ldnnl"], capture_output=True, text=True, check=False)
        done = subprocess.run([program], capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}) if not built.returncode else built
    return (done.stdout + done.stderr).split("====\n") + [""] * len(blocks)


page = (root / "docs/findings.md").read_text()
# What stands before the first title is PyTorch's.
parts = re.split(r"^# (?!Findings)(.+)\n", page, flags=re.M)
faults = ran = headings = found_all = 0
for title, text in zip(["PyTorch", *parts[1::2]], parts[::2]):
    found, preamble = BLOCK.findall(text), "".join(re.findall(r"^```(?:javascript|cpp) preamble\n(.*?)^```\n", text, re.M | re.S))
    headings, found_all = headings + text.count("\n### "), found_all + len(found)
    reason = missing_torch() if title == "PyTorch" else missing_onednn(title) if title.startswith("oneDNN") else missing_package(title)
    if reason:
        print(f"skipped: {len(found)} findings of {title}: {reason}")
        continue
    compiled = cpp(preamble, [script for _, _, script, _ in found]) if found and found[0][1] == "cpp" else None
    for at, (name, language, script, expected) in enumerate(found):
        printed = compiled[at] if compiled else {"python": python, "javascript": javascript}[language](name, preamble + script)
        ran += 1
        if printed != expected:
            faults += 1
            print(f"{title}, {name}:\n  the page says {expected!r}\n  it prints {printed!r}")
print(f"{ran} of {found_all} findings run, {headings} on the page, {faults} faults")
if faults or found_all != headings or not headings:
    sys.exit(1)
sys.exit(0 if ran else 77)
