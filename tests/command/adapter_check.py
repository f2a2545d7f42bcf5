"""`etalon adapter check`: each hostile adapter gets the complaint that it deserves, honest ones get none. Usage: adapter_check.py ETALON [sanitized]"""
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys

from checks import Checks

etalon, sanitized = sys.argv[1], "sanitized" in sys.argv[2:]
here = pathlib.Path(__file__).resolve().parent
hostile = here / "hostile_adapter.py"
python = shlex.quote(sys.executable)
# A word of the complaint, and of its advice.
COMPLAINTS = {
    "crash": ("signal 11 (Segmentation fault)", "stay until the input ends"), "abort": ("signal 6 (Aborted)", "stay until"), "exit": ("exit status 3", "stay until"),
    "exit_well": ("exit status 0", "stay until"), "hang": ("no whole line within 1 s", "flush"), "flood": ("no whole line within 1 s|more than", "newline"),
    "hog": ("ended without|no whole line", ""), "close_output": ("ended without|no whole line", ""), "noisy": ("malformed JSON", "standard error"),
    "garbage": ("malformed JSON at line 1, column 1", "nothing else on standard output"), "empty_line": ("malformed JSON", "one JSON object"),
    "partial_line": ("ended without a whole answer", "end lines with a newline"), "twice": ("more than one line for one request", "nothing else on standard output"),
    "swapped_id": ('expected "value-24', "repeat the `id`"), "no_id": ("id: the field is missing", "repeat the request's `id`"), "array": ("expected an object, found array", "one JSON object"),
    "deep": ("more than 100 arrays and objects in each other", ""), "not_utf8": ("malformed JSON", ""), "bad_base64": ("outputs[0].data: expected base64", "base64 with padding"),
    "short_data": ("outputs[0].data: expected", "as many as the shape has"), "huge_shape": ("outputs[0].shape", "list of extents"), "negative_shape": ("outputs[0].shape: expected extents that are not negative", ""),
    "wrong_dtype": ("outputs[0].dtype: element type 'f128'", "the element types are"), "wrong_shape": ("outputs[0]: expected", "follow from the definition"),
    "no_outputs": ("outputs: expected 1, found 0", "one entry per output"), "null_outputs": ("outputs[0]: expected an object, found null", "none of them is null"),
}
# Small adapters of one fault each: Python that answers `q`.
GOOD = '{"etalon":1,"name":"x","version":"1","dtypes":["f32"],"modes":["forward"],"operations":["neg"],"contract":{}}'
REPLY = 'print(json.dumps({"id":q["id"],"unsupported":{"what":"operation","why":"no"}}),flush=True)'
SMALL = {
    "no_module": ("import no_such_module", "ended without a whole answer: exit status 1; its standard error: ", "never answered: start the command by hand"),
    "no_command": (None, "exit status 127", "did not find the command"),
    "greets": (f"print('hello')\nfor line in sys.stdin: print('{GOOD}', flush=True)", "malformed JSON|more than one line", "greeting|one line per request"),
    "wrong_version": ("for line in sys.stdin: print('{\"etalon\":2,\"name\":\"x\",\"dtypes\":[],\"modes\":[]}', flush=True)", "etalon: expected protocol 1, found 2", "the number 1"),
    "nameless": ("for line in sys.stdin: print('{\"etalon\":1,\"dtypes\":\"f32\",\"modes\":[\"backward\"],\"contract\":{\"sums\":3}}', flush=True)",
                 "name: the field is missing&dtypes: expected an array&mode 'backward' is not offered&contract.sums: expected", ""),
    "misspelt": (f"for line in sys.stdin: print('{GOOD}'.replace('\"neg\"', '\"sofmax\"'), flush=True)", "unknown operation 'sofmax'; did you mean 'softmax'?&none of the list is known", ""),
    "refuses_all": (f"for line in sys.stdin:\n  q=json.loads(line)\n  if q['request']=='describe': print('{GOOD}',flush=True)\n  else: {REPLY}", "every request was answered `unsupported`", "describe only what is offered"),
    "fails_all": (f"for line in sys.stdin:\n  q=json.loads(line)\n  if q['request']=='describe': print('{GOOD}',flush=True)\n  else: {REPLY.replace('unsupported', 'error')}".replace(
        '{"what":"operation","why":"no"}', '"no"'), "error: no&expected unsupported, found error", "answer `unsupported`"),
    "two_kinds": (f"for line in sys.stdin:\n  q=json.loads(line)\n  if q['request']=='describe': print('{GOOD}',flush=True)\n  else: {REPLY.replace('{', '{' + chr(34) + 'outputs' + chr(34) + ':[],', 1)}",
                  "found outputs and unsupported", "exactly one of"),
    "stays": (f"for line in sys.stdin:\n  q=json.loads(line)\n  if q['request']=='describe': print('{GOOD}',flush=True)\n  else: {REPLY}\ntime.sleep(60)", "still running 1 s after its input ended", "exit with status 0"),
    "leaves_badly": (f"for line in sys.stdin:\n  q=json.loads(line)\n  if q['request']=='describe': print('{GOOD}',flush=True)\n  else: {REPLY}\nsys.exit(4)", "exit status 4", "exit with status 0"),
}
# Negates dense numbers, whatever the strides say.
NO_STRIDES = f"""import base64, struct
for line in sys.stdin:
  q=json.loads(line)
  if q['request']=='describe': print('{GOOD}',flush=True); continue
  call=q['program']['calls'][0]; t=q['inputs'][0]
  if q['mode']!='forward' or t['dtype']!='f32' or call['operation']!='neg': {REPLY}; continue
  n=1
  for e in t['shape']: n*=e
  x=struct.unpack('<%df'%n, base64.b64decode(t['data'])[:4*n])
  print(json.dumps({{"id":q["id"],"outputs":[{{"dtype":"f32","shape":t["shape"],"data":base64.b64encode(struct.pack('<%df'%n,*(-v for v in x))).decode()}}]}}),flush=True)"""
