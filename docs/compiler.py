"""Writes what `etalon compile` prints of one program into docs/compiler.md: the list of stages, and the program after each stage that
changes it; and the kinds of decisions and its loops into docs/schedules.md. With --check it only compares; how many lanes a loop has is the machine's.

Usage: compiler.py ROOT ETALON [--check]
"""
import pathlib
import re
import subprocess
import sys
import tempfile

root, command, check = pathlib.Path(sys.argv[1]), sys.argv[2], "--check" in sys.argv
page, schedules = root / "docs/compiler.md", root / "docs/schedules.md"
program = "input x : f32[64, 1000]\ny = softmax(x)\noutput y\n"


def compile_with(*words):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "softmax.txt"
        path.write_text(program)
        return subprocess.run([command, "compile", *([] if words[0] in ("--list", "--decisions") else [path]), *words], check=True, capture_output=True,
                              text=True).stdout


def stages():
    """(level, name, sentence) of each stage and choice; a choice has no level."""
    rows, level = [], ""
    for line in compile_with("--list").splitlines():
        if line and not line.startswith(" "):
            level = line
        elif line:
            name, sentence = line.split(None, 1)
            rows.append((level if line[2] != " " else "", name, sentence))
    return rows


def table(rows):
    lines = ["| leaves | stage | what it is for |", "|---|---|---|"]
    for level, name, sentence in rows:
        lines.append(f"| {level} | `{name}` | {sentence} |" if level else f"| | · `{name}` | {sentence} |")
    return "\n".join(lines) + "\n"


def walk():
    """What each stage leaves, where it is another text than the one before; machine code is left out."""
    parts = re.split(r"^-- after (\w+)\n", compile_with("--dump-after", "all"), flags=re.M)
    text, last = f"```\n{program}```\n", ""
    for name, body in zip(parts[1::2], parts[2::2]):
        if name == "emit":
            break
        if body.strip() != last and name != "values":
            last = body.strip()
            text += f"\nAfter `{name}`:\n\n```\n{last}\n```\n"
    return text


def kernels():
    """The softmax's loops as a file for them holds them, without its first line, which names the program."""
    return "```\n" + "".join(line + "\n" for line in compile_with("--loops-out", "-").splitlines()[1:-1]) + "```\n"


def kinds():
    """A row for each kind of decision."""
    lines = ["| decision | says | what it is |", "|---|---|---|"]
    for line in compile_with("--decisions").splitlines():
        name, words, what = (line[:10].strip(), line[11:47].strip(), line[48:])
        lines.append(f"| `{name}` | {words} | {what} |")
    return "\n".join(lines) + "\n"


def with_part(text, name, part):
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"docs: no place for the {name}")
    head, rest = text.split(begin)
    return head + begin + part + end + rest.split(end)[1]


rows = stages()
names = {name for _, name, _ in rows}
old = page.read_text()
new = with_part(with_part(old, "stages", table(rows)), "walk", walk())
unknown = [name for name in re.findall(r"`--(?:off|dump-after) (\w+)`", old) if name not in names | {"NAME"}]
print(f"{len(rows)} stages and choices, {new.count('After `')} texts, {len(unknown)} unknown names {unknown}")
old_schedules = schedules.read_text()
new_schedules = with_part(with_part(old_schedules, "kinds", kinds()), "kernels", kernels())
if not check:
    page.write_text(new)
    schedules.write_text(new_schedules)
    sys.exit(bool(unknown))
whatever_lanes = lambda text: re.sub(r"in \d+ lanes", "in lanes", text)
if whatever_lanes(new) != whatever_lanes(old):
    sys.exit("docs/compiler.md is not what `etalon compile` prints; run docs/compiler.py ROOT ETALON")
if whatever_lanes(new_schedules) != whatever_lanes(old_schedules):
    sys.exit("docs/schedules.md is not what `etalon compile --decisions` and `--loops-out` print; run docs/compiler.py ROOT ETALON")
sys.exit(1 if unknown or len(rows) < 30 or new.count("After `") < 6 or new_schedules.count("\n| `") < 10 else 0)
