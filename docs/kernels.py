"""Writes docs/gpu/kernels.md: what the CUDA backend makes of some programs, and what its kernels take of a GPU by their machine code.
With --check it only compares the text; registers and shared memory are NVRTC's, and are read where it is there.

Usage: kernels.py ROOT ETALON [--check]
"""
import pathlib
import subprocess
import sys
import tempfile

root, command, check = pathlib.Path(sys.argv[1]), sys.argv[2], "--check" in sys.argv
page = root / "docs/gpu/kernels.md"
ARCHITECTURE = "sm_90"
PROGRAMS = {
    "Rows: a softmax": "input x : f32[16384, 4096]\ny = softmax(x)\noutput y\n",
    "Rows and columns: a layer normalisation with its cotangents":
        "input x : f32[4096, 1024]\ninput gamma : f32[1024]\ninput beta : f32[1024]\ninput s : f32[4096, 1024]\n"
        "y = layer_norm(x, gamma, beta)\ngx, gg, gb = vjp(y; x, gamma, beta; s)\noutput y, gx, gg, gb\n",
    "A long sum: the mean of four million numbers": "input x : f32[4194304]\ny = mean(x)\noutput y\n",
    "Products: a matrix product": "input a : f32[2048, 2048]\ninput b : f32[2048, 2048]\ny = matmul(a, b)\noutput y\n",
    "Products whose results nobody stores: attention":
        "input q : f32[4, 16, 1024, 64]\ninput k : f32[4, 16, 1024, 64]\ninput v : f32[4, 16, 1024, 64]\n"
        "y = scaled_dot_product_attention(q, k, v)\noutput y\n",
}


def emitted(program, *words):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.txt"
        path.write_text(program)
        return subprocess.run([command, "compile", path, "--emit", *words], check=True, capture_output=True, text=True).stdout


def kernels(program):
    """Without the functions that all texts share."""
    text = emitted(program, "cuda")
    return text[text.index('extern "C" __global__'):]


def block(language, text):
    return f"```{language}\n{text.rstrip()}\n```\n"


def shown(program):
    return f"<details><summary>Its kernels</summary>\n\n{block('cuda', kernels(program))}\n</details>\n"


if check:
    text = page.read_text()
    wrong = [title for title, program in PROGRAMS.items() if block("", program) + "\n" not in text or shown(program) not in text]
    if wrong:
        sys.exit(f"docs/gpu/kernels.md: {', '.join(wrong)}: docs/kernels.py makes another text")
    print(f"{len(PROGRAMS)} programs have the kernels of the page")
else:
    text = f"""# What kernels look like

Written by `docs/kernels.py ROOT ETALON`. For each program: its kernels on an H100 as `etalon compile FILE --emit resources --arch {ARCHITECTURE}`
reads them off their machine code, and their text (`--emit cuda`) without the functions before it. *Resident* is the share of a
multiprocessor's threads that fit at a time, *launched* those of the grid over all that the chip holds; the time is that of bytes or operations at full
speed, whichever is more: no card was asked ([On a GPU](../gpu.md) says what one said).
"""
    for title, program in PROGRAMS.items():
        text += f"\n## {title}\n\n{block('', program)}\n{block('', emitted(program, 'resources', '--arch', ARCHITECTURE))}\n{shown(program)}"
    page.write_text(text)
