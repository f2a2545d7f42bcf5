"""Which shared libraries a command needs, and which of them travel with it."""
import pathlib
import re

from limits import run

# Every machine has these, and of its own version: the C library, and what the system's package manager itself is linked with.
LEFT = re.compile(r"^(ld-linux.*|libc|libm|libpthread|libdl|librt|libstdc\+\+|libgcc_s)\.so")
NVRTC = re.compile(r"^libnvrtc\.so\.\d+$")


def needed_by(binary):
    """Name → path, of all that the loader finds. Raises RuntimeError where one is missing here."""
    done = run(["ldd", binary], 60)
    if not done.ok:
        raise RuntimeError(f"ldd {binary}: {done.why}")
    missing = re.findall(r"^\s*(\S+) => not found", done.out, flags=re.M)
    if missing:
        raise RuntimeError(f"{binary}: {', '.join(missing)} not found")
    return {name: pathlib.Path(path) for name, path in re.findall(r"^\s*(\S+) => (/\S+)", done.out, flags=re.M)}


def travelling(libraries):
    return {name: path for name, path in libraries.items() if not LEFT.match(name) and not NVRTC.match(name)}


def nvrtc_of(libraries):
    """The name by which the command asks for NVRTC. Raises RuntimeError where it does not."""
    found = [name for name in libraries if NVRTC.match(name)]
    if not found:
        raise RuntimeError("the command is built without NVRTC; configure with -DETALON_CUDA=ON where the CUDA toolkit is")
    return found[0]
