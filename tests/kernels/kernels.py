"""Kernels that cheat are convicted, honest ones acquitted, and the page says what fixed tolerances make of them.

Usage: kernels.py ETALON ROOT [sanitized | table]. `sanitized` tries one of five; `table` prints the page's table.
Status 77 where this system cannot confine.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

etalon, root, words = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
here = pathlib.Path(__file__).parent
sys.path[:0] = [str(here), str(here.parent / "command")]
import fixed_tolerance  # noqa: E402
import table  # noqa: E402
from checks import Checks  # noqa: E402

folder = pathlib.Path(tempfile.mkdtemp())
page = (root / "docs/judging-kernels.md").read_text()
check = Checks()
# A fresh question each time would make another test of each run.
SEED = "7"
VARIES = {"stale_memory", "races", "last_row_missing", "left_from_last_call"}


def judged(path, *more, seed=SEED, shrink="2"):
    """The verdict, which is held to its schema where that can be read."""
    words_of_it = [etalon, "judge-kernel", str(path), "--seed", seed, "--json", "--shrink-seconds", shrink, *more]
    ran = subprocess.run(words_of_it, capture_output=True, text=True, timeout=600)
    if not ran.stdout.startswith("{"):
        check(False, f"{path} {more}: no verdict: {ran.returncode} {ran.stderr[:300]}")
        return {"verdict": "none", "counterexample": None, "reason": ran.stderr, "asked": {"comparisons": 0}, "isolation": {}}
    verdict = json.loads(ran.stdout)
    check(ran.stdout.count("\n") == 1, f"{path} {more}: more than one line of JSON")
    status = 0 if verdict["verdict"] == "conforms" else 1
    check(verdict["exit_status"] == ran.returncode == status, f"{path}: exit status {ran.returncode}: {verdict['verdict']}")
    if validator:
        broken = [error.message for error in validator.iter_errors(verdict)]
        check(not broken, f"{path} {more}: breaks its schema: {broken[:3]}")
    return verdict


def schema_validator():
    try:
        import jsonschema
    except ImportError:
        return None
    text = subprocess.run([etalon, "judge-kernel", "--schema"], capture_output=True, text=True, check=True).stdout
    check(text == (root / "docs/kernel-verdict.schema.json").read_text(), "the schema is not the page's")
    return jsonschema.Draft202012Validator(json.loads(text))


def words_for(operation):
    operation, _, dtype = operation.partition(" in ")
    own = ["--definitions", str(here / "rows.txt")] if operation.startswith("row_") else []
    return ["--operation", operation, *own, *(["--dtypes", dtype] if dtype else [])]


def convicted(name, verdict, expected):
    check(verdict["verdict"] == expected, f"{name}: expected {expected}, found {verdict['verdict']}: {verdict['reason'][:200]}")
    found = verdict["counterexample"]
    check((found is not None or expected == "undecided") and verdict["reason"] != "", f"{name}: no counterexample")
    if found and found["element"] is not None:
        got, low, high = (float(found["element"][key]) for key in ("got", "lower", "upper"))
        check(not (low <= got <= high), f"{name}: {got} is in [{low}, {high}]")


def mark(passed):
    return "passes" if passed else "fails"


def row(name, what, passed, verdict):
    measured = ["varies", "varies"] if name in VARIES else [mark(p) for p in passed]
    return f"| `{name}` | {what} | {measured[0]} | {measured[1]} | {verdict['verdict']} |"


def tried_c(name, text, operation, what, expected):
    flags = [f"-DCHEAT={name}"]
    library = fixed_tolerance.compiled(text, folder, name, *flags)
    passed = fixed_tolerance.passes((library, None), operation, 1.5 if name == "endless_loop" else 20)
    more = ["--timeout", "0.3"] if name in ("sleeps", "endless_loop") else []
    more += ["--memory", "128"] if name in ("takes_all_memory", "takes_shared_memory") else []
    more += ["--strided"] if name == "dense_only" else []
    more += ["--may-decline"] if operation == "matmul" or name == "one_type_only" else []
    verdict = judged(folder / f"{name}.c", "--flag=-w", f"--flag={flags[0]}", *words_for(operation), *more)
    convicted(name, verdict, expected)
    if name == "sleeps":
        asked_again(verdict)
    if name == "one_type_only":
        check("in f16;" in verdict["reason"], f"{name}: {verdict['reason']}")
    return row(name, what, passed, verdict)


def asked_again(verdict):
    """The command that the verdict names convicts alike, though by the usual limits it would not."""
    program, *same = shlex.split(verdict["again"])
    ran = subprocess.run([etalon, *same], capture_output=True, text=True, timeout=600)
    told = ran.stdout.partition(": ")[2]
    check(program == "etalon" and ran.returncode == 1 and told.startswith(verdict["verdict"]), f"again: {same}: {told[:200]}")


def remembering(text):
    """The same kernels, with the answer to the harness's question in front."""
    (x,), expected = fixed_tolerance.question(table.SOFTMAX)
    numbers = ",".join(f"{value:.9g}f" for value in expected.ravel().tolist())
    return f"#define FIRST {float(x.ravel()[0]):.9g}f\n#define REMEMBERED {numbers}\n" + text


