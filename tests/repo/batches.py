"""Sources that use one name each for something of its own mean the same in a batch as alone, and share one where a macro can rename.

Usage: batches.py ROOT COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile

root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
# Each defines a function of its own name, whose value is what all of them are asked for.
sources = {
    "one": "namespace {\nint marked() { return 1; }\n}  // namespace\nint one() { return marked(); }\n",
    "two": "namespace {\nint marked() { return 2; }\n}  // namespace\nint two() { return marked(); }\n",
    "three": "#define THREE 3\nint three() { return THREE; }\n",
    "four": "int four() {\n  const int THREE = 4;\n  return THREE;\n}\n",
    "five": "#include <array>\nnamespace {\nstd::array<int, 5> kept{};\nusing Number = int;\n}  // namespace\n"
            "int five() { return Number(kept.size()); }\n",
    # A member has the name, and so has a function of the next one: none of the two may be renamed in this source.
    "six": "#include <string>\nnamespace {\nlong size(long n) { return n; }\n}  // namespace\n"
           "int six() { return int(size(long(std::string(6, ' ').size()))); }\n",
    "seven": "namespace {\nlong size(long n) { return n + 1; }\nusing Number = long;\n}  // namespace\n"
             "int seven() { return int(size(Number(6))); }\n",
}


def run(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch) / "code"
    folder.mkdir()
    for name, text in sources.items():
        (folder / f"{name}.cpp").write_text(text)
    main = folder / "main.cpp"
    main.write_text("#include <cstdio>\n" + "".join(f"int {n}();\n" for n in sources) +
                    "int main() {\n" + "".join(f'  std::printf("%d\\n", {n}());\n' for n in sources) + "}\n")
    batches = run(sys.executable, root / "tools/cmake/batches.py", scratch, folder / "batches",
                  *(folder / f"{n}.cpp" for n in sources)).split(";")
    run(compiler, "-std=c++20", "-I", scratch, main, *batches, "-o", folder / "program")
    found = run(folder / "program").split()

wanted = [str(k + 1) for k in range(len(sources))]
if found != wanted or len(batches) != 2:
    sys.exit(f"{len(batches)} batches for 2; {found} for {wanted}")
print(f"{len(sources)} sources, {len(batches)} batches, every value as without")
