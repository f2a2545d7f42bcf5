"""An installed Etalon serves each layer alone, to a consumer of about ten lines; the compiled layer to the README's program."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

root, build, compiler = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
flags = sys.argv[4] if len(sys.argv) > 4 else ""
here = root / "tests/repo/consumer"
sources = {s.stem: s for s in sorted(here.glob("*.cpp"))} | {"compiled": root / "docs/examples/first_step.cpp"}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(" ".join(map(str, command)), done.stdout[-3000:], done.stderr[-3000:], sep="\n")
        sys.exit(1)
    return done.stdout


with tempfile.TemporaryDirectory() as scratch:
    prefix = pathlib.Path(scratch) / "prefix"
    run("cmake", "--install", build, "--prefix", prefix)
    for component, source in sorted(sources.items()):
        if not (prefix / f"lib/cmake/etalon/etalon-{component}-targets.cmake").is_file():
            print(f"{component}: not in this build, skipped")
            continue
        out = pathlib.Path(scratch) / component
        run("cmake", "-S", here, "-B", out, f"-DWANTED={component}", f"-DSOURCE={source.resolve()}", f"-DCMAKE_PREFIX_PATH={prefix}", "-G", "Ninja",
            f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_FLAGS={flags}")
        run("cmake", "--build", out)
        print(f"{component}: {run(out / 'consumer').strip()}")
    shutil.rmtree(prefix)
sys.exit(0 if len(sources) >= 4 else 1)
