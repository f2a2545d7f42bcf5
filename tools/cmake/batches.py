#!/usr/bin/env python3
"""Joins the sources of a library into few, so that what headers bring is compiled once for many of them.

    batches.py ROOT FOLDER COUNT SOURCE...

Writes sources into FOLDER, each of which includes some of those given, and prints their paths, separated by semicolons. A file
is written only where it changes. Two sources share a batch only where no name that one of them keeps to itself (in a nameless
namespace) stands in the other: whoever writes a source need not know that batches exist.
Each batch begins with the headers of all its sources, so that such names come after every header.
"""
import re
import sys
from pathlib import Path

QUOTED = re.compile(r'^#include "(.*?)"', re.M)
FUNCTION = re.compile(r"(?:\[\[nodiscard\]\] )?(?:inline |constexpr |static )*[\w:<>,&* ]+[ &*](\w+)\(")
DECLARED = re.compile(r"(?:template <.*> ?)?(?:struct|class|enum class|enum|using) (\w+) *[{:;=]|(?:inline |static )*constexpr [^=({;]*?\b(\w+) *[={]")
OVERLOADED = "a function: those of one name overload"
NAMELESS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.S | re.M)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
LITERAL = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'', re.S)
USING = re.compile(r"^using (?!namespace)([^;]*);", re.M)
NAMESPACE = re.compile(r"^namespace \w+ = [^;]*;", re.M)
KEYWORDS = set("""alignas auto bool break case char class const constexpr continue default delete do double else enum explicit
    false float for friend if inline int long namespace noexcept nullptr operator private public requires return short signed
    sizeof static static_assert std string struct switch template this throw true try typedef typename union unsigned using
    virtual void while etalon spec fmt size_t int64_t uint64_t string_view vector optional span""".split())


def outermost(body):
    """The text of a namespace without what stands inside braces and parentheses."""
    kept, depth = [], 0
    for c in body:
        if c in "})":
            depth -= 1
        if depth == 0:
            kept.append(c)
        if c in "{(":
            depth += 1
    return "".join(kept)


def plain(text):
    """The text without comments and literals."""
    return LITERAL.sub('""', COMMENT.sub("", text))


def aliases(text):
    """What `using` names outside of functions, and what each name means."""
    meant = {}
    for what in USING.findall(text):
        name, _, value = what.partition(" = ")
        meant[name.split("::")[-1]] = value or what
    return meant


def own_names(text):
    """Names that a source keeps to itself: of functions, and of types and values."""
    functions, others = set(), set()
    for body in NAMELESS.findall(text):
        flat = NAMESPACE.sub("", USING.sub("", outermost(plain(body))))
        functions.update(re.findall(r"\b([A-Za-z_]\w*)\s*\(", flat))
        others.update(re.findall(r"\b([A-Za-z_]\w*)\s*(?:\[\w*\]\s*)?[={;]", flat))
        others.update(re.findall(r"\b(?:struct|class|enum|union)\s+(\w+)", flat))
        for values in re.findall(r"\benum\s+\w*\s*(?::[^{]*)?\{([^}]*)\}", plain(body)):
            others.update(re.findall(r"(?:^|,)\s*(\w+)", values))
    return functions - KEYWORDS, others - KEYWORDS


class Headers:
    """What the headers of the project declare, read once."""

    def __init__(self, root):
        self.root, self.read = root, {}

    def path_of(self, name, where):
        """From the root, or nothing for one that is not the project's."""
        for path in (where / name, self.root / name):
            if path.exists():
                return str(path.resolve().relative_to(self.root))
        return None

    def declared(self, path):
        """What each name of a type or value means in this header and those it includes: in which namespaces it stands."""
        if path not in self.read:
            self.read[path] = {}
            text = (self.root / path).read_text()
            found, inside = {}, []
            for line in text.splitlines():
                if line.startswith("namespace "):
                    inside.append(line.split()[1])
                elif line.startswith("}  // namespace"):
                    inside.pop()
                elif (name := DECLARED.match(line)) and (name[1] or name[2]) not in KEYWORDS:
                    found.setdefault(name[1] or name[2], set()).add("::".join(inside))
                elif name := FUNCTION.match(line):
                    found.setdefault(name[1], set()).add(OVERLOADED)
            self.add(found, text, (self.root / path).parent)
            self.read[path] = found
        return self.read[path]

    def add(self, to, text, where):
        for name in QUOTED.findall(text):
            header = self.path_of(name, where)
            for word, places in self.declared(header).items() if header else ():
                to.setdefault(word, set()).update(places)


class Source:
    def __init__(self, path, headers):
        self.path = path
        text = Path(path).read_text()
        self.size = len(text)
        where = Path(path).parent
        self.headers = re.findall(r"^#include <.*?>", text, re.M)
        self.headers += [f'#include "{headers.path_of(name, where) or name}"' for name in QUOTED.findall(text)]
        self.declared = {}
        headers.add(self.declared, text, where)
        self.macros = set(re.findall(r"^#define (\w+)", text, re.M))
        self.aliases = aliases(text)
        self.functions, self.others = own_names(text)
        text = plain(text)
        # Members and what is named with its namespace mean the same beside any other source.
        self.words = set(re.findall(r"(?<![\w.>:])(\w+)", text)) | self.functions | self.others
        self.calls = set(re.findall(r"(?<![\w.>:])(\w+)\(", text)) | self.functions | self.others

    def sees_another(self, other):
        """Whether a name that this source uses would have more meanings beside the other's headers: a function of that name is
        one more overload, unless the name is a type's or a value's here."""
        mine = self.declared.keys() | self.functions | self.others
        return any(other.declared[name] - self.declared.get(name, set()) - ({OVERLOADED} - self.kept(name))
                   for name in self.words & mine & other.declared.keys())

    def kept(self, name):
        return {OVERLOADED} if name in self.others else set()

    def disturbs(self, other):
        means = any(other.aliases.get(name, "") != what for name, what in self.aliases.items() if name in other.words)
        return means or self.sees_another(other) or self.macros or self.functions & other.calls or self.others & other.words

    def joins(self, other):
        return not self.disturbs(other) and not other.disturbs(self)


def batches_of(sources, count):
    """Those with most conflicts choose first; each goes where the least text is, among those it may join."""
    conflicts = {s.path: sum(not s.joins(o) for o in sources) for s in sources}
    batches = [[] for _ in range(count)]
    for source in sorted(sources, key=lambda s: (-conflicts[s.path], -s.size, s.path)):
        free = [b for b in batches if all(source.joins(o) for o in b)]
        if not free:
            batches.append([])
            free = batches[-1:]
        min(free, key=lambda b: sum(s.size for s in b)).append(source)
    return [sorted(b, key=lambda s: s.path) for b in batches if b]


def main():
    root, folder, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    headers = Headers(root)
    batches = batches_of([Source(p, headers) for p in sys.argv[4:]], count)
    paths = []
    for k, batch in enumerate(batches):
        headers = sorted({h for s in batch for h in s.headers})
        # Paths from the root: the same text, and so the same cached object, in every checkout.
        text = "\n".join(headers + [f'#include "{Path(s.path).relative_to(root)}"' for s in batch]) + "\n"
        path = folder / f"{batch[0].path.split('/')[-2]}_{k}.cpp"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        paths.append(str(path))
    print(";".join(paths), end="")


main()
