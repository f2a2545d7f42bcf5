"""Stage `ceilings`: what the card does at best, measured by PyTorch; predictions of the other stages come from it."""
import json
import pathlib
import sys

from record import FAILED, PASSED, SKIPPED, result


def stage(check, deadline):
    if check.backend != "cuda":
        return result(SKIPPED, "only for a card")
    done = deadline.run([sys.executable, pathlib.Path(__file__).parent / "ceilings_torch.py"])
    if not done.ok:
        return result(FAILED, done.why)
    found = json.loads(done.out.splitlines()[-1])
    return result(PASSED, f"copy {found['copy_bytes_per_second'] / 1e9:.0f} GB/s; products f32 {found['f32_flops'] / 1e12:.1f}, tf32 {found['tf32_flops'] / 1e12:.0f}, "
                  f"bf16 {found['bf16_flops'] / 1e12:.0f} TFLOP/s; launch {found['launch_seconds'] * 1e6:.2f} µs, node of a graph "
                  f"{found['graph_node_seconds'] * 1e6:.2f} µs", ceilings=found)


def prediction(ceilings, flops, byte_count):
    """Seconds that arithmetic without tensor cores or memory takes at least, whichever is more; None without ceilings."""
    return max(flops / ceilings["f32_flops"], byte_count / ceilings["copy_bytes_per_second"]) if ceilings else None
