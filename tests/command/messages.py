"""What the command line says of bad programs, files and options: one line that names the place, what was expected, what was
found, and of a file the system's reason; status 2, and nothing on standard output."""
import errno
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from checks import Checks

etalon, is_compiled = sys.argv[1], sys.argv[2] == "compiled"
check = Checks()
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)


def run(*words, text="", out=subprocess.PIPE):
    return subprocess.run([etalon, *map(str, words)], input=text, stdout=out, stderr=subprocess.PIPE, text=True, timeout=120,
                          cwd=folder, errors="replace")


def refused(pattern, *words, text="", status=2):
    """One line on standard error, of this form from beginning to end."""
    ran = run(*words, text=text)
    said = ran.stderr.removesuffix("\n")
    check(ran.returncode == status and "\n" not in said and re.fullmatch(pattern, said) and (status != 2 or ran.stdout == ""),
          f"etalon {' '.join(map(str, words))}: expected {status} and {pattern!r}, found {ran.returncode}, {ran.stderr!r}, {ran.stdout[:100]!r}")
    return said


def reason(number):
    return re.escape(os.strerror(number))


def file(name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def of_program(text, where, message, commands=None):
    """Every command that reads programs says `p.txt:WHERE: MESSAGE`."""
    name = file("p.txt", text)
    for command in commands or (["check", "run", "compile"] if is_compiled else ["check", "run"]):
        refused(rf"p\.txt{':' if where else ''}{where}: {message}", command, name)


# --- programs: the user's line and column ---
step = "input x : f32[2, 3]\ninput w : f32[4, 4]\n"
of_program(step + "h = matmul(x, w)\noutput h\n", "3:5", r"matmul: k is 3 in a, 4 in b \(at \d+:\d+ of its definition\); step h = matmul\(x, w\)")
of_program(step + "  h = matmul(x, w) @ \"net.cpp\":12\noutput h\n", "3:7", r"matmul: k is 3 .*; step h = matmul\(x, w\) at net\.cpp:12")
of_program(step + "h = relu(xx)\noutput h\n", "3:10", r"h = relu\(xx\): unknown value 'xx'; did you mean 'x'\?")
of_program(step + "h = rleu(x)\noutput h\n", "3:5", r"unknown operation 'rleu'; did you mean 'relu'\?; step h = rleu\(x\)")
of_program(step + "x = relu(w)\noutput x\n", "3:1", r"x = relu\(w\): x is named a second time; each value is named once")
of_program(step + "h = softmax(x) {axs = 1}\noutput h\n", "3:5", r"softmax: .*axs.*; step h = softmax\(x\)")
of_program(step + "h = relu(x)\noutput h, g\n", "4:11", r"output g: unknown value 'g'; did you mean '\w+'\?")
of_program(step + "h = relu(x)\noutput h\nupdate x := h\n", "5:8", "update x := h: only a parameter is updated, x is none")
of_program(step + "h = relu(x)\noutput h\ncapture g\n", "5:9", r"capture g: unknown value 'g'; did you mean '\w+'\?")
of_program("input x : f32[2]\ninput x : f32[3]\noutput x\n", "2:7", "input x: x is named a second time; each value is named once")
of_program("constant c : f32[]\noutput c\n", "1:10", "input c: a constant has a value, found none")
of_program("input x : f32[2]\nbuffer b : f32[2]\nb[i] = x[i] + y[i]\noutput b\n", r"3:\d+", r"b\[i\] = x\[i\] \+ y\[i\]: .*y.*")
of_program("input x : f32[2]\ny = relu(x\noutput y\n", "2:11", "expected '\\)', found the end of the line")
of_program("input x : f33[2]\noutput x\n", "1:11", r"unknown element type 'f33'; did you mean 'f32'\?")
of_program("definitions\nf(x[n]) -> y[n]\n  y[i] = z[i]\nend definitions\ninput x : f32[2]\ny = f(x)\noutput y\n", "3:10",
           "f: z is not a tensor that stands before this equation")
of_program("definitions\nf(x[n]) -> y[n]\n  y[i] = x[i\nend definitions\ninput x : f32[2]\ny = f(x)\noutput y\n", r"3:\d+", r"f: expected '\]', found .*")
of_program("input x : f32[2]\nparameter w : f32[3, ?n]\noutput x\n", "2:11", r"parameter w: its extent \?n is left open: no call takes it")
of_program("input x : f32[2, 5]\nparameter w : f32[3, ?n]\nparameter b : f32[7]\nh = linear(x, w, b)\noutput h\n", "4:5",
           r"linear: .* \(at \d+:\d+ of its definition\); step h = linear\(x, w, b\)")
of_program("input x : f32[2]\ns = sum(x)\ng = vjp(s; y)\noutput g\n", "3:12", r"g = vjp\(s; y\): unknown value 'y'; did you mean '\w+'\?")

# A derivative with a comma: the form that is expected, with these names.
wrong = "input x : f32[2]\ns = sum(x)\ng = vjp(s, x)\noutput g\n"
of_program(wrong, "3:5", r"vjp takes lists with ';' between what is differentiated and by what: expected vjp\(s; x\), found vjp\(s, x\)")
name = file("mended.txt", wrong.replace("vjp(s, x)", "vjp(s; x)"))
check(run("run", name, "--set", "x=1").stdout == "g : f32[2] = [1.0, 1.0]\n", "the form that the message of vjp shows does not run")
of_program("input x : f32[2]\ns = sum(x)\ng = jvp(s)\noutput g\n", "3:5", r"jvp takes lists .*: expected jvp\(s; x\), found jvp\(s\)")

# A formula: the assignment that the message shows runs and gives its value.
for formula, column, found, value in (("x + 1", 7, r"\+", "[3.0, 5.0]"), ("2 * x", 5, "2", "[4.0, 8.0]"), ("(x - 1)/2", 5, r"\(", "[0.5, 1.5]"),
                                      ("x*x", 6, r"\*", "[4.0, 16.0]"), ("x +1", 7, r"\+1", "[3.0, 5.0]"), ("x -1  # less", 7, "-1", "[1.0, 3.0]"),
                                      ("-x", 5, "-x", "[-2.0, -4.0]")):
    text = f"input x : f32[2]\ny = {formula}\noutput y\n"
    of_program(text, f"2:{column}", rf"expected (an operation|'\('), found '{found}'; a formula is an assignment: buffer y\[\.\.\.\] = .*", ["check"])
    said = run("check", "p.txt").stderr
    name = file("mended.txt", text.replace(f"y = {formula}", said.split("assignment: ")[-1].strip()))
    ran = run("run", name, "--set", "x=2,4")
    check(ran.stdout == f"y : f32[2] = {value}\n", f"y = {formula}: the hint gives {ran.stdout!r}, {ran.stderr!r}")
of_program("input x : f32[2]\ny = relu(x) + 1\noutput y\n", "2:13", "expected the end of the line, found '\\+'; a step is one call; name its result and take it in the next")

# Nothing to compute.
for text in ("", " \n\n", "\t"):
    of_program(text, "", "the file is empty, expected a program")
for text in ("# nothing\n", "input x : f32[2]\n", "input x : f32[2]\ny = relu(x)\n"):
    of_program(text, "", "the program has no outputs; expected a line `output NAME`")
only_updates = file("updates.txt", "input x : f32[]\nparameter w : f32[]\nupdate w := x\n")
refused(r"updates\.txt: the program has no outputs to print; expected a line `output NAME` or `capture NAME`", "run", only_updates, "--set", "x=1", "--set", "w=1")
check(run("check", only_updates).returncode == 0, "a program that only updates is well typed")

# JSON: the place, what was expected and what was found.
of_program("{\n \"inputs\": [}", "", r"program: malformed JSON at line 2, column 13: unexpected '\}'; expected .*")
of_program("{}", "", r"program\.inputs: the field is missing")
of_program('{"inputs": 3, "calls": [], "outputs": []}', "", r"program\.inputs: expected an array, found .*")

# --- files that are read ---
good = file("good.txt", "input x : f32[2]\ny = relu(x)\noutput y\n")
(folder / "dir").mkdir()
(folder / "loop").symlink_to("loop")
long = "n" * 300
readers = [["check", "@"], ["run", "@"], ["check", good, "--definitions", "@"], ["spec", "--definitions", "@"], ["explain", "relu", "--definitions", "@"],
           ["conform", "--backend", "reference", "--definitions", "@"], ["conform", "--backend", "reference", "--contract", "./@"],
           ["conform", "--backend", "reference", "--waivers", "@"], ["conform", "--backend", "reference", "--resume", "@"],
           ["contract", "check", "@"], ["judge", "--contract", "./@"], ["report", "render", "@"], ["report", "diff", "@", "@"],
           ["report", "scoreboard", "@"], ["log", "diff", "@", "@"]]
if is_compiled:
    readers += [["compile", "@"], ["bench", "report", "@"], ["train", "digits", "--data", "@"], ["train", "moons", "--from", "@"],
                *(["train", "--format", format, "--target", "y", "--data", "@"] for format in ("csv", "npy", "npz", "idx", "safetensors"))]
for words in readers:
    def named(path):
        return [w.replace("@", path) for w in words]
    said = re.escape(words[-1].replace("@", ""))
    refused(rf"{said}gone\.txt: the file cannot be read: {reason(errno.ENOENT)}(; did you mean '.*'\?)?", *named("gone.txt"))
    refused(rf"{said}dir: (a folder, expected a file|the file cannot be read: {reason(errno.EISDIR)})", *named("dir"))
    refused(rf"{said}good\.txt/x: the file cannot be read: {reason(errno.ENOTDIR)}", *named("good.txt/x"))
    refused(rf"{said}loop: the file cannot be read: {reason(errno.ELOOP)}", *named("loop"))
    refused(rf"{said}{long}: the file cannot be read: {reason(errno.ENAMETOOLONG)}", *named(long))
    if words[0] != "train":
        refused(rf"/proc/self/mem: the file cannot be read: {reason(errno.EIO)}", *[re.sub(r"^(\./)?@$", "/proc/self/mem", w) for w in words])
    # What is in the file: nothing, bytes, or JSON of something else.
    definitions = "--definitions" in words
    for content in (b"", b"\x00\x01\xff\xfe\x80binary\n\xc3(", b'{"a": [1, 2', b"[]", b'{"nonsense": 1}', b"{}"):
        if definitions and content == b"":
            continue  # no definitions are none too many
        if content == b"{}" and (words[:2] == ["contract", "check"] or "--contract" in words):
            continue  # a contract that promises what careful arithmetic does
        file("held", content)
        ran = run(*named("held"))
        lines = (ran.stderr + ran.stdout).splitlines() if words[:2] == ["contract", "check"] else ran.stderr.splitlines()
        check(ran.returncode in (1, 2) and lines and all("held" in line and len(line) < 400 for line in lines) and (len(lines) == 1 or words[0] == "contract"),
              f"{' '.join(words)} of {content!r}: {ran.returncode}, {ran.stderr!r}, {ran.stdout[:100]!r}")
if os.geteuid() != 0:
    os.chmod(folder / file("secret.txt", "input x : f32[2]\noutput x\n"), 0)
    refused(rf"secret\.txt: the file cannot be read: {reason(errno.EACCES)}", "check", "secret.txt")
case = file("case.json", "{\"a\":")
refused(r"case\.json: case: malformed JSON at line 1, column 6: .*", "conform", "--backend", "reference", "--replay", case)

# --- files that are written ---
program = file("step.txt", "input x : f32[2]\ny = relu(x)\noutput y\n")
ask = ["conform", "--backend", "reference", "--ops", "relu", "--modes", "forward", "--dtypes", "f32", "--checks", "rejection,value"]
ran = run(*ask, "--json", "run.jsonl")
check((folder / "run.jsonl").is_file(), f"conform --json: {ran.stderr!r}")
writers = [[*ask, "--json", "@"], [*ask, "--html", "@"], [*ask, "--junit", "@"], [*ask, "--markdown", "@"], [*ask, "--badge", "@"], [*ask, "--coverage", "@"],
           ["report", "render", "run.jsonl", "--html", "@"], ["report", "render", "run.jsonl", "--json", "@"],
           ["report", "scoreboard", "run.jsonl", "--markdown", "@"], ["run", program, "--set", "x=1", "--log-assignments", "--log", "@"]]
if is_compiled:
    run("train", "moons", "--epochs", "1", "--run", "kept")
    writers += [["compile", program, "--emit", "c", "-o", "@"], ["export", "npz", "kept", "-o", "@"], ["export", "safetensors", "kept", "-o", "@"], ["bench", "bits", "--only", "gemm-16", "--json", "@"],
                ["bench", "--only", "gemm-16", "--competitors", "etalon", "--threads", "1", "--seconds-per-workload", "0.01", "--quiet", "--json", "@"]]
for words in writers:
    for path, number in (("dir", errno.EISDIR), ("nowhere/x", errno.ENOENT), ("good.txt/x", errno.ENOTDIR), ("/dev/full", errno.ENOSPC)):
        ran = run(*[path if w == "@" else w for w in words])
        said = ran.stderr.splitlines()
        check(ran.returncode == 2 and len(said) == 1 and re.fullmatch(rf"{re.escape(path)}: the file cannot be written: {reason(number)}", said[0]),
              f"{' '.join(words)} to {path}: {ran.returncode}, {ran.stderr!r}")
check(sorted(p.name for p in folder.iterdir() if p.name.endswith(".new")) == [], "a file that was not finished is left behind")
folders = [["compile", program, "--debug-dir", "@"], ["bench", "--only", "gemm-16", "--programs", "@"], ["train", "moons", "--svg", "@"],
           ["train", "moons", "--run", "@"]] if is_compiled else []
for words in folders:
    refused(rf"good\.txt: the folder cannot be made: ({reason(errno.ENOTDIR)}|{reason(errno.EEXIST)})", *["good.txt" if w == "@" else w for w in words])

# --- standard output that takes nothing ---
printers = [["--help"], ["--version"], ["explain", "relu"], ["spec"], ["check", good], ["run", good, "--set", "x=1"], ["contract", "list"], ["contract", "show", "ieee"],
            ["config"], ["report", "render", "run.jsonl"], ask, [*ask, "--list"]]
if is_compiled:
    printers += [["compile", good], ["compile", good, "--emit", "c"], ["bench", "--list"]]
for words in printers:
    with open("/dev/full", "w") as full:
        ran = run(*words, out=full)
    check(ran.returncode == 2 and ran.stderr == f"standard output: cannot be written: {os.strerror(errno.ENOSPC)}\n",
          f"{' '.join(words)} to a full device: {ran.returncode}, {ran.stderr!r}")
with open("/dev/full", "w") as full:
    ran = run("serve", text='{"etalon":1,"request":"describe"}\n' * 3, out=full)
check(ran.returncode == 2 and ran.stderr == f"standard output: cannot be written: {os.strerror(errno.ENOSPC)}\n", f"serve to a full device: {ran.returncode}, {ran.stderr!r}")

# --- options with numbers: the option, what was expected and what was found ---
numbers = [["conform", "--backend", "reference", "--seed", "@"], ["conform", "--backend", "reference", "--jobs", "@"],
           ["conform", "--backend", "reference", "--timeout", "@"], ["conform", "--backend", "reference", "--memory", "@"],
           ["conform", "--backend", "reference", "--shrink-seconds", "@"], ["conform", "--backend", "reference", "--shard", "@"],
           ["explain", "relu", "--sample", "@"], ["contract", "infer", "--backend", "reference", "--points", "@"],
           ["contract", "infer", "--backend", "reference", "--jobs", "@"], ["adapter", "check", "true", "--timeout", "@"],
           ["run", good, "--log-limit", "@"]]
if is_compiled:
    numbers += [["bench", "--seed", "@"], ["bench", "--threads", "@"], ["bench", "--seconds-per-workload", "@"], ["train", "moons", "--epochs", "@"],
                ["train", "moons", "--seed", "@"], ["train", "moons", "--threads", "@"], ["train", "moons", "--run", "r", "--interval", "@"], ["compile", good, "--memory-budget", "@"]]
for words in numbers:
    for value in ("many", "-1", "1e999", ""):
        ran = run(*[w if w != "@" else value for w in words[:-2]], f"{words[-2]}={value}")
        said = ran.stderr.splitlines()
        check(ran.returncode == 2 and len(said) == 1 and words[-2] in said[0] and (value in said[0]) and re.search("expected|between|from", said[0]),
              f"{' '.join(words)} = {value!r}: {ran.returncode}, {ran.stderr!r}")

# --- pairs and messages on standard input ---
refused(r"standard input:2: .*malformed JSON at line 1, column 2: .*", "judge", text="\n{\n")
refused(r"nothing was compared: expected pairs on standard input, found 0 lines", "judge", status=1)
settings = folder / "etalon.conf"
settings.write_text("[conform]\nbakend = cpu\n")
refused(r".*etalon\.conf: unknown key 'conform\.bakend'; did you mean 'conform\.backend'\?", "check", good)
settings.write_text("[conform]\njobs = many\n")
refused(r".*jobs.*many.*", *ask)
settings.unlink()

sys.exit(check.status(300))
