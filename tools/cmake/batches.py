#!/usr/bin/env python3
"""Joins the sources of a library into few, so that what headers bring is compiled once for many of them.

    batches.py ROOT FOLDER SOURCE...

Writes sources into FOLDER, each of which includes some of those given, and prints their paths, separated by semicolons. A file
is written only where it changes. A name that a source keeps to itself (in a nameless namespace) and that stands in another of the
batch is renamed there by a macro. Where that cannot be, since a member or a header has the same name, and where a name would mean
another thing beside the other's headers, the two share no batch: whoever writes a source need not know that batches exist.
Each batch begins with the headers of all its sources, so that such names come after every header.
"""
import re
import sys
from pathlib import Path

MOST = 100_000  # characters in a batch: beyond, headers are a small part of what it takes to compile
LIBRARY = re.compile(r"^#include <(\w+)/", re.M)
QUOTED = re.compile(r'^#include "(.*?)"', re.M)
FUNCTION = re.compile(r"(?:\[\[nodiscard\]\] )?(?:inline |constexpr |static )*[\w:<>,&* ]+[ &*](\w+)\(")
DECLARED = re.compile(r"(?:template <.*> ?)?(?:struct|class|enum class|enum|using) (\w+) *[{:;=]|(?:inline |static )*constexpr [^=({;]*?\b(\w+) *[={]")
OVERLOADED = "a function: those of one name overload"
NAMELESS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.S | re.M)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
LITERAL = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'', re.S)
NO_CODE = re.compile(f"{LITERAL.pattern}|{COMMENT.pattern}", re.S)  # whichever begins first: `//` may stand in a literal
INCLUDE = re.compile(r"^#include .*$", re.M)
USING = re.compile(r"^using (?!namespace)([^;]*);", re.M)
TEMPLATE = re.compile(r"\btemplate <[^\n]*>(?=[ \n])")
MEMBER = re.compile(r"(?:\.|->|::)\s*(\w+)")
INSIDE = re.compile(r"^(?:using )?namespace ([\w:]+)", re.M)
OPENED = re.compile(r"^using namespace ([\w:]+)", re.M)
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
    """The text without comments, literals and included headers."""
    return INCLUDE.sub("", NO_CODE.sub(lambda found: "" if found[0].startswith("/") else '""', text))


def aliases(text):
    """What `using` names outside of functions, and what each name means: another's name, or after a sign `=` a type."""
    meant = {}
    for what in USING.findall(text):
        name, sign, value = what.partition(" = ")
        meant[name.split("::")[-1]] = sign.lstrip() + value if sign else what
    return meant


def within(inner, outer):
    """Whether what stands in the outer namespace is found from the inner one."""
    return (inner + "::").startswith(outer + "::")


def own_names(text):
    """Names that a source keeps to itself: of functions, and of types and values."""
    functions, others = set(), set()
    for body in NAMELESS.findall(text):
        flat = NAMESPACE.sub("", OPENED.sub("", USING.sub("", TEMPLATE.sub("", outermost(plain(body))))))
        functions.update(name for name in re.findall(r"\b([A-Za-z_]\w*)\s*\(", flat) if not name.isupper())  # macros
        others.update(re.findall(r"\b([A-Za-z_]\w*)\s*(?:\[\w*\]\s*)?[={;]", flat))
        others.update(re.findall(r"\b(?:struct|class|enum|union)\s+(\w+)", flat))
        for values in re.findall(r"\benum\s+\w*\s*(?::[^{]*)?\{([^}]*)\}", plain(body)):
            others.update(re.findall(r"(?:^|,)\s*(\w+)", values))
    return functions - KEYWORDS, others - KEYWORDS


class Headers:
    """What the headers of the project declare, read once."""

    def __init__(self, root):
        self.root, self.read, self.libraries = root, {}, {}

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
            self.libraries[path] = set()
            self.add(found, self.libraries[path], text, (self.root / path).parent)
            self.read[path] = found
        return self.read[path]

    def add(self, to, libraries, text, where):
        """What a text includes: adds to what is declared and to the libraries whose headers it reads."""
        libraries.update(LIBRARY.findall(text))
        for name in QUOTED.findall(text):
            header = self.path_of(name, where)
            for word, places in self.declared(header).items() if header else ():
                to.setdefault(word, set()).update(places)
            libraries.update(self.libraries.get(header, ()))


