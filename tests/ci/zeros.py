"""An adapter that answers zeros: it hands questions to the reference, and empties what comes back. Usage: zeros.py ETALON"""
import base64
import json
import subprocess
import sys

served = subprocess.Popen([sys.argv[1], "serve", "--backend", "reference"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line in sys.stdin:
    served.stdin.write(line)
    served.stdin.flush()
    answer = json.loads(served.stdout.readline())
    for tensor in answer.get("outputs", []):
        tensor["data"] = base64.b64encode(bytes(len(base64.b64decode(tensor["data"])))).decode()
    print(json.dumps(answer), flush=True)
