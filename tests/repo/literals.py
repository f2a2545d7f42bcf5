"""No allowance by hand in the reference: every literal that is a fraction or has an exponent, and so might be a slack, is
listed here with the file that may have it. What rounds, rounds outwards in reference/bounds/interval.hpp."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
everywhere = {"0.5", "1.0", "2.0", "0.0"}
allowed = {
    "reference/bounds/interval.hpp": {"0x1p-968"},  # where rounding errors are no doubles
    "reference/bounds/pieces.cpp": {"0x1p-20"},     # where cutting ends, which only costs width
    "reference/bounds/products.cpp": {"0.25"},      # where more is lost everything is admitted
    "reference/bounds/summation.cpp": {"0.4"},      # the statistical tier claims nothing
    "reference/bounds/tape.cpp": {"0x1p-64"},       # of an error that is certain; what is left out is added
    "reference/exact/bin_float_end.hpp": {"0x1p30", "0.78539816339744831", "0x1p63", "1.5"},  # thresholds and first guesses
    "reference/exact/mark.cpp": {"0x1p63"},         # the highest degree at which an equality is believed
    "reference/scalar_math.hpp": {"0x1p63", "3.14159265358979323846"},
    "reference/bounds/wide.cpp": {"3.14159265358979323846"},  # of the C library's side, which the bounds do not use
}
number = re.compile(r"(?<![\w.\"'])(0[xX][0-9a-fA-F.]+[pP][+-]?\d+|\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)")
text_or_comment = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"', re.S)
calls = re.compile(r"\bnextafter\b|\bepsilon\(\)|\bfesetround\b")
may_call = {"reference/bounds/interval.hpp", "reference/bounds/wide.hpp"}  # the one place, and the unit of a type


def faults_in(name, source):
    code = text_or_comment.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), source)
    for line, text in enumerate(code.splitlines(), 1):
        for found in number.findall(text):
            if found not in everywhere | allowed.get(name, set()):
                yield f"{name}:{line}: {found} is listed nowhere in tests/repo/literals.py"
        if calls.search(text) and name not in may_call:
            yield f"{name}:{line}: only reference/bounds/interval.hpp rounds to a side"


# What was once there is found again.
for mutant in ("x += 0x1p-44 * m;", "return bound * (1 + 0x1p-30);", "2.125 * u", "1e-12", "nextafter(x, y)"):
    if not list(faults_in("reference/bounds/sums.cpp", mutant)):
        sys.exit(f"the rule misses {mutant}")
files = [f for f in sorted((root / "reference").rglob("*")) if f.suffix in {".hpp", ".cpp"}]
faults = [fault for f in files for fault in faults_in(str(f.relative_to(root)), f.read_text())]
print("\n".join(faults))
print(f"{len(files)} files, {len(faults)} faults")
sys.exit(1 if faults or len(files) < 50 else 0)
