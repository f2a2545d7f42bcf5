"""tools/gpu/pack and tools/gpu/check on the emulated device: what they find where all is well, and that they notice where it is not.

Usage: check.py ROOT ETALON"""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import types

root, command = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(root / "tools/gpu"))
import counters
import functions
import texts
from ceilings import prediction
from limits import Deadline, run

WORKLOADS = "gemm-16,moons-vjp,train-moons"


def pack(folder):
    subprocess.run([root / "tools/gpu/pack", "--binary", command, "--in-place", "--out", folder, "--workloads", WORKLOADS + ",softmax,train-mlp,attention-1024"], check=True)
    return json.loads((folder / "expected.json").read_text())


def check(packed, out, *words):
    done = subprocess.run([root / "tools/gpu/check", "--packed", packed, "--out", out, "--device", "emulator", "--seed", "1", *words], capture_output=True, text=True)
    return done.returncode, json.loads((out / "check.json").read_text())["stages"], done


def everything_passes(packed, out):
    status, stages, done = check(packed, out, "--functions", "exp,atan2")
    assert status == 0, done.stdout + done.stderr
    assert {n for n, s in stages.items() if s["status"] == "skipped"} == {"sanitizer", "ceilings", "counters"}, done.stdout
    assert len(stages["digests"]["rows"]) == 5 and all(r["found"][0] == r["found"][1] for r in stages["digests"]["rows"])
    for row in stages["functions"]["rows"]:
        assert 0.49 < row["worst"] <= row["promised"], row  # of so many results one lies next to the middle between two numbers
    with gzip.open(out / stages["conform"]["results"], "rt") as lines:
        assert sum(json.loads(line)["verdict"] == "pass" for line in lines) == stages["conform"]["rows"][0]["verdicts"]["pass"] > 0
    for row in stages["times"]["rows"]:
        assert row["bytes"] > 0 and row["measured"][0]["median"] > 0 and 0 < row["measured"][0]["error"] <= 1, row
    page = subprocess.run([root / "tools/gpu/page", out / "check.json"], check=True, capture_output=True, text=True).stdout
    assert page == (out / "check.md").read_text() and all(f"## {n}" in page for n in stages if stages[n]["status"] == "passed")


def counters_are_read_from_a_log():
    log = """==PROF== Connected to process 7
"ID","Kernel Name","Block Size","Grid Size","dram__bytes.sum","gpu__time_duration.sum","launch__registers_per_thread"
"","","","","byte","ns","register/thread"
"0","kernel_0_y(const float *, float *)","(256, 1, 1)","(64, 1, 1)","1,048,576","2,048.5","32"
"1","kernel_1_z","(32, 1, 1)","(1, 1, 1)","12","n/a","16"
==PROF== Disconnected
"""
    first, second = counters.kernels_of(log)
    assert first["kernel"] == "kernel_0_y" and first["bytes"] == 1048576 and first["nanoseconds"] == 2048.5 and first["memory_percent"] is None
    assert second["kernel"] == "kernel_1_z" and second["registers"] == 16 and second["nanoseconds"] is None
    assert counters.kernels_of("==ERROR== no card\n") == []


def a_prediction_is_the_slower_of_two():
    ceilings = {"f32_flops": 1e12, "copy_bytes_per_second": 1e9}
    assert prediction(ceilings, 2e12, 1e9) == 2 and prediction(ceilings, 1e12, 3e9) == 3 and prediction(None, 1, 1) is None


def other_bits_are_found(packed, out, expected):
    """In one exact workload: it alone fails, and the stage behind is asked nevertheless."""
    name = WORKLOADS.split(",")[1]
    expected["workloads"][name]["sha256"] = "0" * 64
    (packed / "expected.json").write_text(json.dumps(expected))
    status, stages, _ = check(packed, out, "--only", "digests,facts", "--workloads", WORKLOADS)
    assert status == 1 and stages["digests"]["status"] == "failed" and stages["facts"]["status"] == "passed"
    assert [r["workload"] for r in stages["digests"]["rows"] if r["status"] != "passed"] == [name]


def no_time_is_no_pass(packed, out):
    status, stages, _ = check(packed, out, "--seconds", "0")
    assert status == 1 and all(s["status"] == "out of time" for s in stages.values()), stages


def a_command_out_of_time_ends_with_its_children():
    done = run(["sh", "-c", "sleep 100 & sleep 100"], 0.2)
    assert done.status is None and done.seconds < 20


def a_wrong_function_is_found(packed):
    """As if the f32 text called a function whose results are wrong in their fourth digit, or left some out."""
    good = functions.emitted
    asked = types.SimpleNamespace(etalon=packed / "etalon", backend="cuda-emulated")

    def row_with(result):
        def changed(check, deadline, folder, name, dtype, elements):
            text, operands = good(check, deadline, folder, name, dtype, elements)
            assert "y[i] = " in text, text
            return (text.replace("y[i] = ", result) if dtype == "f32" else text), operands

        functions.emitted = changed
        with tempfile.TemporaryDirectory() as folder:
            row = functions.measured(asked, Deadline(60), pathlib.Path(folder), "exp", 2.5)
        functions.emitted = good
        return row

    row = row_with("y[i] = 1.0001f * ")
    assert row["status"] == "failed" and 800 < row["worst"] < 2000, row  # 1e-4 of a number is 839 to 1678 of its units
    row = row_with("if (i % 7) y[i] = ")
    assert row["status"] == "failed" and row["nan_mismatches"] > row["operands"] // 8, row
    assert row_with("y[i] = ")["status"] == "passed"


def calls_are_read_from_text():
    text = """// expf(x) in a comment
#define F(x) tanhf(x)
static __device__ inline float et_own(float x) { return x; }
extern "C" __global__ void kernel_0(const float *x, float *y) {
  if (x[0] > 0) y[0] = et_own(fmaf(sqrtf(x[0]), floorf(x[1]), (float)(2)));
  y[1] = pow(x[0], logf(x[1]));
}
"""
    assert texts.library_calls(text) == ["logf", "pow"], texts.library_calls(text)
    assert texts.library_calls(text.replace("pow", "fmod").replace("logf", "rintf")) == []
    assert texts.launch_of("//   k<<<3, 256, 0, stream>>>(x, y);  turns: 5\n") == ("k", 3, 256, 0, ["x", "y"])


def the_kept_page_is_of_the_kept_runs():
    page = subprocess.run([root / "tools/gpu/page", root / "docs/gpu/h100.json"], check=True, capture_output=True, text=True).stdout
    assert page == (root / "docs/gpu.md").read_text(), "docs/gpu.md: expected what `tools/gpu/page docs/gpu/h100.json` writes"


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    the_kept_page_is_of_the_kept_runs()
    calls_are_read_from_text()
    a_prediction_is_the_slower_of_two()
    counters_are_read_from_a_log()
    a_command_out_of_time_ends_with_its_children()
    expected = pack(folder / "packed")
    large = expected["workloads"].pop("attention-1024")
    assert not large["emulated"] and not large["library_calls"] and len(large["sha256"]) == 64, large
    assert [bool(w["library_calls"]) for w in expected["workloads"].values()] == [name == "train-mlp" for name in expected["workloads"]]
    everything_passes(folder / "packed", folder / "all")
    a_wrong_function_is_found(folder / "packed")
    no_time_is_no_pass(folder / "packed", folder / "none")
    other_bits_are_found(folder / "packed", folder / "other", expected)