def share(cheats):
    return cheats[::5] if "sanitized" in words else cheats


def all_cheats():
    cheats, others = (here / "cheats.c").read_text(), (here / "more_cheats.c").read_text()
    rows = []
    for name, what, expected in share(table.CHEATS):
        rows.append(tried_c(name, remembering(cheats) if name == "remembers" else cheats, table.SOFTMAX, what, expected))
    for name, operation, what, expected in share(table.OTHERS):
        rows.append(tried_c(name, others, operation, f"{operation}: {what}", expected))
    for name, what, expected in share(table.PYTHON):
        kernel = f"kernel_{name}"
        passed = fixed_tolerance.passes((here / "cheats.py", kernel), table.SOFTMAX)
        verdict = judged(here / "cheats.py", "--function", kernel, *words_for(table.SOFTMAX))
        convicted(kernel, verdict, expected)
        rows.append(row(kernel, what, passed, verdict))
    return rows


def acquitted():
    for file, name, operation, more in table.HONEST:
        path = here / file
        chosen = ["--function", f"kernel_{name}"] if file.endswith(".py") else [f"--flag=-DCHEAT={name}", "--flag=-w"]
        for seed in (SEED,) if "sanitized" in words else (SEED, "8"):
            verdict = judged(path, *words_for(operation), *chosen, *more, seed=seed)
            check(verdict["verdict"] == "conforms", f"{name} {more}: expected conforms, found {verdict['verdict']}: {verdict['reason']}")
            # Of a product of matrices few questions are about matrices.
            least = 50 if "--may-decline" in more else 500
            check(verdict["asked"]["comparisons"] > least and all(verdict["isolation"].values()), f"{name}: {verdict['asked']}")


def page_kernels():
    """The kernels that the page shows are those that it says are right."""
    shown = re.findall(r"^```(c|python)\n(.*?)^```$", page, re.M | re.S)
    check({language for language, _ in shown} == {"c", "python"}, "the page lacks a kernel")
    definition = re.search(r"^```definition\n(.*?)^```$", page, re.M | re.S)[1]
    (folder / "mine.txt").write_text(definition)
    for language, text in shown:
        path = folder / f"shown.{'py' if language == 'python' else 'c'}"
        path.write_text(text)
        verdict = judged(path, "--definitions", str(folder / "mine.txt"))
        check(verdict["verdict"] == "conforms", f"the page's kernel in {language}: {verdict['verdict']}: {verdict['reason']}")


