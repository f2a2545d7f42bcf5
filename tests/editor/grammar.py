"""The TextMate grammar reads every definition as the notation does: each token of a definition has one scope and is no part of a
longer one, nothing but blanks is left over, each scope occurs, and the words that spec/notation lists have the scopes of their kind.
Usage: grammar.py ROOT ETALON

A rule here is a match without begin and end, so that an editor does what `scoped` does: of the rules that match earliest, the first.
The patterns use nothing that Oniguruma and Python read differently."""
import collections
import json
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from checks import Checks  # noqa: E402

root, etalon = pathlib.Path(sys.argv[1]), sys.argv[2]
editor = root / "tools/editor"
grammar = json.loads((editor / "etalon.tmLanguage.json").read_text())
rules = [(rule["name"], re.compile(rule["match"])) for rule in grammar["patterns"]]
check = Checks()


def scoped(line):
    """The scope and place of every token, as an editor finds them in a line."""
    found, at = [], 0
    while at < len(line):
        tried = [(rule.search(line, at), n, name) for n, (name, rule) in enumerate(rules)]
        matches = [(m.start(), n, m.end(), name) for m, n, name in tried if m and m.end() > m.start()]
        if not matches:
            break
        begin, _, at, name = min(matches)
        found.append((begin, at, name))
    return found


# Clause N1 of docs/notation.md and the quoted symbols of its grammar, written here a second time.
token = re.compile(r"--.*$|[A-Za-z_][A-Za-z0-9_]*[~']?|[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?"
                   r"|\.\.\.|\.\.|->|//|<=|>=|==|!=|[-()\[\]{},:?@#&|+*/%^<>=]")
lines = subprocess.run([etalon, "spec"], check=True, capture_output=True, text=True).stdout.splitlines()
for source in sorted((root / "spec/library").glob("*.hpp")):
    lines += [line for text in re.findall(r'R"\((.*?)\)"', source.read_text(), re.S) for line in text.splitlines()]
scopes, words = collections.Counter(), collections.defaultdict(collections.Counter)
for line in lines:
    found = scoped(line)
    check([(begin, end) for begin, end, _ in found] == [m.span() for m in token.finditer(line)], f"other tokens in: {line}")
    for begin, end, name in found:
        scopes[name] += 1
        words[line[begin:end]][name] += 1
for name, _ in rules:
    check(scopes[name] > 0, f"{name}: no definition has it")


def listed(path, begin):
    """The words in quotes between `begin` and the end of its list."""
    text = (root / path).read_text()
    text = text[text.index(begin):]
    return re.findall(r'"(\w+)"', text[:text.index("}")])


control, operator, constant = "keyword.control.etalon", "keyword.operator.word.etalon", "constant.language.etalon"
for word in listed("spec/notation/words.hpp", "for (const std::string_view k : {"):
    expected = {"and": operator, "or": operator, "not": operator, "true": constant, "false": constant}.get(word, control)
    check([name for _, _, name in scoped(f"  {word} x")][:1] == [expected], f"the keyword {word} has the scope {scoped(f'  {word} x')[:1]}")
    # Two operations bear the name of a keyword; in no definition it is a tensor's.
    check(set(words[word]) <= {expected, "entity.name.function.definition.etalon"},
          f"the keyword {word} has the scopes {dict(words[word])}")
for word in listed("spec/notation/words.hpp", "constexpr std::string_view names[] = {"):
    check([name for _, _, name in scoped(f"  {word}(x)")][:1] == ["entity.name.function.call.etalon"], f"{word} is no function")
reductions = re.search(r'^reduction  = (.*) \.$', (root / "docs/notation.md").read_text(), re.M)[1]
for word in re.findall(r'"(\w+)"', reductions):
    check([name for _, _, name in scoped(f"  {word}[k] x[k]")][:1] == ["support.function.reduction.etalon"], f"{word} is no reduction")
package = json.loads((editor / "package.json").read_text())
for file in (package["contributes"]["grammars"][0]["path"], package["contributes"]["languages"][0]["configuration"]):
    check(isinstance(json.loads((editor / file).read_text()), dict), f"{file} is no JSON object")
version = re.search(r"^project\(etalon VERSION (\S+)", (root / "CMakeLists.txt").read_text(), re.M)[1]
check(package["version"] == version, f"tools/editor/package.json: version {package['version']}, expected {version}")
check(sum(scopes.values()) >= 5000, "too few tokens")
sys.exit(check.status(1000, f"{len(lines)} lines", f"{sum(scopes.values())} tokens"))
