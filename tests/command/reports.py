"""Reports of the command: formats, one truth, shares, resumption, waivers, exit statuses, and the example of docs/ci.md.
Usage: reports.py ETALON"""
import html.parser
import json
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from checks import Checks

etalon = sys.argv[1]
root = pathlib.Path(__file__).resolve().parents[2]
folder = pathlib.Path(tempfile.mkdtemp())
log = folder / "asked.log"
check = Checks()
FEW = ["--ops", "relu,exp", "--dtypes", "f32", "--modes", "forward"]


def run(*words):
    return subprocess.run([etalon, *words], capture_output=True, text=True, timeout=1200)


def adapter(*more):
    return "exec:" + shlex.join([sys.executable, str(pathlib.Path(__file__).with_name("crashing_adapter.py")), etalon, str(log), *more])


def conform(name, *words, backend=None, few=FEW):
    log.write_text("")
    path = folder / name
    # Attempts end a search for smaller counterexamples, never the clock: a busy machine reports the same.
    ran = run("conform", "--backend", backend or adapter(), *few, "--shrink-seconds", "1000", "--json", str(path), *words)
    return ran, lines_of(path)


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def timeless(lines):
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


def ids(lines):
    return [line["id"] for line in lines if line["kind"] == "result"]


class Balanced(html.parser.HTMLParser):
    """Every element that is opened is closed in its turn; nothing is fetched from anywhere."""
    void = {"meta", "link", "input", "br", "path"}

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.count = [], [], 0

    def handle_starttag(self, tag, attributes):
        self.count += 1
        for name, value in attributes:
            if name in ("src", "href") and not value.startswith(("#", "data:")):
                self.wrong.append(f"{tag} {name}={value}")
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.void and (not self.open or self.open.pop() != tag):
            self.wrong.append(f"</{tag}>")


# A run whose adapter ends now and then, in every format; written again from its lines; by more processes.
outputs = {"html": "--html", "xml": "--junit", "md": "--markdown", "svg": "--badge"}
ran, whole = conform("a.jsonl", "--jobs", "1", *[w for kind, option in outputs.items() for w in (option, str(folder / f"a.{kind}"))])
crashed = [line for line in whole if line.get("verdict") == "crashed"]
check(ran.returncode == 1 and len(whole) > 60 and len(crashed) > 3, f"a crashing adapter: {ran.returncode}, {len(whole)} lines, {len(crashed)} crashed")
check(whole[0]["kind"] == "header" and whole[1]["kind"] == "equations" and whole[-1]["kind"] == "summary" and whole[-1]["conforms"] is False,
      "the order of kinds is another")
check(ids(whole) == sorted(ids(whole)), "results are not sorted by id")
check(all("crash & more" in line["why"] and line["why"].count("a warning") == 1 for line in crashed), f"last words: {crashed[0]['why']!r}")
again = run("report", "render", str(folder / "a.jsonl"), *[w for kind, option in {**outputs, "jsonl": "--json"}.items()
                                                          for w in (option, str(folder / f"b.{kind}"))])
check(again.returncode == 1 and "does not conform" in again.stdout, f"render: {again}")
for kind in (*outputs, "jsonl"):
    check((folder / f"a.{kind}").read_bytes() == (folder / f"b.{kind}").read_bytes(), f"render writes another {kind}")
_, by_three = conform("three.jsonl", "--jobs", "3")
check(timeless(by_three) == timeless(whole), "three processes give another report than one")

suites = xml.parse(folder / "a.xml").getroot()
tests = list(suites.iter("testcase"))
check(int(suites.get("tests")) == len(tests) > 5 and int(suites.get("errors")) == len(list(suites.iter("error"))) > 0
      and int(suites.get("failures")) == len(list(suites.iter("failure"))), "JUnit: the counts are not those of the elements")
