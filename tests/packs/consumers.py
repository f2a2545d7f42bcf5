"""Each consumer of docs/packs passes a right softmax and convicts a wrong one, naming its cases.

    consumers.py ETALON SOURCE LANGUAGE TOOL…
"""
import pathlib
import re
import subprocess
import sys
import tempfile

etalon, source, language, *tool = sys.argv[1:]
if not tool or tool[0].endswith("-NOTFOUND"):
    print(f"{language}: its tool is not installed")
    sys.exit(77)
docs, here = pathlib.Path(source) / "docs" / "packs", pathlib.Path(source) / "tests" / "packs"
lines = len((docs / f"consumer.{language}").read_text().splitlines())
assert lines <= 40, f"consumer.{language}: expected at most 40 lines, found {lines}"


def printed(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def run_c(folder, kind):
    (folder / "tests.h").write_text(printed(etalon, "pack", "header", pack, "softmax"))
    flags = ["-DOVERFLOWS"] if kind == "wrong" else []
    printed(*tool, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", *flags, f'-DTESTS="{folder}/tests.h"',
            f'-DSOFTMAX="{here}/softmax.h"', docs / "consumer.c", "-o", folder / "consumer", "-lm")
    return [folder / "consumer"]


def run_rust(folder, kind):
    (folder / "tests.rs").write_text(printed(etalon, "pack", "header", pack, "softmax", "--language", "rust"))
    printed(*tool, "--edition", "2021", "-A", "dead_code", "-o", folder / "consumer", docs / "consumer.rs",
            env={"PATH": "/usr/bin:/bin", "TESTS": str(folder / "tests.rs"), "SOFTMAX": str(here / f"{kind}.rs")})
    return [folder / "consumer"]


def run_script(folder, kind):
    return [*tool, docs / f"consumer.{language}", pathlib.Path(pack) / "softmax.json", here / f"{kind}.{language}"]


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    printed(etalon, "pack", "write", "--ops", "softmax", "--dtypes", "f32,f64", "-o", name)
    [pack] = map(str, folder.glob("etalon-pack-1-*"))
    command = {"c": run_c, "rs": run_rust}.get(language, run_script)
    for kind in ("right", "wrong"):
        run = subprocess.run(command(folder, kind), capture_output=True, text=True)
        asked, failed = map(int, re.fullmatch(r"(\d+) tests, (\d+) failed", run.stdout.splitlines()[-1]).groups())
        named = re.findall(r"^(softmax\.\S+) fails", run.stdout, re.M)
        assert asked >= 10, f"{kind}: expected 10 tests at least, found {asked}"
        assert len(set(named)) == failed, f"{kind}: expected {failed} names, found {named}"
        assert (failed > 0) == (kind == "wrong") == (run.returncode == 1), f"{kind}: {run.stdout}{run.stderr}"
        print(f"{language}, {kind}: {asked} tests, {failed} failed")
