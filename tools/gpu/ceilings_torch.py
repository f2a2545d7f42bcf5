"""What the card does at best, by PyTorch's calls: one JSON object. Medians over events on the card; products without TF32 unless said."""
import json
import statistics
import sys

import torch


def seconds_of(run, runs, samples=9):
    """Median seconds of one run, of so many in a row."""
    run()
    torch.cuda.synchronize()
    found = []
    for _ in range(samples):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(runs):
            run()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / 1e3 / runs)
    return statistics.median(found)


def product(n, dtype, tf32=False):
    torch.backends.cuda.matmul.allow_tf32 = tf32
    a, b = (torch.randn(n, n, device="cuda").to(dtype) for _ in range(2))
    out = torch.empty_like(a)
    return 2 * n**3 / seconds_of(lambda: torch.mm(a, b, out=out), 4)


def copied():
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.numel() / seconds_of(lambda: target.copy_(source), 4)


def launch(x):
    return seconds_of(lambda: x.add_(1), 1000)


def node(x, nodes=1000):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(nodes):
            x.add_(1)
    return seconds_of(graph.replay, 1) / nodes


if not torch.cuda.is_available():
    sys.exit("PyTorch finds no card")
one = torch.zeros(1, device="cuda")
print(json.dumps({"copy_bytes_per_second": copied(), "f32_flops": product(4096, torch.float32), "tf32_flops": product(8192, torch.float32, True),
                  "bf16_flops": product(8192, torch.bfloat16), "launch_seconds": launch(one), "graph_node_seconds": node(one)}))
