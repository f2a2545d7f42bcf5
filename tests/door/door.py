"""What the door answers, that `etalon explain` is a view of it, and that it links no LLVM.

Usage: door.py DOOR ETALON SCHEMA [with-compiler]"""
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from checks import Checks  # noqa: E402

door, etalon, schema = sys.argv[1], sys.argv[2], json.loads(pathlib.Path(sys.argv[3]).read_text())
try:
    import jsonschema
    validator = jsonschema.Draft202012Validator(schema)
    requests = jsonschema.Draft202012Validator({**schema, "$ref": "#/$defs/request"})
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
check = Checks()


def asked(lines):
    """The answers to lines of requests; each fits the schema."""
    done = subprocess.run([door], input="\n".join(lines) + "\n", capture_output=True, text=True, errors="surrogateescape", check=True)
    answers = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
    check(len(answers) == len(lines), f"{len(lines)} requests have {len(answers)} answers")
    for line, answer in zip(lines, answers):
        broken = [e.message for e in validator.iter_errors(answer)]
        check(not broken, f"{line[:100]}: {broken[:2]}")
    return answers


def ask(**request):
    check(not list(requests.iter_errors(request)), f"{request}: no request by the schema")
    return asked([json.dumps(request)])[0]


def printed(*words, text=None):
    return subprocess.run([etalon, *words], input=text, capture_output=True, text=True, check=False)


def elements(tensors, name):
    return next(t["elements"] for t in tensors if t["name"] == name)


# Checked: types, or the place of what is wrong.
right = ask(kind="check", program="input x : f32[2, 3]\ny = sum(x) {axes = [1], keepdims = false}\noutput y")
check(right["ok"] and right["values"] == {"x": "f32[2, 3]", "y": "f32[2]"} and right["outputs"] == ["y"], right)
mine = "mine(x[n]) {by = 2.0} -> y[n]\n  y[i] = by*x[i]\n"
own = ask(kind="check", definitions=mine, program="input x : f64[4]\ny = mine(x)\noutput y")
check(own["ok"] and [d["name"] for d in own["definitions"]] == ["mine"] and own["values"]["y"] == "f64[4]", own)
for request, text, line, column, excerpt in [
        ({"program": "input x : f32[2]\ny = expp(x)\noutput y"}, "program", 2, 5, "y = expp(x)"),
        ({"program": "input x : f32[2]\n  y = add(x, z)\noutput y"}, "program", 2, 14, "  y = add(x, z)"),
        ({"program": "input x : f32[2"}, "program", 1, None, "input x : f32[2"),
        ({"definitions": "mine(x[n]) -> y[n]\n  y[i] = z[i]\n"}, "definitions", 2, 10, "  y[i] = z[i]"),
        ({"definitions": "\nmine(x[n]) -> y[n]\n  y[i] = x[i + 1]\n"}, "definitions", 3, None, "  y[i] = x[i + 1]"),
        ({"definitions": "mine(x[n]) -> y[n]\n  y[i] = x[i"}, "definitions", 2, None, "  y[i] = x[i")]:
    error = ask(kind="check", **request).get("error", {})
    check(error.get("text") == text and error.get("line") == line and error.get("excerpt") == excerpt, f"{request}: {error}")
    check(column is None or error.get("column") == column, f"{request}: {error}")

# Explained: the numbers are what the equations mean.
twice = ask(kind="explain", definitions="twice(x[...]) -> y[...]\n  y[...] = 2*x[...]\n")
example = twice["example"]
check(elements(example["results"], "y") == [2 * x for x in elements(example["operands"], "x")], example)
check(elements(example["cotangents"], "x~") == [2 * c for c in elements(example["given"], "y~")], example)
y = example["results"][0]
check(len(y["admitted"]) == len(y["elements"]) > 0, y)
check(all(bound["lower"] <= value <= bound["upper"] for value, bound in zip(y["elements"], y["admitted"])), y)
check(ask(kind="derive", operation="softmax").get("example") is None, "derive has an example")

# MathML goes by the form.
NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"


def tags(equations):
    found = []
    for text in equations["mathml"]:
        root = xml.etree.ElementTree.fromstring(text)
        check(root.tag == NAMESPACE + "math" and root.get("alttext"), text)
        found += [e.tag.removeprefix(NAMESPACE) for e in root.iter()]
    check(len(equations["mathml"]) == sum(" = " in line for line in equations["text"].splitlines()), equations["text"])
    return found


