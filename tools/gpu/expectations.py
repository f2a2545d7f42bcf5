"""What a GPU is held to: bits of the bench's workloads on the emulated device, or on the processor, and which functions their texts call."""
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


def witness(row):
    """The device whose bits are expected."""
    return "cuda-emulated" if row["emulated"] else "cpu"


def expected_of(etalon, name, program, emulated, seconds):
    """One workload's row of expected.json. Bits are those of the emulated device, or of the processor where that takes too long; none are expected where
    functions of a library are called. Raises RuntimeError where a device does not get that far."""
    text = run([etalon, "compile", program, "--emit", "cuda"], seconds)
    if not text.ok:
        raise RuntimeError(f"{name}: {text.why}")
    calls = library_calls(text.out)
    row = {"sha256": None, "library_calls": calls, "emulated": emulated}
    if calls:
        return row
    found, done = bits(etalon, [witness(row)], name, seconds)
    if found is None:
        raise RuntimeError(f"{name}: {done.why}")
    return {**row, "sha256": found["sha256"][0]}