check(any("last words" in (e.text or "") and "--replay" in e.text for e in suites.iter("error")), "JUnit: no finding in an error")
check(xml.parse(folder / "a.svg").getroot().get("aria-label") == f"etalon: {len(crashed)} failed", "the badge says something else")
page = Balanced()
page.feed((folder / "a.html").read_text())
check(page.count > 100 and not page.open and not page.wrong, f"HTML: {page.open} {page.wrong[:3]}")
markdown = (folder / "a.md").read_text()
check(markdown.count("| crashed |") >= min(len(crashed), 40) and "does not conform" in markdown, "Markdown: failures are missing")

# What would be asked: ids, shares, nothing.
listed = run("conform", "--list", *FEW)
planned = sorted(listed.stdout.split())
refused = sum(line.get("verdict") == "unsupported" for line in whole)  # one more is asked for each
check(listed.returncode == 0 and set(planned) <= set(ids(whole)) and len(ids(whole)) == len(planned) + refused, "--list prints other ids than are asked")
shares = [run("conform", "--list", *FEW, "--shard", f"{i}/2").stdout.split() for i in (1, 2)]
check(all(shares) and sorted(shares[0] + shares[1]) == planned, "shares are not a division")
dry = run("conform", "--backend", adapter(), *FEW, "--dry-run")
check(dry.returncode == 0 and f"2 operations, {len(planned)} cases" in dry.stdout and "nothing was asked" in dry.stdout, f"--dry-run: {dry}")
for wrong in ("0/2", "3/2", "2", "a/b", "1/2/3"):
    ran = run("conform", "--backend", "reference", "--shard", wrong)
    check((ran.returncode, ran.stderr) == (2, f"--shard: expected i/n with 1 <= i <= n, found '{wrong}'\n"), f"--shard {wrong}: {ran}")
for i in (1, 2):
    conform(f"share{i}.jsonl", "--shard", f"{i}/2")
run("report", "render", str(folder / "share1.jsonl"), str(folder / "share2.jsonl"), "--json", str(folder / "both.jsonl"))
both = lines_of(folder / "both.jsonl")
verdicts = [{line["id"]: line["verdict"] for line in lines if line["kind"] == "result"} for lines in (both, whole)]
check(verdicts[0] == verdicts[1], "two shares are not the whole")
ran = run("report", "render", str(folder / "share1.jsonl"), str(folder / "a.jsonl"))
check(ran.returncode == 2 and "stands in two reports" in ran.stderr, f"overlapping shares: {ran}")

# An interrupted run goes on.
_, honest = conform("honest.jsonl", backend=adapter("never"))
everything = log.read_text().count("\n")
text = (folder / "honest.jsonl").read_text().splitlines(keepends=True)
half = len(text) // 2
(folder / "cut.jsonl").write_text("".join(text[:half]) + text[half][:40])
log.write_text("")
ran = run("conform", "--backend", adapter("never"), *FEW, "--resume", str(folder / "cut.jsonl"))
resumed = log.read_text().count("\n")
check(ran.returncode == 0 and 0 < resumed < everything * 3 / 4, f"resumed: {ran.returncode}, {resumed} of {everything} questions: {ran.stderr}")
check(timeless(lines_of(folder / "cut.jsonl")) == timeless(honest), "a resumed run gives another report")
# A killed run leaves a file that can be resumed.
victim = subprocess.Popen([etalon, "conform", "--backend", adapter("never"), *FEW, "--json", str(folder / "killed.jsonl")],
                          stdout=subprocess.DEVNULL)
while victim.poll() is None and not ((folder / "killed.jsonl").exists() and (folder / "killed.jsonl").read_text().count("\n") > 5):
    pass
victim.kill()
victim.wait()
run("conform", "--backend", adapter("never"), *FEW, "--resume", str(folder / "killed.jsonl"))
check(timeless(lines_of(folder / "killed.jsonl")) == timeless(honest), "a killed and resumed run gives another report")
for words, fact in ((["--seed", "2"], "expected seed 2, found 1"), (["--tier", "full"], "expected tier full, found quick"),
                    (["--contract", "fast-math"], "expected contract")):
    ran = run("conform", "--backend", adapter("never"), *FEW, "--resume", str(folder / "honest.jsonl"), *words)
    check(ran.returncode == 2 and fact in ran.stderr and ran.stderr.count("\n") == 1, f"--resume {words}: {ran}")