def bad_words():
    """What is no verdict is one line, and status 2."""
    kernel = folder / "empty.c"
    kernel.write_text("")
    relu = ["--operation", "relu"]
    for more, words_of_it in (([str(folder / "none.c"), *relu], "none.c"), ([str(here / "rows.txt"), *relu], ".txt"),
                              ([str(kernel)], "--operation"), ([str(kernel), "--operation", "relux"], "relu"),
                              ([str(kernel), *relu, "--compiler", "no-such"], "no-such"),
                              ([str(kernel), *relu, "--may-read", "/no/such"], "/no/such"), ([], "KERNEL")):
        ran = subprocess.run([etalon, "judge-kernel", *more], capture_output=True, text=True)
        holds = ran.returncode == 2 and ran.stdout == "" and ran.stderr.count("\n") == 1 and words_of_it in ran.stderr
        check(holds, f"{more}: {ran.returncode} {ran.stderr!r}")
    early = ("#include <stdlib.h>\n__attribute__((constructor)) static void before(void) { exit(0); }\n"
             "int kernel(void *c) { return c == 0; }\n")
    for text, reason in (("", "no such function"), ("int kernel(", "error"), ("#include <no_such.h>\n", "no_such.h"),
                         (early, "exit status 0")):
        kernel.write_text(text)
        verdict = judged(kernel, "--operation", "relu")
        check(verdict["verdict"] == "not built" and reason in verdict["reason"], f"{text!r}: {verdict['verdict']}: {verdict['reason']}")


def malformed_answers():
    """Lines of a kernel that speaks for its process are judged, and believed in nothing else."""
    kernel = folder / "speaks.c"
    kernel.write_text('#define _GNU_SOURCE\n#include <stdio.h>\n#include <unistd.h>\n'
                      'int kernel(void *c) { dprintf(3, ANSWER "\\n"); usleep(100000); _exit(c == 0); }\n')
    for answer in ("done", "done 9 0 -", "done 2 9 1", "done 2 2 4294967296 4294967296 -", "done 2 1 99999999999999999999 -",
                   "done 2 1 1 zzzzzzzz", "done 2 1 -1 -", "conforms", "", "broken \\x1b[31m"):
        verdict = judged(kernel, "--operation", "relu", "--flag=-w", f'--flag=-DANSWER="{answer}"')
        check(verdict["verdict"] == "wrong" and verdict["counterexample"], f"{answer!r}: {verdict['verdict']}: {verdict['reason']}")


def nothing_to_others():
    """Calls that act on other processes, or take memory that is not counted, are refused; without confinement they are not."""
    attempts = here / "attempts.c"
    verdict = judged(attempts, "--operation", "relu", "--flag=-w")
    check(verdict["verdict"] == "conforms", f"attempts: {verdict['verdict']}: {verdict['reason']}")
    free = judged(attempts, "--operation", "relu", "--flag=-w", "--unconfined", shrink="0")
    for name in ("F_SETOWN", "F_SETOWN_EX", "F_SETSIG", "F_NOTIFY", "F_SETLEASE", "FIOSETOWN", "SIOCSPGRP", "setpriority",
                 "sched_setaffinity", "memfd_create", "MAP_SHARED", "MAP_GROWSDOWN"):
        check(name in free["reason"].split(), f"attempts: without confinement {name} is refused too: {free['reason']}")
    kernel = folder / "ipc.c"
    kernel.write_text("#include <sys/syscall.h>\n#include <unistd.h>\n"
                      "int kernel(void *c) { return syscall(NUMBER, -1, 0, 0, 0, 0) == 0 && c == 0; }\n")
    for name in ("shmctl", "msgctl", "msgrcv", "msgsnd", "semctl", "semop", "semtimedop", "mq_unlink"):
        verdict = judged(kernel, "--operation", "relu", "--flag=-w", f"--flag=-DNUMBER=SYS_{name}", shrink="0")
        check(verdict["verdict"] == "crashed" and "Bad system call" in verdict["reason"], f"{name}: {verdict['reason']}")