class Source:
    def __init__(self, path, headers):
        self.path = path
        text = Path(path).read_text()
        self.size = len(text)
        where = Path(path).parent
        self.headers = re.findall(r"^#include <.*?>", text, re.M)
        self.headers += [f'#include "{headers.path_of(name, where) or name}"' for name in QUOTED.findall(text)]
        self.declared, self.libraries = {}, set()
        headers.add(self.declared, self.libraries, text, where)
        self.aliases = aliases(text)
        self.functions, self.others = own_names(text)
        self.own = self.functions | self.others | {name for name, what in self.aliases.items() if what.startswith("= ")}
        text = plain(text)
        self.macros = sorted(set(re.findall(r"^#define (\w+)", text, re.M)))
        # Members and what is named with its namespace mean the same beside any other source.
        self.words = set(re.findall(r"(?<![\w.>:])(\w+)", text)) | self.own
        self.calls = set(re.findall(r"(?<![\w.>:])(\w+)\(", text)) | self.own
        self.opened = set(OPENED.findall(text))
        self.inside = INSIDE.findall(text)
        # What a member or a header has the name of, too, cannot be renamed.
        self.fixed = self.own & (self.declared.keys() | set(MEMBER.findall(text)))

    def renamed_beside(self, others):
        """The names of its own that stand in others too, where all that has such a name here is this source's."""
        return sorted((self.own - self.fixed) & set().union(*(other.words for other in others)))

    def sees_another(self, other):
        """Whether a name that this source uses would have more meanings beside the other's headers: a function of that name is
        one more overload, unless the name is a type's or a value's here."""
        mine = self.declared.keys() | self.own
        return any(self.may_mean(name, place)
                   for name in self.words & mine & other.declared.keys()
                   for place in other.declared[name] - self.declared.get(name, set()))

    def may_mean(self, name, place):
        """Whether the name, which another's header declares in that place, is found from here and not hidden by what is meant."""
        if place == OVERLOADED:
            return name in self.others
        hidden = any(within(known, place) for known in self.declared.get(name, ()) if known != OVERLOADED)
        return not hidden and any(within(here, place) for here in self.inside)

    def changes(self, other, name, what):
        """Whether a name that `using` gives a meaning to here has another one in the other source."""
        if name not in other.words or other.aliases.get(name) == what or name in self.own - self.fixed:
            return False
        return name in other.fixed or any(
            place != OVERLOADED and not f"{place}::{name}".endswith(f"::{what}") for place in other.declared.get(name, ()))

    def opens_to(self, other):
        """Whether a whole namespace that this source opens is not open in the other, which may then find two meanings of a name."""
        return any(not all(within(here, place) for here in other.inside) for place in self.opened - other.opened)

    def disturbs(self, other):
        return (self.opens_to(other) or any(self.changes(other, *alias) for alias in self.aliases.items())
                or self.sees_another(other)
                or self.fixed & self.functions & other.calls or self.fixed & self.others & other.words)

    def joins(self, other):
        return not self.disturbs(other) and not other.disturbs(self)


def batches_of(sources):
    """Those with most conflicts choose first, then those with most libraries; each goes, among those it may join and that are not
    full, to one that reads these libraries already, and there to the one with the least text."""
    conflicts = {s.path: sum(not s.joins(o) for o in sources) for s in sources}
    total = sum(s.size for s in sources)
    batches = [[] for _ in range(total // MOST + 1)]
    share = total / len(batches)
    for source in sorted(sources, key=lambda s: (-conflicts[s.path], -len(s.libraries), -s.size, s.path)):
        free = [b for b in batches if all(source.joins(o) for o in b)]
        if not free:
            batches.append([])
            free = batches[-1:]

        def cost(batch):
            text = sum(s.size for s in batch)
            return text > share, len(source.libraries.difference(*(s.libraries for s in batch))), text

        min(free, key=cost).append(source)
    return [sorted(b, key=lambda s: s.path) for b in batches if b]


def included(source, path, batch):
    """The lines that include a source, by its path from the root: the same text, and so the same cached object, in every checkout."""
    renamed = source.renamed_beside([other for other in batch if other is not source])
    suffix = re.sub(r"\W", "_", str(path.with_suffix("")))
    yield from (f"#define {name} {name}_of_{suffix}" for name in renamed)
    yield f'#include "{path}"'
    yield from (f"#undef {name}" for name in renamed + source.macros)


def main():
    root, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    headers = Headers(root)
    batches = batches_of([Source(p, headers) for p in sys.argv[3:]])
    paths = []
    for k, batch in enumerate(batches):
        headers = sorted({h for s in batch for h in s.headers})
        text = "\n".join(headers + [line for s in batch for line in included(s, Path(s.path).relative_to(root), batch)]) + "\n"
        path = folder / f"{batch[0].path.split('/')[-2]}_{k}.cpp"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        paths.append(str(path))
    print(";".join(paths), end="")


main()
