"""Follows a page to the letter: files are written, commands run in order, exit statuses compared, and what is shown of an output
must be part of it.
    page.py PAGE FOLDER             in an installed system, as root: the blocks that install run, too
    page.py PAGE - ETALON [LEAST]   in a folder of its own, with this command and this Python and what it imports; so many blocks of
                                    commands at least have to run
Blocks of `sh MODULE` run where this Python has the module. SOURCE is the source tree, for pages that say so.
"""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

page, installing, environment = pathlib.Path(sys.argv[1]).read_text(), len(sys.argv) == 3, dict(os.environ)
environment["SOURCE"] = str(pathlib.Path(__file__).resolve().parents[2]) if not installing else ""
least = int(sys.argv[4]) if len(sys.argv) > 4 else 0
if installing:
    folder = pathlib.Path(sys.argv[2])
else:
    folder = pathlib.Path(tempfile.mkdtemp())
    for name, path in (("etalon", pathlib.Path(sys.argv[3]).resolve()), ("python3", sys.executable)):
        (folder / "bin").mkdir(exist_ok=True)
        (folder / "bin" / name).write_text(f'#!/bin/sh\nexec {path} "$@"\n')
        (folder / "bin" / name).chmod(0o755)
    environment["PATH"] = f"{folder / 'bin'}:{environment['PATH']}"
faults, counts, output = [], {}, None
if re.search(r"^    etalon ", page, re.M):
    faults.append("commands in a block without fences, which nothing runs")
for info, code in re.findall(r"^```([^\n]*)\n(.*?)^```$", page, re.M | re.S):
    if not info:
        sys.exit("a block without a language, which nothing checks")
    language, _, rest = info.partition(" ")
    counts[language] = counts.get(language, 0) + 1
    if language in ("c", "python") and rest:
        (folder / rest).write_text(code)
    elif language == "sh" and (rest in ("", "fails", "root") or rest.isidentifier()):
        if rest == "root" and not installing:
            continue
        if rest not in ("", "fails", "root") and not importlib.util.find_spec(rest):
            print(f"left out, without the module {rest}:\n{code}")
            continue
        ran = subprocess.run(["bash", "-ec", code], cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
        output = ran.stdout + ran.stderr
        # What Python says of an assertion that fails is 1.
        if ran.returncode != (1 if rest == "fails" else 0):
            faults.append(f"exit status {ran.returncode}:\n{code}{output[-3000:]}")
    elif language == "json":
        import json  # the smallest Python of an installed system has none

        [json.loads(line) for line in code.splitlines()]
    elif info == "text example":
        continue
    elif info == "text":
        if code not in (output or ""):
            faults.append(f"the page shows\n{code}and what is printed is\n{(output or '')[-3000:]}")
    else:
        faults.append(f"a block of {info!r}")
if not least and (not (folder / "report.html").is_file() or "softmax" not in (folder / "report.html").read_text()):
    faults.append("no report.html about softmax")
print("\n".join(faults))
print(f"{counts}, {len(faults)} faults")
sys.exit(1 if faults or counts.get("sh", 0) < (least or 4) or (not least and counts.get("text", 0) < 3) else 0)
