"""The command line: what it prints, what it refuses in one line, and its exit status."""
import base64
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from checks import Checks

command, build = sys.argv[1], sys.argv[2]
check = Checks()


def etalon(*words, text=""):
    return subprocess.run([command, *words], input=text, capture_output=True, text=True, timeout=120)


def refused(line, *words, text=""):
    """Exit 2, exactly this line on stderr, nothing on stdout."""
    ran = etalon(*words, text=text)
    check((ran.returncode, ran.stderr, ran.stdout) == (2, line + "\n", ""),
          f"etalon {' '.join(words)}: expected 2 and {line!r}, found {ran.returncode}, {ran.stderr!r}, {ran.stdout[:200]!r}")


def printed(parts, *words, text="", status=0):
    ran = etalon(*words, text=text)
    check(ran.returncode == status, f"etalon {' '.join(words)}: exit {ran.returncode}, {ran.stderr!r}")
    for part in parts:
        check(part in ran.stdout, f"etalon {' '.join(words)}: {part!r} is missing in {ran.stdout[:400]!r}")
    return ran.stdout


folder = pathlib.Path(tempfile.mkdtemp())
program = folder / "step.txt"
program.write_text("input x : f32[2]\nparameter w : f32[]\nindex n : i64[] in 0..3\nconstant c : f32[] = 0.5\n"
                   "h = mul(x, w)\ns = sum(h)\ng = vjp(s; w)\noutput s, g\nupdate w := g\n")
ill_typed = folder / "bad.txt"
ill_typed.write_text('input x : f32[2, 3]\ninput w : f32[4, 4]\nh = matmul(x, w) @ "net.cpp":12\noutput h\n')
malformed = folder / "malformed.txt"
malformed.write_text("input x : f32[2]\ny = relu(x\n")

# What bad input gets.
no_cuda = etalon("serve", "--backend", "cuda").stderr.rstrip("\n")
check(no_cuda == "cuda: not in this build" or build == "compiled" and no_cuda.startswith(("cuda: no driver: libcuda.so.1: ", "cuda: no device: ", "cuda: the driver ")),
      f"the reason why there is no CUDA is {no_cuda!r}")
refused(no_cuda, "serve", "--backend", "cuda")
refused(no_cuda, "conform", "--backend", "cuda")
refused(no_cuda, "run", str(program), "--backend", "cuda")
refused("unknown backend 'cpuu'; did you mean 'cpu'? (a process that speaks Protocol 1 is exec:COMMAND, a plug-in plugin:PATH.so, one of PJRT pjrt:PATH.so)", "conform", "--backend", "cpuu")
refused("unknown operation 'sofmax'; did you mean 'softmax'?", "explain", "sofmax")
refused("unknown operation 'sofmax'; did you mean 'softmax'?", "conform", "--backend", "reference", "--ops", "relu,sofmax")
refused("unknown mode 'vpj'; did you mean 'vjp'?", "conform", "--backend", "reference", "--modes", "vpj")
refused("unknown tier 'quik'; did you mean 'quick'?", "conform", "--backend", "reference", "--tier", "quik")
if build == "compiled":
    refused("--memory-budget: expected a number of bytes such as 1048576, 64K, 64M or 2G, found '64Q'", "compile", str(program), "--memory-budget", "64Q")
    report = json.loads(printed([], "compile", str(program), "--json"))
    check(report["peak_bytes"] == report["arena_bytes"] + report["stack_bytes"] + report["input_bytes"] + report["output_bytes"] and report["kernels"] and
          {v["name"]: v["keeping"] for v in report["values"]}["x"] == "shared", f"etalon compile --json: found {report}")
    printed(["x is shared in input 0: given by the caller"], "compile", str(program), "--dump-after", "values")
    asking = folder / "asking.txt"
    asking.write_text('input x : f32[2]\na = mul(x, x)\nb = exp(a)\ny = sum(b)\noutput y\ncapture a @ "net.cpp":3\nstored b @ "net.cpp":4\n')
    for backend in ("reference", "cpu"):
        printed(["y : f32[] = ", "\ncaptured\na : f32[2] = [0.25, 0.0]\n"], "run", str(asking), "--set", "x=0.5,0", "--backend", backend)
    values = {v["name"]: v for v in json.loads(printed([], "compile", str(asking), "--json"))["values"]}
    check(values["a"]["request"] == "capture a at net.cpp:3" and values["b"]["request"] == "stored b at net.cpp:4" and values["x"]["request"] is None and
          values["b"]["keeping"] == "stored", f"etalon compile --json: found {values}")
    asking.write_text(asking.read_text() + 'inlined b @ "net.cpp":5\n')
    refused(f"{asking}:8:9: inlined b at net.cpp:5 excludes stored b at net.cpp:4: a value that is inlined has no memory", "compile", str(asking))
    refused(f"{asking}:8:9: inlined b at net.cpp:5 excludes stored b at net.cpp:4: a value that is inlined has no memory", "run", str(asking), "--set", "x=1")
