"""An installed Etalon is whole: command, licence, headers, pages whose links lead somewhere, schemas, adapters; no folder is empty."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from checks import Checks  # noqa: E402

root, build = pathlib.Path(sys.argv[1]), sys.argv[2]
check = Checks()


def tracked(folder, *suffixes):
    listed = subprocess.run(["git", "-C", root, "ls-files", folder], check=True, capture_output=True, text=True).stdout.split()
    return [f for f in listed if f.endswith(suffixes)]


with tempfile.TemporaryDirectory() as scratch:
    prefix = pathlib.Path(scratch)
    done = subprocess.run(["cmake", "--install", build, "--prefix", prefix], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
    for folder, folders, files in os.walk(prefix):
        check(folders or files, f"{pathlib.Path(folder).relative_to(prefix)}: an empty folder")
    pages, data = prefix / "share/doc/etalon", prefix / "share/etalon"
    check((pages / "LICENSE").is_file() and (pages / "LICENSE").read_bytes() == (root / "LICENSE").read_bytes(), "no LICENSE")
    for page in ["README.md", *tracked("docs", ".md", ".svg", ".png"), *tracked("proofs-notes", ".md")]:
        check((pages / page).is_file(), f"{page} is not installed")
    for page in pages.rglob("*.md"):
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S)
        for target in re.findall(r"\]\(([^)\s#:]+)[)#]|<img src=\"([^\"]+)\"", text):
            check((page.parent / "".join(target)).exists(), f"{page.relative_to(prefix)}: the link {''.join(target)} leads nowhere")
    for schema in [*tracked("docs", ".schema.json"), *tracked("spec/protocol/schemas", ".json")]:
        there = data / "schemas" / pathlib.Path(schema).name
        check(there.is_file() and isinstance(json.loads(there.read_text()), dict), f"{schema} is not installed")
    for adapter in tracked("conformance/adapters", ""):
        there = data / pathlib.Path(adapter).relative_to("conformance")
        check(there.is_file(), f"{adapter} is not installed")
        check(not there.is_file() or os.access(there, os.X_OK) == os.access(root / adapter, os.X_OK), f"{adapter}: other permissions")
    for folder in ("spec", "reference", "conformance", "compiled", "cuda", "training"):
        if (prefix / f"lib/cmake/etalon/etalon-{folder}-targets.cmake").is_file():
            for header in tracked(folder, ".hpp", ".h"):
                # Adapters and the Python module are programs beside the library.
                beside = "/adapters/" in header or header.startswith("conformance/python/")
                check(beside or (prefix / "include/etalon" / header).is_file(), f"{header} is not installed")
    etalon = prefix / "bin/etalon"
    run = subprocess.run([etalon, "explain", "relu"], capture_output=True, text=True, cwd=scratch)
    check(run.returncode == 0 and "relu" in run.stdout, f"the installed command: {run}")
sys.exit(check.status(400))