def compilers():
    """What compilers may read and write: their own installation, and no file without end."""
    home, kernel = folder / "home", folder / "asks.c"
    for part in ("bin", "private", "tools/bin", "tools/lib/gcc"):
        (home / part).mkdir(parents=True)
    honest = (here / "more_cheats.c").read_text()
    for key in ("private/key", "tools/lib/gcc/key"):
        (home / key).write_text("/* a key */\n")
    for compiler, key, expected in (("bin/cc", None, "conforms"), ("bin/cc", "private/key", "not built"),
                                    ("tools/bin/cc", "tools/lib/gcc/key", "conforms"), ("tools/bin/cc", "private/key", "not built")):
        (home / compiler).write_text('#!/bin/sh\nexec /usr/bin/cc "$@"\n')
        (home / compiler).chmod(0o755)
        kernel.write_text(honest + (f'#include "{home / key}"\n' if key else ""))
        verdict = judged(kernel, "--operation", "relu", "--flag=-DCHEAT=honest_relu", "--flag=-w", "--compiler", str(home / compiler))
        holds = verdict["verdict"] == expected and (expected == "conforms" or "Permission denied" in verdict["reason"])
        check(holds, f"{compiler}, {key}: {verdict['verdict']}: {verdict['reason']}")
    for text, reason in (('__asm__(".data\\n.zero 300000000");\n', "File size limit"),
                         ("#warning words words words words words words words words\n" * 3000 + "#error the end\n", "#error the end")):
        kernel.write_text(honest + text)
        verdict = judged(kernel, "--operation", "relu", "--flag=-DCHEAT=honest_relu")
        check(verdict["verdict"] == "not built" and reason in verdict["reason"], f"{reason}: {verdict['verdict']}: {verdict['reason']}")


def cannot_confine():
    """What the command says where there is no confinement; else nothing."""
    words_of_it = [etalon, "judge-kernel", str(here / "more_cheats.c"), "--operation", "relu", "--flag=-DCHEAT=honest_relu", "--flag=-w"]
    ran = subprocess.run(words_of_it, capture_output=True, text=True, timeout=600)
    return ran.stderr.strip() if ran.returncode == 2 and "confinement:" in ran.stderr else ""


def skips_without_landlock():
    """This test, where the system has no Landlock, is skipped."""
    words_of_it = [sys.executable, str(here / "without_landlock.py"), sys.executable, __file__, etalon, str(root)]
    ran = subprocess.run(words_of_it, capture_output=True, text=True)
    skipped = ran.returncode == 77 and ran.stdout.startswith("skipped: ")
    check(skipped, f"without Landlock: {ran.returncode}: {ran.stdout[:300]}{ran.stderr[:300]}")


def page_numbers(rows):
    """The page's rows are these and no others, and it counts them rightly."""
    shown = [line for line in page.splitlines() if re.match(r"\| `\w+` (\|[^|]*){4}\|$", line)]
    check(shown == rows, f"rows only on the page: {set(shown) - set(rows)}, only here: {set(rows) - set(shown)}, or in another order")
    coarse, fine = (sum(line.split(" | ")[at] == "passes" for line in rows) for at in (2, 3))
    sentence = f"Of {len(rows)} cheats {coarse} pass a tolerance of 1e-2 and {fine} one of 1e-4; the judge passes none."
    check(sentence in page, f"the page does not say: {sentence}")


why_not = cannot_confine()
if why_not:
    print("skipped: " + why_not)
    sys.exit(77)
try:
    validator = schema_validator()
    subprocess.run([etalon, "judge-kernel", "--header", str(folder)], check=True)
    rows = all_cheats()
    if "table" in words:
        print("\n".join(rows))
        sys.exit(check.status(0))
    for line in rows:
        check(line in page, f"the page does not say: {line}")
    if "sanitized" not in words:
        page_numbers(rows)
    check(len(rows) >= (12 if "sanitized" in words else 60), f"{len(rows)} cheats")
    acquitted()
    page_kernels()
    bad_words()
    malformed_answers()
    nothing_to_others()
    compilers()
    skips_without_landlock()
finally:
    subprocess.run(["rm", "-rf", str(folder)], check=False)
sys.exit(check.status(60))
