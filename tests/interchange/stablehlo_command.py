"""`etalon import stablehlo` and `etalon export stablehlo` as their users meet them.

Usage: stablehlo_command.py ETALON MODULES compiled|plain
"""
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from asked import Asked  # noqa: E402
from checks import Checks  # noqa: E402

etalon, modules, build = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]), sys.argv[3]
check = Checks()

with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    asked = Asked(etalon, folder, check)
    run, answers, refused = asked.run, asked.answers, asked.refused
    (folder / "twice.mlir").write_text("""func.func @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.add %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
""")
    printed = answers(0, ["input x : f32[2]", '@ "twice.mlir":2', "output result"], "import", "stablehlo", "twice.mlir")
    answers(0, [], "import", "stablehlo", "twice.mlir", "-o", "twice.txt")
    check((folder / "twice.txt").read_text() == printed, "-o writes another program than is printed")
    answers(0, ["[10.0, -3.0]"], "run", "twice.txt", "--set", "x=5,-1.5")

    # A program as a module, and back.
    answers(0, [], "export", "stablehlo", "twice.txt", "-o", "again.mlir")
    answers(0, ["add("], "import", "stablehlo", "again.mlir")

    # What modules expect of their values: judged, compared, and wrong.
    (folder / "calls.mlir").write_text((modules / "calls.mlir").read_text())
    answers(0, ["pass", "16 elements compared"], "import", "stablehlo", "calls.mlir", "--judge")
    answers(0, ["16 elements as expected"], "import", "stablehlo", "calls.mlir", "--check")
    (folder / "wrong.mlir").write_text((modules / "calls.mlir").read_text().replace("[3.0, -5.0]", "[3.0, -5.5]"))
    answers(1, ["fail"], "import", "stablehlo", "wrong.mlir", "--judge")
    answers(1, ["another number is expected"], "import", "stablehlo", "wrong.mlir", "--check")

    # What is not offered, what is no text, what is no module.
    (folder / "sort.mlir").write_text((folder / "twice.mlir").read_text().replace("stablehlo.add", "stablehlo.cbrt"))
    refused(["sort.mlir:2:8: stablehlo.cbrt: it has no counterpart in the library"], "import", "stablehlo", "sort.mlir")
    (folder / "code.mlir").write_bytes(b"ML\xefR\x01")
    refused(["code.mlir: this is bytecode; its text is printed by stablehlo-translate --deserialize code.mlir"],
            "import", "stablehlo", "code.mlir")
    refused(["--plain: tests of StableHLO are judged"], "export", "stablehlo", "tests", "--ops", "exp", "--plain")

    # Judged tests that a backend runs: true of what is meant, and false of another instruction.
    answers(0, ["judged tests"], "export", "stablehlo", "tests", "--ops", "exp,softmax,matmul", "--dtypes", "f32")
    tests = sorted((folder / "tests").iterdir())
    check(len(tests) >= 20, f"{len(tests)} tests")
    if build == "compiled":
        ran = convicted = 0
        for test in tests[::4]:
            answers(0, ["as expected"], "import", "stablehlo", test, "--check", "--backend", "cpu")
            text = test.read_text()
            if "special" in test.name or "stablehlo.exponential " not in text:
                continue
            (folder / "other.mlir").write_text(text.replace("stablehlo.exponential ", "stablehlo.cosine "))
            ran += 1
            convicted += run("import", "stablehlo", "other.mlir", "--check", "--backend", "cpu").returncode == 1
        check(ran >= 3 and 2 * convicted > ran, f"{convicted} of {ran} wrong modules are convicted")

sys.exit(check.status(10))
