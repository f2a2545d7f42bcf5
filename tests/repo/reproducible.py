"""Builds in two folders are the same bytes: the command names no folder that it was built in, and sources compiled in a copy of the
tree come to the objects that they come to here. `tools/reproduce` builds all of it twice.

Usage: reproducible.py ROOT BUILD COMMAND"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from checks import Checks  # noqa: E402

root, build, command = (pathlib.Path(word).resolve() for word in sys.argv[1:])
LAYERS = ("spec", "training")
check = Checks()


def size_of(source):
    """What is compiled is in batches, which name the sources."""
    text = source.read_text()
    return sum(pathlib.Path(name).stat().st_size for name in re.findall(r'^#include "(/[^"]+\.cpp)"', text, re.M)) + len(text)


def smallest(layer):
    """The source of a library that compiles soonest, and how it is compiled."""
    of = [entry for entry in json.loads((build / "compile_commands.json").read_text()) if f"etalon_{layer}.dir" in entry["command"]]
    return min(of, key=lambda entry: size_of(pathlib.Path(entry["file"])))


def compiled(entry, moved, output):
    """The object as it comes out where the tree stands elsewhere. Code for the linker to optimise has random names, and is left out."""
    words = [moved(word) for word in shlex.split(entry["command"])]
    words[words.index("-o") + 1] = str(output)
    folder = moved(entry["directory"])
    ran = subprocess.run([*words, "-fno-lto"], cwd=folder, env={**os.environ, "PWD": folder}, capture_output=True, text=True)
    check(ran.returncode == 0, f"{entry['file']}: {ran.stderr[:300]}")
    return output.read_bytes() if output.exists() else b""


program = command.read_bytes()
for folder in (root, build):
    check(str(folder).encode() + b"/" not in program, f"{command.name} names {folder}")

with tempfile.TemporaryDirectory() as scratch:
    copy, built = pathlib.Path(scratch) / "of" / "another" / "name", pathlib.Path(scratch) / "objects"
    for folder in ("spec", "reference", "compiled", "training"):
        shutil.copytree(root / folder, copy / folder, ignore=shutil.ignore_patterns("*.py", "*.gz", "*.txt", "*.json"))
    copy_of_build = pathlib.Path(os.path.normpath(copy / os.path.relpath(build, root)))

    def elsewhere(word):
        return word.replace(str(build), str(copy_of_build)).replace(str(root), str(copy))

    for layer in LAYERS:
        entry = smallest(layer)
        source = pathlib.Path(elsewhere(entry["file"]))
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(elsewhere(pathlib.Path(entry["file"]).read_text()))
        built.mkdir(exist_ok=True)
        here, there = (compiled(entry, moved, built / f"{layer}-{name}.o") for name, moved in (("here", str), ("there", elsewhere)))
        check(here and here == there, f"{entry['file']}: another object where the tree stands elsewhere")

sys.exit(check.status(2 + 3 * len(LAYERS)))
