"""An adapter that answers by the reference, but ends at certain questions, whoever asked what before; it counts what it
is asked in a file. crashing_adapter.py ETALON LOG [never]"""
import json
import subprocess
import sys
import zlib

etalon, log = sys.argv[1], sys.argv[2]
honest = subprocess.Popen([etalon, "serve", "--backend", "reference"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["request"] == "run":
        with open(log, "a") as file:
            file.write("asked\n")
        sys.stderr.write("a warning for every question\n")
        sys.stderr.flush()
        if "never" not in sys.argv and zlib.crc32(json.dumps(request["inputs"]).encode()) % 9 == 0:
            sys.stderr.write("<b>last words</b> of \x1b[31m a \x01 crash & more\n")
            sys.stderr.flush()
            sys.exit(3)
    honest.stdin.write(line)
    honest.stdin.flush()
    sys.stdout.write(honest.stdout.readline())
    sys.stdout.flush()
