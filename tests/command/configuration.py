"""Options from the command line, the environment and etalon.conf, in that order."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from checks import Checks

command = sys.argv[1]
checks = Checks()
top = pathlib.Path(tempfile.mkdtemp())
below = top / "a" / "b"
below.mkdir(parents=True)
conf = top / "etalon.conf"


def etalon(*words, where=below, **variables):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("ETALON_")}
    return subprocess.run([command, *words], cwd=where, env={**clean, **variables}, capture_output=True, text=True, timeout=120)


def check(found, expected, what):
    checks(found == expected, f"{what}: expected {expected!r}, found {found!r}")


def value(key, **variables):
    ran = etalon("config", key, "--json", **variables)
    rows = json.loads(ran.stdout) if ran.returncode == 0 else [{"value": ran.stderr, "origin": ""}]
    return rows[0]["value"], rows[0]["origin"]


def refused(line, *words, **variables):
    ran = etalon(*words, **variables)
    check((ran.returncode, ran.stderr, ran.stdout), (2, line + "\n", ""), f"etalon {' '.join(words)} {variables}")


# Nothing is set.
check(value("conform.jobs")[1], "default", "a default")
# The file, found from two folders below; a section and a dotted key mean the same.
conf.write_text("[conform]\njobs = 3\nops = relu,exp\n[spec]\njson = true\n")
check(value("conform.jobs"), ("3", str(conf)), "the file")
check(value("conform.ops"), ("relu,exp", str(conf)), "a list in the file")
# The environment comes first.
check(value("conform.jobs", ETALON_CONFORM_JOBS="5"), ("5", "ETALON_CONFORM_JOBS"), "the environment before the file")
# A nearer file hides one further up.
(below / "etalon.conf").write_text("conform.jobs = 4\n")
check(value("conform.jobs"), ("4", str(below / "etalon.conf")), "the nearest file")
(below / "etalon.conf").unlink()
# They reach the commands: --list prints the cases of the chosen operations.
listed = etalon("conform", "--backend", "reference", "--list").stdout
check("exp" in listed and "relu" in listed and "tanh" not in listed, True, "operations from the file")
listed = etalon("conform", "--backend", "reference", "--list", ETALON_CONFORM_OPS="tanh").stdout
check("tanh" in listed and "relu" not in listed, True, "operations from the environment")
listed = etalon("conform", "--backend", "reference", "--list", "--ops", "sigmoid", ETALON_CONFORM_OPS="tanh").stdout
check("sigmoid" in listed and "tanh" not in listed, True, "operations from the command line")
check(etalon("spec").stdout.lstrip()[:1] in "{[", True, "a switch from the file")
check(etalon("spec", ETALON_SPEC_JSON="false").stdout.lstrip()[:1] in "{[", False, "a switch that is off")
# What is wrong is said with its place.
refused("ETALON_SPEC_JSON: spec.json is a switch: expected true or false, found 'maybe'", "spec", ETALON_SPEC_JSON="maybe")
refused("environment: unknown variable 'ETALON_CONFORM_JBOS'; did you mean 'ETALON_CONFORM_JOBS'?", "config", ETALON_CONFORM_JBOS="1")
conf.write_text("[conform]\njbos = 3\n")
refused(f"{conf}: unknown key 'conform.jbos'; did you mean 'conform.jobs'?", "explain", "relu")
conf.unlink()
refused("config: unknown key 'conform.jbos'; did you mean 'conform.jobs'?", "config", "conform.jbos")
refused("config: unknown key 'confrom'; did you mean 'conform'?", "config", "confrom")
# Variables of the library stay what they are.
check(etalon("config", "--given", ETALON_CACHE="off").returncode, 0, "a variable of the library")

sys.exit(checks.status(15))