refused("unknown option '--bakend'; did you mean '--backend'?", "serve", "--bakend", "cpu")
refused("unknown option '--bakend'; did you mean '--backend'?", "serve", "--bakend=cpu")
refused("unknown command 'serv'; did you mean 'serve'?", "serv")
refused("a command is missing; etalon --help lists them")
refused("missing.txt: the file cannot be read: No such file or directory", "check", "missing.txt")
near = str(folder / "setp.txt")
refused(f"{near}: the file cannot be read: No such file or directory; did you mean 'step.txt'?", "check", near)
refused("missing.txt: the file cannot be read: No such file or directory", "run", "missing.txt")
refused("missing.json: the file cannot be read: No such file or directory", "conform", "--backend", "reference", "--contract", "missing.json")
refused(f"{malformed}:2:11: expected ')', found the end of the line", "check", str(malformed))
refused("--set x: expected 2 numbers or one, found 3", "run", str(program), "--set", "x=1,2,3")
refused("--set: unknown input 'xx'; did you mean 'x'?", "run", str(program), "--set", "xx=1")
refused("input n: expected a value in 0..3, found 4", "run", str(program), "--set", "x=1,2", "--set", "w=3", "--set", "n=4")
ran = etalon("check", str(ill_typed))
check(ran.returncode == 2 and ran.stderr.count("\n") == 1 and ran.stderr.startswith(f"{ill_typed}:3:5: matmul: k is 3 in a, 4 in b")
      and ran.stderr.endswith("; step h = matmul(x, w) at net.cpp:12\n"), f"check of an ill-typed program: {ran.stderr!r}")