ran = run("conform", "--backend", "reference", *FEW, "--resume", str(folder / "missing.jsonl"))
check(ran.returncode == 2 and ran.stderr.endswith("the file cannot be read: No such file or directory\n"), f"--resume of nothing: {ran}")

# An interrupted run says what it leaves; files are opened before anybody is asked; a case is shown without a backend.
for words, line in ((["--json", str(folder / "stopped.jsonl")], f"interrupted: {folder}/stopped.jsonl has what was answered; the same command with --resume "
                     f"{folder}/stopped.jsonl asks only the rest\n"), ([], "interrupted: nothing was kept; with --json FILE the answers are, and --resume FILE goes on from them\n")):
    log.write_text("")
    victim = subprocess.Popen([etalon, "conform", "--backend", adapter("never"), *FEW, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while victim.poll() is None and log.read_text().count("\n") < 5:
        pass
    victim.send_signal(signal.SIGINT)
    told = victim.communicate()[1]
    check(victim.returncode == -signal.SIGINT and told.endswith(line), f"interrupted {words}: {victim.returncode} {told!r}")
log.write_text("")
for option in ("--json", "--html", "--junit", "--markdown", "--badge", "--coverage"):
    ran = run("conform", "--backend", adapter("never"), *FEW, option, "/no/such/folder/a")
    check((ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1) and "/no/such/folder/a" in ran.stderr, f"{option}: {ran}")
check(log.read_text() == "", "somebody was asked although the answers have nowhere to go")
shown = run("conform", "--show", ids(whole)[0])
check(shown.returncode == 0 and all(part in shown.stdout for part in (ids(whole)[0], "x = f32", "y[0]: exact ", ", in [", "exp(x[...])")), f"--show: {shown}")
check(run("conform", "--show", "nothing").returncode == 2, "--show of no id")

# What is offered limits what is asked, and is held against what was compared.
ran = run("conform", "--backend", adapter("never"), "--ops", "exp", "--dtypes", "f32", "--profile", "training", "--badge", str(folder / "p.svg"))
check(ran.returncode == 0 and ran.stdout.endswith("conforms: training, 1 operation\n"), f"--profile: {ran.stdout[-200:]}")
check(xml.parse(folder / "p.svg").getroot().get("aria-label") == "etalon: training, 1 operation conforms", "the badge names no profile")
ran = run("conform", "--backend", "reference", "--profile", "trainig")
check((ran.returncode, ran.stderr) == (2, "unknown profile 'trainig'; did you mean 'training'?\n"), f"--profile: {ran}")

# Waivers, and what the schema says of them.
known = folder / "known.json"
met = {call for line in crashed for call in line.get("calls", [])}
unmet = next(name for name in ("abs", "tan", "sign", "log1p") if name not in met)
known.write_text(json.dumps({"schema": 1, "waivers": [{"operation": name, "reason": "it <crashes>", "expires": "2999-12-31"} for name in ("relu", "exp", unmet)]}))
ran, waived = conform("waived.jsonl", "--waivers", str(known))
check(ran.returncode == 0 and waived[-1]["conforms"] and waived[-1]["crashed"] == 0 and waived[-1]["waived"] == len(crashed), f"waived: {waived[-1]}")
check("waived: exp: " in ran.stdout and "it <crashes>" in ran.stdout, "the console does not list waivers")
check([use["matched"] > 0 for use in waived[-1]["waivers"]] == [True, True, False], "a waiver of what was not asked counts")
ran, _ = conform("partial.jsonl", "--waivers", str(known), backend=adapter("never"))
check(ran.returncode == 0, "a waiver is out of date although derivatives were not asked")
known.write_text(json.dumps({"schema": 1, "waivers": [{"operation": "exp", "check": "value", "dtype": "f32", "reason": "r", "expires": "2999-12-31"}]}))
ran, stale = conform("stale.jsonl", "--waivers", str(known), backend=adapter("never"))
check(ran.returncode == 1 and stale[-1]["waiver_errors"] == ["waiver 1 (exp value f32): matches no failure; remove it"], f"stale waivers: {ran.returncode}")
known.write_text('{"schema": 1, "waivers": [{"operation": "rellu", "reason": "r", "expires": "2999-12-31"}]}')
ran = run("conform", "--backend", "reference", *FEW, "--waivers", str(known))
check((ran.returncode, ran.stderr) == (2, f"{known}: waivers[0].operation: unknown operation 'rellu'; did you mean 'relu'?\n"), f"malformed waivers: {ran}")
schema = json.loads((root / "docs/waivers.schema.json").read_text())["properties"]["waivers"]["items"]
for key, kind in schema["properties"].items():
    for value in kind.get("enum", ["words"]):
        entry = {"operation": "relu", "reason": "r", "expires": "2999-12-31"}
        entry.update({key: value} if "enum" in kind else {})
        known.write_text(json.dumps({"schema": 1, "waivers": [entry]}))
        ran = run("conform", "--backend", "reference", "--ops", "relu", "--dry-run", "--waivers", str(known))
        check(ran.returncode == 0, f"the schema allows {entry}, the command says {ran.stderr}")
for key in schema["required"]:
    known.write_text(json.dumps({"schema": 1, "waivers": [{k: v for k, v in entry.items() if k != key}]}))
    check(run("conform", "--backend", "reference", "--dry-run", "--ops", "relu", "--waivers", str(known)).returncode == 2, f"a waiver without {key} is taken")
for example in re.findall(r"```waivers\n(.*?)```", (root / "docs/conformance.md").read_text(), re.S):
    known.write_text(example)
    check(run("conform", "--backend", "reference", "--dry-run", "--ops", "relu", "--waivers", str(known)).returncode == 0, "the waivers of docs/conformance.md are malformed")

# Two runs.
ran = run("report", "diff", str(folder / "honest.jsonl"), str(folder / "a.jsonl"))
check(ran.returncode == 1 and f"{len(crashed)} worse, 0 better, 0 new" in ran.stdout, f"diff: {ran.stdout[-300:]}")
ran = run("report", "diff", str(folder / "a.jsonl"), str(folder / "honest.jsonl"))
check(ran.returncode == 0 and f"0 worse, {len(crashed)} better" in ran.stdout, f"diff: {ran.stdout[-300:]}")
ran = run("report", "scoreboard", str(folder / "a.jsonl"), str(folder / "honest.jsonl"), "--markdown", str(folder / "board.md"))
check(ran.returncode == 0 and (folder / "board.md").read_text().count("| elementwise, one operand | 2 of 2 |") == 2, f"scoreboard: {ran}")
(folder / "newer.jsonl").write_text((folder / "a.jsonl").read_text().replace('"schema":1', '"schema":7', 1))
ran = run("report", "render", str(folder / "newer.jsonl"))
check((ran.returncode, ran.stderr) == (2, f"{folder}/newer.jsonl:1: expected a report of schema 1, found 7\n"), f"another schema: {ran}")
check(run("report").stderr == "report: a command is missing; etalon report --help lists them\n", "report without a command")
ran = run("conform", "--backend", "reference", *FEW, "--json", "/no/such/folder/a.jsonl")
check((ran.returncode, ran.stderr.count("\n")) == (2, 1), f"a file that cannot be written: {ran}")

# The example for CMake.
example = re.findall(r"```cmake\n(.*?)```", (root / "docs/ci.md").read_text(), re.S)
check(len(example) == 1, "docs/ci.md has another number of examples for CMake than one")
project = folder / "project"
project.mkdir()
(project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(backend NONE)\nenable_testing()\n" + "".join(example))
for words in (["cmake", "-S", project, "-B", project / "build", f"-DETALON={etalon}", f"-DADAPTER={etalon} serve --backend reference"],
              ["ctest", "--test-dir", project / "build", "--output-on-failure"]):
    ran = subprocess.run(words, capture_output=True, text=True, timeout=1200)
    check(ran.returncode == 0, f"docs/ci.md: {ran.stdout[-600:]} {ran.stderr[-600:]}")
check((project / "build/conformance.html").exists(), "docs/ci.md: the example writes no page")

sys.exit(check.status(60))
