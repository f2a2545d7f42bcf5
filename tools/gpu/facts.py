"""Stage `facts`: which card, driver, tools and packages there are."""
import re
import sys

from record import FAILED, PASSED, result

PACKAGES = ["torch", "triton", "jax", "jaxlib", "cupy-cuda13x", "numpy"]
VERSIONS = "import importlib.metadata as m\nfor p in %r:\n  try: print(p, m.version(p))\n  except m.PackageNotFoundError: pass" % (PACKAGES,)
QUERY = ["name", "driver_version", "memory.total", "clocks.max.sm", "clocks.max.memory", "clocks.sm", "power.limit", "temperature.gpu", "mig.mode.current"]


def card(deadline):
    done = deadline.run(["nvidia-smi", f"--query-gpu={','.join(QUERY)}", "--format=csv,noheader"], 20)
    return dict(zip(QUERY, [v.strip() for v in done.out.splitlines()[0].split(",")])) if done.ok and done.out else None


def version(deadline, words):
    done = deadline.run(words, 20)
    found = re.findall(r"(?:release |version |\b)(\d+\.\d+(?:\.\d+)?)", done.out)
    return found[0] if done.ok and found else None


def stage(check, deadline):
    devices = deadline.run([check.etalon, "devices"], 60)
    lines = [line for line in devices.out.splitlines() if line.split(" ")[0] == check.backend]
    there = devices.ok and bool(lines) and not any("none:" in line for line in lines)
    facts = {"card": card(deadline), "devices": devices.out.splitlines(),
             "tools": {tool: version(deadline, [tool, "--version"]) for tool in ("nvcc", "compute-sanitizer", "ncu", "g++", "python3")},
             "packages": dict(line.split() for line in deadline.run([sys.executable, "-c", VERSIONS], 60).out.splitlines())}
    if not there:
        return result(FAILED, f"no device {check.backend}: {lines[0] if lines else devices.why}", **facts)
    return result(PASSED, re.sub(r"\s+", " ", lines[0]), **facts)