if build == "compiled":
    ran = etalon("train", "digist")
    check(ran.returncode == 2 and "did you mean 'digits'?" in ran.stderr and ran.stderr.count("\n") == 1,
          f"train digist: {ran.stderr!r}")
    ran = etalon("train", "digits", "--data", str(folder / "missing.csv.gz"))
    check(ran.returncode == 2 and str(folder / "missing.csv.gz") in ran.stderr and ran.stderr.count("\n") == 1,
          f"train digits --data missing: {ran.returncode}, {ran.stderr!r}")
    own = folder / "own.csv"
    own.write_text(64 * "3," + "4\n" + 64 * "3," + "12\n")
    refused(f"{own}:2: column 65, the class, is '12', expected a whole number from 0 to 9", "train", "digits", "--data", str(own))
    refused("backend cpu:THREADS: expected a number of threads from 1 to 256, found '0'", "conform", "--backend", "cpu:0")
    refused("backend cpu:THREADS: expected a number of threads from 1 to 256, found '2x'", "conform", "--backend", "cpu:2x")
    ran = etalon("conform", "--backend", "cpu:2", "--ops", "softmax,linear", "--dtypes", "f32")
    check(ran.returncode == 0 and " 0 fail" in ran.stdout, f"conform --backend cpu:2: {ran.returncode}, {ran.stdout!r}, {ran.stderr!r}")
    refused("unknown workload 'sofmax'; did you mean 'softmax'?", "bench", "--only", "gemm,sofmax")
    refused("unknown competitor 'pytroch'; did you mean 'pytorch'?", "bench", "--competitors", "pytroch")
    refused("unknown option '--secnds'; did you mean '--seed'?", "bench", "--secnds", "1")
    refused("missing.json: the file cannot be read: No such file or directory", "bench", "report", "missing.json")
    refused(f"{program}: not a run of etalon bench", "bench", "report", str(program))
    refused(no_cuda, "train", "moons", "--backend", "cuda")
    refused("unknown backend 'cuda-emulatd'; did you mean 'cuda-emulated'?", "train", "moons", "--backend", "cuda-emulatd")
    given = ("run", str(program), "--set", "x=1.5,-2", "--set", "w=0.25", "--set", "n=1", "--backend")
    check(etalon(*given, "cuda-emulated").stdout == etalon(*given, "cpu").stdout != "", "run: the emulated GPU gives other numbers than the processor")
    printed(["cuda-emulated  CUDA C++ on the host", "cuda           none: " + no_cuda.removeprefix("cuda: ")], "devices")
    refused("/no/such/run.json: the file cannot be written: No such file or directory", "bench", "--json", "/no/such/run.json")
    for words in (("--threads", "0"), ("--seconds-per-workload", "-1"), ("--seed", "x"), ("--openmp-waits", "never")):
        ran = etalon("bench", *words)
        check(ran.returncode == 2 and ran.stderr.count("\n") == 1 and words[0] in ran.stderr, f"bench {words}: {ran.returncode}, {ran.stderr!r}")
else:
    refused("cpu: not in this build", "serve", "--backend", "cpu")
    refused("cuda-emulated: not in this build", "serve", "--backend", "cuda-emulated")
    refused("devices: not in this build; configure with -DETALON_COMPILED=ON", "devices")
    refused("train: not in this build", "train", "digits")
    refused("bench: not in this build; configure with -DETALON_COMPILED=ON", "bench")

refused("contract: a command is missing; etalon contract --help lists them", "contract")
refused("unknown command 'chek'; did you mean 'check'?", "contract", "chek")
refused("log: a command is missing; etalon log --help lists them", "log")
refused("unknown option '--jsn'; did you mean '--json'?", "contract", "list", "--jsn")
refused("unknown contract 'cpuu'; did you mean 'cpu'?", "contract", "show", "cpuu")
refused("unknown contract 'ieee-f31'; did you mean 'ieee-f32'?", "conform", "--backend", "reference", "--contract", "ieee-f31")
refused(no_cuda, "contract", "infer", "--backend", "cuda")
refused("missing.json: the file cannot be read: No such file or directory", "contract", "check", "missing.json")

# What good input gets.
printed(["etalon 0."], "--version")
printed(["explain", "conform", "serve", "train", "Examples"], "--help")
for sub in ("explain", "spec", "check", "run", "log", "serve", "conform", "train", "resume", "export", "certify", "verify", "audit", "dispute") + (("tune",) if build == "compiled" else ()):
    printed(["Example"], sub, "--help")