formed = ask(kind="derive", definitions="formed(x[m, n]) -> y[m]\n  s[i] = sum[k] x[i, k]\n"
             "  y[i] = if s[i] > 0 then s[i] / (1 + sqrt(s[i])) else s[i]^2\n")
found = tags(formed["equations"])
check({"munder", "mfrac", "msqrt", "msup", "mtable", "msub"} <= set(found) and found.count("mtr") == 2, found)
plain = tags(ask(kind="derive", definitions="plain(x[n]) -> y[n]\n  y[i] = x[i] + 1\n")["equations"])
check(not {"munder", "mfrac", "msqrt", "msup", "mtable"} & set(plain) and "msub" in plain, plain)
check("mover" in tags(formed["vjp"]) and "msup" in tags(formed["jvp"]), "no marks of cotangents or tangents")

# Every operation, in both views of its equations.
names = [d["name"] for d in json.loads(printed("spec", "--json").stdout)["definitions"]]
check(len(names) >= 100, names)
answers = asked([json.dumps({"kind": "derive", "operation": name}) for name in names])
for name, answer in zip(names, answers):
    check(answer["ok"] and answer["name"] == name, answer)
    for part in ("equations", "jvp", "vjp"):
        if answer.get(part):
            tags(answer[part])
check(sum(bool(a.get("vjp")) for a in answers) >= 100, "few operations have derivatives")

# `etalon explain` and `etalon door` are views of the same.
explained = ask(kind="explain", operation="softmax", dtype="f64", sample=1)
shown = json.loads(printed("explain", "softmax", "--dtype", "f64", "--sample", "1", "--json").stdout)
check(explained == {"ok": True, **shown}, "explain --json is not what the door answers")
page = printed("explain", "softmax", "--dtype", "f64", "--sample", "1", "--html").stdout
check(all(one in page for part in ("equations", "jvp", "vjp") for one in explained[part]["mathml"]), "the page lacks an equation")
text = printed("explain", "softmax", "--dtype", "f64", "--sample", "1").stdout
check(all(line.strip() in text for part in ("equations", "vjp") for line in explained[part]["text"].splitlines()), text)
done = printed("door", text=json.dumps({"kind": "check", "program": "input x"}))
check(done.returncode == 1 and json.loads(done.stdout)["ok"] is False, done)
done = printed("door", text=json.dumps({"kind": "derive", "operation": "exp"}))
check(done.returncode == 0 and json.loads(done.stdout)["name"] == "exp", done)

# What is hostile is refused in one line.
hostile = ["", "null", "[]", "{}", "{", "[" * 5000, '{"kind": 1}', '{"kind": "check"}', '{"kind": "chek"}', '{"kind": "check", "program": 3}',
           '{"kind": "explain"}', '{"kind": "explain", "operation": "sofmax"}', '{"kind": "explain", "operation": "exp", "dtype": "f16"}',
           '{"kind": "explain", "operation": "exp", "sample": -1}', '{"kind": "derive", "operation": "exp", "more": 1}', "\udcff\udcfe",
           json.dumps({"kind": "check", "definitions": "\u0000"}), json.dumps({"kind": "check", "program": "\n" * 1000 + "\u2028"}),
           json.dumps({"kind": "derive", "definitions": "a(x[n]) -> y[n]\n  y[i] = " + "(" * 500})]
for line, answer in zip(hostile, asked(hostile)):
    check(answer["ok"] is False and "\n" not in answer["error"]["message"] and answer["error"]["message"], f"{line[:60]!r}: {answer}")
marked = ask(kind="derive", definitions="b(x[n]) -> y[n]\n  y[i] = x[i]\n", operation="<script>")
check(marked["ok"] is False and "<script>" in marked["error"]["message"], marked)


# Without a compiler.
def llvm_in(program):
    needed = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    symbols = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout
    check("conformance::door" in symbols, f"{program}: no door among its symbols")
    # Sanitizers have classes of their own whose names begin so.
    return re.findall(r"NEEDED.*LLVM.*|\bllvm::\w+|(?<!::)\bLLVM\w+", needed + symbols)


check(not llvm_in(door), f"{door} links LLVM")
if "with-compiler" in sys.argv:
    check(llvm_in(etalon), "the command has no LLVM: this would not see it")

sys.exit(check.status(200))
