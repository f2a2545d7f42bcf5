"""`etalon import onnx` as its users meet it, on models whose bytes are written here by hand.

Usage: onnx_command.py ETALON compiled|plain
"""
import pathlib
import struct
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from asked import Asked  # noqa: E402
from checks import Checks  # noqa: E402
from onnx_bytes import elsewhere, floats, integers, model, node, text, value  # noqa: E402

etalon, build = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2]
check = Checks()

with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    asked = Asked(etalon, folder, check)
    run, answers, refused = asked.run, asked.answers, asked.refused
    # y = x·w + 1 where w = (2, 3)
    affine = model(17, node("Mul", ["x", "w"], ["h"], "layer/mul"), node("Add", ["h", "one"], ["y"]), text(5, floats([2], 2, 3, name="w")),
                   text(5, floats([], 1, name="one")), value(11, "x", ["n", 2]), value(12, "y", ["n", 2]))
    (folder / "affine.onnx").write_bytes(affine)
    (folder / "data").mkdir()
    (folder / "data/input_0.pb").write_bytes(floats([1, 2], 5, 7, name="x"))
    (folder / "data/output_0.pb").write_bytes(floats([1, 2], 11, 22))
    one_row = ("import", "onnx", "affine.onnx", "--dim", "n=1")

    printed = answers(0, ["input x : f32[1, 2]", 'section "layer.mul"', '@ "affine.onnx":1', "output y"], *one_row)
    answers(0, [], *one_row, "-o", "affine.txt")
    check((folder / "affine.txt").read_text() == printed, "-o writes another program than is printed")
    answers(0, ["y : f32[1, 2] = [11.0, 22.0]"], "run", "affine.txt", "--set", "x=5,7")
    answers(0, ["well typed"], "check", "affine.txt")

    # Judged: what is recorded, what a backend answers, and what is wrong.
    answers(0, ["pass", "2 elements compared"], *one_row, "--data", "data")
    answers(0, ["pass", "2 elements compared"], *one_row, "--data", "data", "--backend", "reference")
    answers(0, ["y : f32[1, 2]", "  0: [11, 11]", "  1: [22, 22]"], *one_row, "--data", "data", "--bounds")
    check('"verdict":"pass"' in answers(0, [], *one_row, "--data", "data", "--json").replace(" ", ""), "--json")
    (folder / "data/output_0.pb").write_bytes(floats([1, 2], 11, 22.5))
    answers(1, ["fail"], *one_row, "--data", "data")
    (folder / "data/output_0.pb").write_bytes(floats([1, 2], 11, float("nan")))
    answers(1, ["fail"], *one_row, "--data", "data")
    (folder / "data/output_0.pb").unlink()
    refused(['data: the output "y" is not recorded'], *one_row, "--data", "data")
    (folder / "data/input_1.pb").write_bytes(floats([1], 1))
    refused(["data/input_1.pb: the model has 1 inputs"], *one_row, "--data", "data")

    if build == "compiled":
        answers(0, [], *one_row, "--parameters", "w.safetensors", "-o", "open.txt")
        check("parameter w : f32[2]" in (folder / "open.txt").read_text(), "--parameters")
        answers(0, ["y : f32[1, 2] = [11.0, 22.0]"], "run", "open.txt", "--set", "x=5,7", "--parameters", "w.safetensors")
        one = ("--set", "x=5,7", "--set", "w=1", "--parameters", "w.safetensors", "--backend", "cpu")
        answers(0, ["y : f32[1, 2] = [6.0, 8.0]"], "run", "open.txt", *one)

    # Numbers that are known are the program's, and no input of it; data sets and declarations must agree with them.
    (folder / "gather.onnx").write_bytes(
        model(17, node("Gather", ["x", "i"], ["y"]), value(11, "x", [3]), value(11, "i", [1], 7), value(12, "y", [1])))
    for name, numbers in (("zero", [0]), ("one", [1]), ("two", [0, 1])):
        (folder / f"{name}.pb").write_bytes(integers([len(numbers)], *numbers))
    known = ("import", "onnx", "gather.onnx", "--known")
    answers(0, [], *known, "i=zero.pb", "-o", "gather.txt")
    answers(0, ["y : f32[1] = [10.0]"], "run", "gather.txt", "--set", "x=10,20,30")
    check("constant i : i64[1] = [0]" in (folder / "gather.txt").read_text(), "--known leaves an open input")
    refused(['gather.onnx: input "i": the extent 1 is declared, and the numbers that are known have 2'], *known, "i=two.pb")
    refused(['gather.onnx: there is no input "y" to be known'], *known, "y=zero.pb")
    (folder / "places").mkdir()
    (folder / "places/input_0.pb").write_bytes(floats([3], 10, 20, 30))
    (folder / "places/input_1.pb").write_bytes(integers([1], 0))
    (folder / "places/output_0.pb").write_bytes(floats([1], 10))
    answers(0, ["pass"], *known, "i=zero.pb", "--data", "places")
    refused(['places: the input "i" has other numbers than --known says'], *known, "i=one.pb", "--data", "places")

    # Numbers in other files of the model's folder, and in no others.
    inside = folder / "inside"
    (inside / "below").mkdir(parents=True)
    pair = struct.pack("<4f", 7, 2, 3, 8)
    (inside / "below/w.bin").write_bytes(pair)
    (inside / "pair.bin").write_bytes(pair[4:12])
    (folder / "outside.bin").write_bytes(pair[4:12])
    (inside / "link.bin").symlink_to("below/w.bin")
    (inside / "out.bin").symlink_to("../outside.bin")
    (inside / "away").symlink_to("..")
    (inside / "loop.bin").symlink_to("loop.bin")

    def kept(**entries):
        parts = (node("Mul", ["x", "w"], ["y"]), text(5, elsewhere([2], "w", **entries)), value(11, "x", [2]), value(12, "y", [2]))
        (inside / "m.onnx").write_bytes(model(17, *parts))

    for entries in ({"location": "below/w.bin", "offset": 4, "length": 8}, {"location": "pair.bin"},
                    {"location": "./pair.bin", "length": 8},
                    {"location": "link.bin", "offset": 4, "length": 8, "checksum": "0"}):
        kept(**entries)
        answers(0, ["constant w : f32[2] = [2.0, 3.0]"], "import", "onnx", "inside/m.onnx")
    begin = 'm.onnx: initializer 1: tensor "w": external data'
    for entries, why in (({"location": "../outside.bin"}, ' "../outside.bin": ".." leads out of the model\'s folder'),
                         ({"location": "below/../../outside.bin"}, ' "below/../../outside.bin": ".." leads out of the model\'s folder'),
                         ({"location": str(folder / "outside.bin")},
                          f' "{folder}/outside.bin": an absolute path; expected one from the model\'s folder'),
                         ({"location": "out.bin"}, ' "out.bin": a link leads out of the model\'s folder'),
                         ({"location": "away/outside.bin"}, ' "away/outside.bin": a link leads out of the model\'s folder'),
                         ({"location": "below"}, ' "below": it is no file'),
                         ({"location": "loop.bin"}, ' "loop.bin": Too many levels of symbolic links'),
                         ({"location": "none.bin"}, ' "none.bin": No such file or directory'),
                         ({"offset": 0}, ": expected a location, found none"),
                         ({"location": "pair.bin", "offset": "-4"}, ': expected a number of bytes as offset, found "-4"'),
                         ({"location": "pair.bin", "length": "8x"}, ': expected a number of bytes as length, found "8x"'),
                         ({"location": "pair.bin", "offset": 4, "length": 8},
                          ' "pair.bin": expected 8 bytes from 4 on, found a file of 8 bytes'),
                         ({"location": "pair.bin", "offset": 2**64 - 1, "length": 8},
                          f' "pair.bin": expected 8 bytes from {2**64 - 1} on, found a file of 8 bytes'),
                         ({"location": "pair.bin", "length": 2**63},
                          f' "pair.bin": expected {2**63} bytes from 0 on, found a file of 8 bytes')):
        kept(**entries)
        refused([begin + why], "import", "onnx", "inside/m.onnx", "-o", "never.txt")
    kept(location="below/w.bin")
    refused(['m.onnx: initializer 1: tensor "w": expected 2 elements for the extents [2], found 4'], "import", "onnx", "inside/m.onnx")
    (folder / "data/input_1.pb").unlink()
    (folder / "data/input_0.pb").write_bytes(elsewhere([1, 2], "x", location="affine.onnx"))
    refused(['"x": numbers in another file are not offered'], *one_row, "--data", "data")

    # Control flow is refused by its node, with what stands in its graphs.
    branches = (("then_branch", node("Relu", ["x"], ["a"], "act") + node("Neg", ["a"], ["b"])), ("else_branch", b""))
    branch = node("If", ["c"], ["y"], "choose", graphs=branches)
    branch += node("Loop", ["y"], ["z"], graphs=(("body", node("Neg", ["y"], ["b"])),))
    (folder / "if.onnx").write_bytes(model(17, branch, value(11, "c", [], 9), value(12, "z", [2])))
    refused(['if.onnx: node 1 "choose" (If): control flow is not offered: else_branch has no nodes, '
             'then_branch has 2 nodes from "act" (Relu) on',
             "if.onnx: node 2 (Loop): control flow is not offered: body has the node (Neg)"],
            "import", "onnx", "if.onnx", "-o", "never.txt")

    # What is wrong is said at once, in lines that name it.
    refused(['affine.onnx: input "x": the extent "n" is open; give it with --dim n=N'], "import", "onnx", "affine.onnx", "-o", "never.txt")
    refused(["--dim n=-1: expected an extent, found '-1'"], "import", "onnx", "affine.onnx", "--dim", "n=-1")
    nodes = (node("QLinearConv", ["x"], ["a"], "q3"), node("Relu", ["x"], ["b"], "", "", alpha=1),
             node("Mine", ["b"], ["c"], "", "com.mine"))
    (folder / "bad.onnx").write_bytes(model(17, *nodes, value(11, "x", [2]), value(12, "a", [2]), value(12, "c", [2])))
    refused(['bad.onnx: node 1 "q3" (QLinearConv): quantised types are not offered',
             'bad.onnx: node 2 (Relu): attribute "alpha" is not offered',
             'bad.onnx: node 3 (Mine): operators of "com.mine" are not offered'], "import", "onnx", "bad.onnx", "-o", "never.txt")
    (folder / "absent.onnx").write_bytes(
        model(17, node("Einsum", ["", "x"], ["y"], equation="i,i->i"), value(11, "x", [2]), value(12, "y", [2])))
    refused(["absent.onnx: node 1 (Einsum): input 1 is missing"], "import", "onnx", "absent.onnx", "-o", "never.txt")
    (folder / "empty.onnx").write_bytes(b"")
    refused(["empty.onnx: expected a model of ONNX, found no graph in it"], "import", "onnx", "empty.onnx", "-o", "never.txt")
    for size in range(1, len(affine)):  # a download that broke off
        (folder / "cut.onnx").write_bytes(affine[:size])
        if size % 7 == 0:
            done = run("import", "onnx", "cut.onnx", "--dim", "n=1")
            check(done.returncode in (0, 2) and done.stderr.count("\n") <= 2, f"cut after {size} bytes: {done}")
    refused(["import: a format is missing; etalon import --help lists them"], "import")
    refused(["reshape: it is no single operator of ONNX, so no test of one node is made of it"],
            "export", "onnx", "tests", "--ops", "reshape")
sys.exit(check.status(60))