if build == "compiled":
    cache = folder / "code"
    first = etalon("compile", str(program), "--cache", str(cache), "--explain-compile")
    check(first.returncode == 0 and "kept from" not in first.stdout and len(list(cache.glob("code-*"))) == 1,
          f"compile --cache, cold: {first.returncode}, {first.stdout!r}, {first.stderr!r}")
    check(re.search(r"^  simplify +[0-9.]+ ms$", first.stdout, re.M) and re.search(r"^  generate +[0-9.]+ ms$", first.stdout, re.M),
          f"compile --explain-compile: {first.stdout!r}")
    printed(["kept from an earlier compilation"], "compile", str(program), "--cache", str(cache))
    product = folder / "product.txt"
    product.write_text("input a : f32[60, 128]\ninput b : f32[128, 96]\ny = matmul(a, b)\nz = relu(y)\noutput z\n")
    schedule = folder / "product.schedule"
    plan = printed(["tiles of"], "compile", str(product), "--schedule-out", str(schedule), "--dump-after", "plan")
    lines = schedule.read_text().splitlines()
    check(lines[0].startswith("# What was decided") and len(lines) > 4, f"--schedule-out: {lines}")
    again = printed([], "compile", str(product), "--schedule", str(schedule), "--dump-after", "plan")
    check(again.rsplit("passes", 1)[0] == plan.rsplit("passes", 1)[0], "a schedule that was written out makes another plan")
    tile = next(l for l in lines if l.startswith("tile "))
    schedule.write_text("# mine\n" + tile.split(" rows=")[0] + " rows=1 columns=20\n")
    ran = etalon("compile", str(product), "--schedule", str(schedule))
    check(ran.returncode == 2 and ran.stdout == "" and re.fullmatch(re.escape(f"{schedule}:2: tile ") + r"\w+: columns are whole vectors of \d+, found 20\n", ran.stderr),
          f"compile --schedule: {ran}")
    refused("schedule: nothing was tuned for this program on this machine; etalon tune FILE --seconds 30 does it", "compile", str(product), "--schedule", "tuned", "--cache", str(cache))
    refused("compile: --schedule tuned is for machine code of this processor; leave --emit out", "compile", str(product), "--emit", "cuda", "--schedule", "tuned")
    refused("compile: nothing is decided for --emit program or equations; leave --schedule and --schedule-out out", "compile", str(product), "--emit", "equations", "--schedule-out", "-")
    # For a grid other decisions are taken, and followed.
    text = printed(["__global__"], "compile", str(product), "--emit", "cuda", "--schedule-out", str(schedule))
    decided = schedule.read_text()
    copy = next((l for l in decided.splitlines() if l.startswith("copy ")), "")
    check(copy.endswith(" stages=2") and "wait_for_copies" in text, f"--emit cuda --schedule-out: {decided}")
    check(printed([], "compile", str(product), "--emit", "cuda", "--schedule", str(schedule)) == text, "a schedule for a grid that was written out makes another text")
    schedule.write_text(decided.replace(copy, copy.replace("stages=2", "off")))
    check("wait_for_copies" not in printed(["__global__"], "compile", str(product), "--emit", "cuda", "--schedule", str(schedule)), "copies that are off are there")
    loops, never = folder / "product.loops", folder / "never.loops"
    dumped = printed(["for tiles of"], "compile", str(product), "--loops-out", str(loops), "--dump-after", "loops")
    head, kernels = loops.read_text().split("\n", 1)
    check(head == f"-- The kernels of {product} (docs/schedules.md). One that is taken out is as the compiler makes it." and kernels in dumped, f"--loops-out: {head}")
    check(kernels in printed([], "compile", str(product), "--loops", str(loops), "--loops-out", "-"), "loops that were written out are other loops once they are given")
    loops.write_text("\n" + kernels.replace("kernel z(", "kernel zz("))
    ran = etalon("compile", str(product), "--loops", str(loops), "--loops-out", str(never))
    check((ran.returncode, ran.stdout, ran.stderr, never.exists()) == (2, "", f"{loops}:2: unknown kernel 'zz'; did you mean 'z'?\n", False), f"compile --loops: {ran}")
    loops.write_text(kernels.replace("kernel z(", "kernel z["))
    refused(f"{loops}:1:9: expected '(', found '['", "compile", str(product), "--loops", str(loops))
    refused("compile: --loops and --loops-out are about machine code; leave --emit out", "compile", str(product), "--emit", "c", "--loops", str(loops))
    printed(["least_products", "line_bytes", "lanes "], "compile", "--machine")
    printed(["tile", "join", "recompute"], "compile", "--decisions")
    tuned = json.loads(printed([], "tune", str(product), "--seconds", "1", "--cache", str(cache), "--json"))
    check(tuned["tried"] > 0 and tuned["other_results"] == 0 and (tuned["file"] is None) == (tuned["decisions"] == []), f"tune: {tuned}")
    held = json.loads(printed([], "tune", str(product), "--seconds", "1", "--reorder-sums", "--conform", "-o", str(folder / "held"), "--json"))["conforms"]
    check(tuned["conforms"] is None and held["verdict"] == "pass" and held["comparisons"] == 60 * 96 and held["undecided"] == 0, f"tune --conform: {held}")
    reordered = json.loads(printed([], "tune", str(product), "--seconds", "1", "--reorder-sums", "-o", str(folder / "reordered"), "--json"))
    check(reordered["tried"] > 0 and reordered["other_results"] == 0, f"tune --reorder-sums: {reordered}")
    if tuned["file"]:
        check(0 < tuned["seconds_after"] < tuned["seconds_before"], f"tune: {tuned}")
        printed([], "compile", str(product), "--schedule", "tuned", "--cache", str(cache))
    printed(["Example", "report"], "bench", "--help")
    printed(["gemm-16", "conv-64-64-weights", "train-gpt", "first-call-mlp"], "bench", "--list")
    kept, page, again = folder / "run.json", folder / "run.md", folder / "again.md"
    printed(["gemm-16", "best peer"], "bench", "--only", "gemm-16", "--competitors", "etalon,copy", "--threads", "1",
            "--seconds-per-workload", "0.01", "--json", str(kept), "--markdown", str(page), "--quiet")
    check(json.loads(kept.read_text())["cells"][0]["measurements"][0]["verdict"] == "agrees", "bench: etalon does not agree with itself")
    printed([], "bench", "report", str(kept), "--markdown", str(again))
    check(again.read_text() == page.read_text().replace("run-1.svg", "again-1.svg"), "bench report: another page than the run's")
    check((folder / "again-1.svg").read_bytes() == (folder / "run-1.svg").read_bytes() != b"", "bench report: another plot")
    printed(["width-64", "step-calls-10003"], "bench", "scale", "--list")
    printed(["### Scale: calls", "| 12 |"], "bench", "scale", "--only", "calls-12", "--seconds-per-workload", "0.01", "--json", str(kept),
            "--markdown", str(page), "--quiet")
    check(json.loads(kept.read_text())["cells"][0]["size"] == 12, "bench scale: the size is not in the JSON")
    check("### Scale: calls" in page.read_text() and "run-1.svg" in page.read_text(), "bench scale: the page has no section or plot")
    refused("unknown workload 'widht'; did you mean 'width'?", "bench", "scale", "--only", "widht")
    printed(["train-moons", "1 workloads", "all equal"], "bench", "bits", "--only", "train-moons", "--json", str(kept))
    bits = json.loads(kept.read_text())
    check(bits["equal"] is True and len(set(bits["workloads"][0]["sha256"])) == 1 and len(bits["workloads"][0]["settings"]) == 7 and
          bits["workloads"][0]["bytes"] > 0, f"bench bits: {bits}")
    refused("bits: --vectors: avx512 and avx2 are known, got `sse9`", "bench", "bits", "--vectors", "sse9")
