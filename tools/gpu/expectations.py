"""What a GPU is held to: bits of the bench's workloads on the emulated device, and which functions their texts call."""
import json
import pathlib
import tempfile

from limits import run
from texts import library_calls

SEED = 1


def workloads_of(etalon):
    """(group, name) of all that a device may be asked, in order."""
    lines = run([etalon, "bench", "--device", "cuda-emulated", "--list"], 60).out.splitlines()
    return [tuple(line.split()[:2]) for line in lines if line.strip()]


def program_files(etalon, folder, names):
    """Writes the workloads' programs. Raises RuntimeError with the command's line where that fails."""
    done = run([etalon, "bench", "--device", "cuda-emulated", "--programs", folder, "--only", ",".join(names)], 60)
    if not done.ok:
        raise RuntimeError(f"bench --programs: {done.why}")
    return {name: pathlib.Path(folder) / f"{name}.txt" for name in names}


def bits(etalon, devices, name, seconds):
    """(the record of `etalon bench bits` of one workload, or None; how the command ended)."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "bits.json"
        done = run([etalon, "bench", "bits", "--devices", ",".join(devices), "--only", name, "--seed", SEED, "--json", path], seconds)
        return (json.loads(path.read_text())["workloads"][0] if path.exists() and path.stat().st_size else None), done


def expected_of(etalon, name, program, emulated, seconds):
    """One workload's row of expected.json; no bits are expected where functions of a library are called, or where it is too much for the emulated
    device. Raises RuntimeError where that does not get as far as it should."""
    text = run([etalon, "compile", program, "--emit", "cuda"], seconds)
    if not text.ok:
        raise RuntimeError(f"{name}: {text.why}")
    calls = library_calls(text.out)
    if calls or not emulated:
        return {"sha256": None, "library_calls": calls, "emulated": emulated}
    found, done = bits(etalon, ["cuda-emulated"], name, seconds)
    if found is None:
        raise RuntimeError(f"{name}: {done.why}")
    return {"sha256": found["sha256"][0], "library_calls": [], "emulated": True}
