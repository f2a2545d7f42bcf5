"""What README.md and the pages show is true: code is cut from programs that are built and run as tests, what they print
is printed, definitions stand in the library, links lead somewhere, every page is reached from docs/README.md, commands
and options exist, and the README is short.

Usage: pages.py ROOT ETALON BUILD_FOLDER [EXAMPLE_PROGRAM…]
"""
import json
import pathlib
import re
import subprocess
import sys
import textwrap

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests/command"))
from checks import Checks  # noqa: E402

root, etalon, build, programs = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3], sys.argv[4:]
longest_readme = 600
checked_by_their_own_test = {"docs/findings.md"}  # adapter_findings builds and runs its scripts
check = Checks()


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=120).stdout


def blocks(path, language):
    """The code of each fenced block of this language, with the number of its first line."""
    text = path.read_text()
    for found in re.finditer(rf"^```{language}\n(.*?)^```", text, re.S | re.M):
        yield text[:found.start()].count("\n") + 1, textwrap.dedent(found.group(1)).strip("\n")


def is_part(code, source):
    """Whether the lines stand in the source one after the other, whatever their common indentation."""
    wanted, lines = code.split("\n"), source.split("\n")
    return any(textwrap.dedent("\n".join(lines[i:i + len(wanted)])).strip("\n") == code for i in range(len(lines)))


pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
names = {p: str(p.relative_to(root)) for p in pages}

# Code, and what it prints.
sources = {p.name: p.read_text() for p in sorted((root / "docs/examples").glob("*.cpp"))}
printed = [output(program).strip() for program in programs]
for page in pages:
    if names[page] in checked_by_their_own_test:
        continue
    for line, code in blocks(page, "cpp"):
        check(any(is_part(code, source) for source in sources.values()), f"{names[page]}:{line}: no program of docs/examples has these lines")
    if programs:
        for line, text in blocks(page, "printed"):
            check(text in printed, f"{names[page]}:{line}: no program of docs/examples prints {text!r}, they print {printed}")
library = output(etalon, "spec")
for page in pages[:1]:
    for line, text in blocks(page, ""):
        if " -> " in text.split("\n")[0]:
            check(text in library, f"{names[page]}:{line}: the library does not say so")

# The README is short.
words = len((root / "README.md").read_text().split())
check(words <= longest_readme, f"README.md: {words} words, at most {longest_readme}")


# Links.
def anchors(path):
    titles = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}


leads_to = {}
for page in [*pages, *sorted((root / "proofs-notes").glob("*.md")), *sorted((root / "conformance/adapters").rglob("README.md"))]:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S)
    leads_to[page] = set()
    for target in re.findall(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"", text):
        target = "".join(target)
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        check(there.exists(), f"{page.relative_to(root)}: the link {target} leads nowhere")
        if anchor and there.suffix == ".md" and there.exists():
            check(anchor in anchors(there), f"{page.relative_to(root)}: {target}: no such title")
        leads_to[page].add(there)
reached, next_pages = set(), [root / "docs/README.md"]
while next_pages:
    page = next_pages.pop()
    if page not in reached:
        reached.add(page)
        next_pages += leads_to.get(page, ())
for page in sorted((root / "docs").glob("*.md")):
    check(page in reached, f"{names[page]}: no way from docs/README.md leads there")

# Commands, their options, and the tests that claims name.
helps = {}


def help_of(*command):
    if command not in helps:
        helps[command] = subprocess.run([etalon, *command, "--help"], capture_output=True, text=True).stdout
    return helps[command]


def commands_in(text):
    return re.findall(r"^  ([\w-]+) ", text.split("Subcommands:")[-1].split("Example")[0], re.M) if "Subcommands:" in text else []


def check_command(where, line):
    """`etalon a b --option`: each named command and each option of the innermost exists."""
    words = re.split(r"\s+", re.sub(r"'[^']*'", "X", line))
    path = []
    for word in words[1:]:
        if word in commands_in(help_of(*path)):
            path.append(word)
        else:
            break
    check(bool(path) or words[1:2] in (["--help"], ["--version"]), f"{where}: `{line}`: no such command")
    for option in re.findall(r"(?<= )(--?[a-z][\w-]*)", " ".join(words)):
        check(re.search(rf"(^|[\s,]){re.escape(option)}\b", help_of(*path), re.M), f"{where}: `{line}`: no option {option}")


tests = [t["name"] for t in json.loads(output("ctest", "--test-dir", build, "--show-only=json-v1"))["tests"]]
cache = (pathlib.Path(build) / "CMakeCache.txt").read_text()
sanitized = bool(re.search(r"^ETALON_SANITIZE:\w+=.+$", cache, re.M))
whole = bool(re.search(r"^ETALON_COMPILED:\w+=ON$", cache, re.M))
for page in (root / "README.md", root / "docs/command-line.md", root / "docs/claims.md"):
    for command in re.findall(r"`(etalon [^`]*)`", page.read_text()):
        if whole:
            for part in re.split(r"[;|]", command.replace(r"\|", "|")):
                if part.strip().startswith("etalon"):
                    check_command(names[page], part.strip())
for preset, flag, pattern in re.findall(r"`ctest --preset (\w+) -([RL]) '?([^'`]+)'?`", (root / "docs/claims.md").read_text()):
    if whole and flag == "R" and (preset == "dev" or not sanitized):  # the preset clang has tests that sanitized builds leave out
        check(any(re.search(pattern, test) for test in tests), f"docs/claims.md: no test matches {pattern}")
sys.exit(check.status(100, f"{words} words in README.md"))