printed(["softmax(x[..rest, n @ axis])", "typing", "equations", "domain", "kinks", "reverse derivative", "x~", "worked example", "between"],
        "explain", "softmax")
printed(["x[i0] > 0"], "explain", "log", "--dtype", "f64")
printed(["y[i, k] = sum[j] x1[i, j] * x2[j, k]", "reverse derivative"], "explain", "--einsum", "ij;jk=>ik")
printed(["max[k]", "extent_o : int"], "explain", "--einsum", "2*o<+k;k=>o", "--semiring", "max_plus", "--captures", "o")
refused("einsum: expected the end of the specification, found '&' (at 1:5)", "explain", "--einsum", "i=>i&")
definitions = json.loads(printed([], "spec", "--json"))["definitions"]
check(len(definitions) >= 41, f"spec --json has {len(definitions)} definitions")
for definition in definitions:
    check(definition["text"] and definition["clauses"] and definition["results"], f"spec --json: {definition['name']} lacks a part")
printed(["well typed, 3 steps, 7 values", "g = vjp(s; w)"], "check", str(program))
printed(["output s[] : f32"], "check", str(program), "--equations")
as_json = folder / "step.json"
as_json.write_text(printed(['"derivative":"vjp"'], "check", str(program), "--json"))
for path in (program, as_json):  # s = (1 + 2)·3, ds/dw = 1 + 2
    printed(["s : f32[] = 9.0\n", "g : f32[] = 3.0\n"], "run", str(path), "--set", "x=1,2", "--set", "w=3", "--set", "n=0")