SMALL["no_strides"] = (NO_STRIDES, "strides and offset of an operand were ignored", "offset + i·strides[0]")
check = Checks()


# Who keeps silence costs its time; nobody else is hurried.
SILENT = {"hang", "flood", "hog", "close_output", "stays"}


def checker(command, timeout="20"):
    ran = subprocess.run([etalon, "adapter", "check", command, "--timeout", timeout, "--memory", "0" if sanitized else "256", "--json"], capture_output=True, text=True, timeout=120)
    report = json.loads(ran.stdout) if ran.stdout.count("\n") == 1 else {"ok": None, "remarks": []}
    return ran.returncode, report["ok"], report["remarks"]


def found(remarks, words, field):
    texts = [r.get(field, "") for r in remarks if r["mark"] == "wrong"]
    return all(any(word in text for text in texts for word in either.split("|")) for either in words.split("&"))


def held(name, command, words, advice):
    status, ok, remarks = checker(command, "1" if name in SILENT else "20")
    wrong = [r for r in remarks if r["mark"] == "wrong"]
    check(status == 1 and ok is False, f"{name}: exit {status}, {remarks}")
    check(found(remarks, words, "what"), f"{name}: expected {words!r}, found {wrong}")
    check(found(remarks, advice, "advice"), f"{name}: expected the advice {advice!r}, found {wrong}")
    return wrong


kinds = subprocess.run([sys.executable, str(hostile), "list", etalon], capture_output=True, text=True).stdout.split()
check(set(kinds) == set(COMPLAINTS), f"hostile adapters without a complaint here: {set(kinds) ^ set(COMPLAINTS)}")
if sanitized:
    kinds.remove("hog")
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    jobs = {kind: pool.submit(held, kind, f"{python} {hostile} {kind} {shlex.quote(etalon)}", *COMPLAINTS[kind]) for kind in kinds}
    jobs |= {name: pool.submit(held, name, f"{python} -c {shlex.quote('import sys, json, time' + chr(10) + code)}" if code else "no_such_program_anywhere", words, advice)
             for name, (code, words, advice) in SMALL.items()}
    for kind, job in jobs.items():
        if kind in COMPLAINTS:  # no more than the one fault, told once
            check(1 <= len(job.result()) <= (2 if kind in ("flood", "hog", "close_output") else 1), f"{kind}: {len(job.result())} complaints: {job.result()}")

honest = [f"{shlex.quote(etalon)} serve --backend reference", f"exec:{shlex.quote(etalon)} serve --backend reference"]
try:
    import numpy  # noqa: F401
    honest.append(f"{python} {here.parents[1] / 'conformance/adapters/numpy/adapter.py'}")
except ImportError:
    print("without NumPy its adapter is not asked")
for command in honest:
    status, ok, remarks = checker(command)
    check((status, ok) == (0, True) and len(remarks) >= 12, f"{command}: exit {status}: {[r for r in remarks if r['mark'] == 'wrong']}")
text = subprocess.run([etalon, "adapter", "check", honest[0], "--memory", "0"], capture_output=True, text=True)
check(text.returncode == 0 and text.stdout.startswith("ok    start ") and text.stdout.endswith("whether its numbers are right\n"), f"as text: {text}")

sys.exit(check.status(100))
