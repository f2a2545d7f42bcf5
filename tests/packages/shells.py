"""The manual and the completions that are installed: every command has a page that man renders without a warning and that has every
option of its help; bash completes as it is typed, and zsh and fish where they are. Usage: shells.py ETALON ROOT"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from checks import Checks  # noqa: E402

etalon, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
check, skipped = Checks(), []
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "etalon").symlink_to(etalon)
clean = {k: v for k, v in os.environ.items() if not k.startswith("ETALON_")}
environment = {**clean, "PATH": f"{folder}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
               "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "MANWIDTH": "2000", "MANROFFOPT": "", "TERM": "dumb"}
files = root / "tools/completions"


def run(*words, text=None):
    return subprocess.run([str(w) for w in words], cwd=folder, env=environment, input=text, capture_output=True, text=True, timeout=120)


def commands_of(*path):
    """Names in the help, asked without the code that writes pages."""
    text = run(etalon, *path, "--help").stdout
    return re.findall(r"^  ([\w-]+) ", text.split("Subcommands:")[-1].split("Example")[0], re.M) if "Subcommands:" in text else []


def options_of(*path):
    return sorted(set(re.findall(r"^ +(?:-\w,)?(--[\w-]+)", run(etalon, *path, "--help").stdout, re.M)))


# The manual.
ran = run(etalon, "config", "--man", folder / "man/man1")
check(ran.returncode == 0, f"etalon config --man: {ran}")
pages = sorted((folder / "man/man1").glob("*.1"))
names = commands_of()
check([p.name for p in pages] == sorted(["etalon.1", *(f"etalon-{name}.1" for name in names)]),
      f"pages {[p.name for p in pages]} of commands {names}")
rendered = {}
for page in pages:
    if shutil.which("man"):
        ran = run("man", "--warnings", "-E", "UTF-8", "-l", page)
        check(ran.returncode == 0 and ran.stderr == "", f"{page.name}: {ran.stderr[-500:]}")
        rendered[page.stem] = ran.stdout
    elif "man" not in skipped:
        skipped.append("man")
for name in names if rendered else ():
    inner = commands_of(name)
    for path in [(name,), *((name, one) for one in inner)]:
        text, options = rendered[f"etalon-{name}"], options_of(*path)
        check("--help" in options, f"etalon {' '.join(path)}: no options in its help")
        for option in options:
            check(re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text), f"etalon-{name}.1 lacks {option} of etalon {' '.join(path)}")
    for example in re.findall(r"^  (etalon .*)$", run(etalon, name, "--help").stdout, re.M)[:3]:
        check(example.split("   ")[0] in rendered[f"etalon-{name}"], f"etalon-{name}.1 does not show: {example}")
(folder / "file").write_text("")
ran = run(etalon, "config", "--man", folder / "file")
check(ran.returncode == 2 and ran.stderr.count("\n") == 1, f"a file in the folder's place: {ran}")

# What the command answers, from its own help. Hidden commands are not offered.
def answer(*words):
    ran = run(etalon, "complete", "--", *words)
    check(ran.returncode == 0 and ran.stderr == "", f"etalon complete -- {words}: {ran}")
    return ran.stdout.split()


check(sorted(answer("")) == sorted(names), f"commands: {answer('')}")
check("complete" not in answer(""), "a hidden command is offered")
check(sorted(answer("conf")) == ["config", "conform"], f"conf: {answer('conf')}")
check(sorted(answer("report", "")) == sorted(commands_of("report")), f"report: {answer('report', '')}")
check(set(options_of("conform")) <= set(answer("conform", "-")), f"conform -: {answer('conform', '-')}")
check("softmax" in answer("conform", "--ops", "softma"), "an operation")
check("relu,softmax" in answer("conform", "--ops", "relu,softma"), "the second of a list")
check("softmax" in answer("explain", "softm") and answer("explain", "no_such") == [], "an operand")
check("ieee" in answer("conform", "--contract", "=", "ie"), "a value behind =")
check("reference" in answer("conform", "--backend", "ref"), "a backend")
check(sorted(answer("export", "")) == ["npz", "onnx", "safetensors", "stablehlo"], f"choices: {answer('export', '')}")
check(answer("conform", "--json", "") == [], "of a file nothing is known")
check(answer("--nothing", "conform", "--js") == ["--json"], "behind an option that is not there")


# The shells themselves.
def bash(line):
    """What bash offers for a line, by the function that it calls when Tab is pressed."""
    script = f"""source {files / 'etalon.bash'}
COMP_LINE={line!r}; COMP_POINT=${{#COMP_LINE}}
read -ra COMP_WORDS <<< "${{COMP_LINE//=/ = }}"; [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=("")
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_etalon etalon; printf '%s\\n' "${{COMPREPLY[@]}}"; complete -p etalon >&2"""
    ran = run("bash", "--norc", "-c", script)
    check("-F _etalon etalon" in ran.stderr, f"bash: {ran.stderr}")
    return ran.stdout.split()


def typed(line):
    """An interactive bash with readline, to which the line and two Tabs are typed."""
    import pty
    import select
    ours, its = pty.openpty()
    process = subprocess.Popen(["bash", "--norc", "--noprofile", "-i"], stdin=its, stdout=its, stderr=its, cwd=folder,
                               env={**environment, "PS1": "$ "}, start_new_session=True)
    os.close(its)
    said = b""

    def until(what):
        nonlocal said
        while what not in said and select.select([ours], [], [], 30)[0]:
            said += os.read(ours, 65536)
        return what in said
    os.write(ours, f"bind 'set bell-style none' 'set enable-bracketed-paste off'; source {files / 'etalon.bash'}; echo rea''dy\n".encode())
    ready = until(b"ready")
    os.write(ours, line.encode() + b"\t")
    completed = until(b"etalon conform ")
    process.kill()
    process.wait()
    os.close(ours)
    return ready and completed, said


check(bash("etalon confo") == ["conform"], f"bash: {bash('etalon confo')}")
check("softmax" in bash("etalon conform --ops=softm"), f"bash: {bash('etalon conform --ops=softm')}")
check(sorted(bash("etalon report ")) == sorted(commands_of("report")), f"bash: {bash('etalon report ')}")
done, said = typed("etalon confo")
check(done, f"bash, typed: {said[-300:]}")
if shutil.which("fish"):
    asked = "; ".join(f"complete -C '{line}'" for line in ("etalon confo", "etalon ", "etalon conform --ops softm"))
    ran = run("fish", "--no-config", "-c", f"source {files / 'etalon.fish'}; {asked}")
    check({"conform", "softmax", *names} <= set(ran.stdout.split()) and ran.stderr == "", f"fish: {ran}")
else:
    skipped.append("fish")
if shutil.which("zsh"):
    script = f"""compadd() {{ shift; print -rl -- "$@" }}
_files() {{ print files }}
ask() {{ words=("$@"); CURRENT=$#; source {files / '_etalon'} }}
ask etalon confo; ask etalon conform --json ''; ask etalon conform --ops softm"""
    ran = run("zsh", "-f", "-c", script)
    found = ran.stdout.split()
    check(found[:2] == ["conform", "files"] and "softmax" in found[2:] and ran.stderr == "", f"zsh: {ran}")
else:
    skipped.append("zsh")
sys.exit(check.status(150, f"{len(pages)} pages", f"without {' and '.join(skipped) or 'nothing'}"))