# Definitions of one's own.
own = folder / "own.txt"
own.write_text("-- Quadratic near 0, linear beyond.\nblend(x[...]) {width = 1.0} -> y[...]\n"
               "  y[...] = if abs(x[...]) < width then 0.5*x[...]*x[...] else width*(abs(x[...]) - 0.5*width)\n\n"
               "cubes(x[..r, n]) -> y[..r]\n  y[..i] = sum[k] x[..i, k]*x[..i, k]*x[..i, k]\n")
caller = folder / "caller.txt"
caller.write_text("input x : f32[2]\nh = blend(x) {width = 2.0}\ns = cubes(h)\ng = vjp(s; x)\noutput s, g\n")
with_own = ["--definitions", str(own)]
listed = json.loads(printed([], "spec", "--json", *with_own))
check(len(listed["definitions"]) == len(definitions) + 2 and listed["hash"] != json.loads(printed([], "spec", "--json"))["hash"],
      "spec --definitions does not list the definitions")
printed(["-- Quadratic near 0, linear beyond."], "spec", *with_own)
printed(["blend(x[...])", "reverse derivative", "worked example"], "explain", "blend", *with_own)
printed(["blend(x[...])", "well typed"], "check", str(caller), *with_own)
carrying = folder / "carrying.txt"
carrying.write_text("definitions\n" + own.read_text() + "end definitions\n" + caller.read_text())
carried = folder / "carried.json"
carried.write_text(printed(['"definitions":['], "check", str(carrying), "--json"))
for words in ([str(caller), *with_own], [str(carrying)], [str(carried)]):  # h = (1/2, 4), s = h1^3 + h2^3, g = 3 h^2 h'
    printed(["s : f32[] = 64.125\n", "g : f32[2] = [0.75, 96.0]\n"], "run", *words, "--set", "x=1,3")
for backend in ["reference"] + (["cpu"] if build == "compiled" else []):
    out = printed(["blend ", "cubes ", "coverage: 2 of", "conforms: all, 2 operations\n"], "conform", "--backend", backend, *with_own)
    check("does not conform" not in out, f"conform --definitions on {backend}: {out}")
first = [line for line in printed(["blend.value.f32.0000@"], "conform", "--backend", "reference", "--list", *with_own).splitlines()]
check(first and all(line.split(".")[0] in ("blend", "cubes") for line in first), "conform --definitions asks for other operations")
for text, line in (("softmax(x[n]) -> y[n]\n  y[i] = x[i]\n", "1:1: softmax: there is an operation of this name already"),
                   ("f(x[n]) -> y[n]\n  y[i] = x[i\n", "2:13: f: expected ']', found the end"),
                   ("\nf(x[n]) -> y[n]\n  y[i] = tangent(x[i])\n", "3:10: f: no function of the notation has this name; found 'tangent'"),
                   ("f(x[n]) -> y[n]\n  y[i] = z[i]\n", "2:10: f: z is not a tensor that stands before this equation")):
    bad = folder / "bad_definitions.txt"
    bad.write_text(text)
    for words in (["spec"], ["explain", "relu"], ["check", str(program)], ["run", str(program)], ["conform", "--backend", "reference"]):
        refused(f"{bad}:{line}", *words, "--definitions", str(bad))

# Contracts.
names = json.loads(printed([], "contract", "list", "--json"))
check({"ieee", "cpu", "cuda-default", "tf32-matmul", "fast-math"} <= {row["name"] for row in names}, f"contract list: {names}")
printed(["tf32-matmul\n", "tensor cores"], "contract", "list")
shown = folder / "tf32.json"
shown.write_text(printed(['"product_operand_precision": 11'], "contract", "show", "tf32-matmul"))
printed([f"{shown}: a contract, 'tf32-matmul'\n", "operands of contractions may be rounded to 11 bits, toward zero\n",
         "  f32: div "[:7], "sums added in any order or tree\n"], "contract", "check", str(shown))
answer = json.loads(printed([], "contract", "check", str(shown), "--json"))
check(answer["valid"] and answer["contract"]["accumulation"] == "toward_zero" and len(answer["promises"]) > 8, f"contract check --json: {answer}")
wrong = folder / "wrong.json"
wrong.write_text('{"ties": "frist", "functions": {"f32": {"exq": {"k0": 1}, "log": {"k0": 0.1}}}}')
ran = etalon("contract", "check", str(wrong))
check((ran.returncode, ran.stdout.count("\n"), ran.stderr) == (1, 3, "") and "did you mean 'exp'?" in ran.stdout
      and f"{wrong}: contract.functions.f32.log.k0: expected a number >= 0.5, found 0.1\n" in ran.stdout, f"contract check: {ran}")
answer = json.loads(printed([], "contract", "check", str(wrong), "--json", status=1))
check(not answer["valid"] and len(answer["errors"]) == 3, f"contract check --json: {answer}")
refused(f"{wrong}: contract.functions.f32: unknown key 'exq'; did you mean 'exp'?", "conform", "--backend", "reference", "--contract", str(wrong))
check(json.loads(printed([], "contract", "schema"))["additionalProperties"] is False, "contract schema is not closed")
inferred = folder / "inferred.json"
who = "cpu" if build == "compiled" else "reference"
printed(["gradual underflow\n", "goes to the first of equals\n"], "contract", "infer", "--backend", who, "-o", str(inferred), "--points", "16000")
found, shipped = json.loads(inferred.read_text()), json.loads(printed([], "contract", "show", "cpu"))
for dtype, rows in shipped["functions"].items():  # sampled maxima are rounded up to halves
    for name, row in rows.items():
        check(found["functions"][dtype][name]["k0"] <= -(-row["k0"] * 2 // 1) / 2, f"contract infer: {name} in {dtype} is looser than shipped")
check(found["measured"]["functions"]["f32"]["exp"]["points"] >= 16000 and found["name"].endswith("inferred"), "contract infer says nothing of what was measured")
printed(["conforms: all, 3 operations\n", f"contract: {who}, inferred"], "conform", "--backend", who, "--contract", str(inferred), "--ops", "exp,max,sum")

# The reference as an oracle: f32 exp at 1 lies strictly between the ends, and the ends are an ulp or two apart.
request = {"request": "run", "id": "a", "mode": "forward", "bounds": {},
           "program": {"inputs": [{"name": "x", "dtype": "f32", "shape": [1]}],
                       "calls": [{"operation": "exp", "operands": ["x"], "attributes": {}, "results": ["y"]}], "outputs": ["y"]},
           "inputs": [{"dtype": "f32", "shape": [1], "data": base64.b64encode(struct.pack("<f", 1)).decode()}]}
served = etalon("serve", "--backend", "reference", text="{nonsense\n" + json.dumps(request) + "\n")
lines = [json.loads(line) for line in served.stdout.splitlines()]
check(served.returncode == 0 and len(lines) == 2 and "error" in lines[0], f"serve: {served.stdout!r} {served.stderr!r}")
if len(lines) == 2:
    low, high = (struct.unpack("<d", base64.b64decode(lines[1][end][0]["data"]))[0] for end in ("lower", "upper"))
    check(low < 2.718281828459045 < high and high - low < 6 * 2 ** -22, f"serve: exp(1) in [{low}, {high}]")

# The examples of the documentation.
root = pathlib.Path(__file__).resolve().parents[2]
documented = re.findall(r"```program\n(.*?)```", (root / "docs/program.md").read_text(), re.S)
check(len(documented) == 3, "docs/program.md has other examples than three")
for text in documented:
    (folder / "documented.txt").write_text(text)
    printed(["well typed"], "check", str(folder / "documented.txt"))

sys.exit(check.status(60))
