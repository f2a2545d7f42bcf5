"""An adapter that answers by the reference and, on some requests, misbehaves: hostile_adapter.py KIND ETALON."""
import json
import os
import signal
import subprocess
import sys
import time

kind, etalon = sys.argv[1], sys.argv[2]
EVERY = 25  # of the requests of one process, the last is spoiled


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def spoiled(answer, change):
    answer = json.loads(answer)
    change(answer)
    return json.dumps(answer) + "\n"


def first_output(change):
    def spoil(answer):
        if answer.get("outputs"):
            change(answer["outputs"][0])
        else:
            answer["outputs"] = "none"
    return spoil


def hang():
    time.sleep(3600)


def flood():
    while True:
        say("x" * 1048576)


def hog():
    held = []
    while True:
        held.append(bytearray(b"1" * (64 << 20)))


def close_output():
    os.close(1)
    hang()


def errors_forever():
    for _ in range(100000):
        sys.stderr.write("a line of a very long log\n")
    say("{\n")


NAN = "AADAfw=="  # one float32
DOES = {
    "crash": lambda answer: os.kill(os.getpid(), signal.SIGSEGV),
    "abort": lambda answer: os.abort(),
    "exit": lambda answer: sys.exit(3),
    "exit_well": lambda answer: sys.exit(0),
    "hang": lambda answer: hang(),
    "flood": lambda answer: flood(),
    "hog": lambda answer: hog(),
    "close_output": lambda answer: close_output(),
    "noisy": lambda answer: errors_forever(),
    "garbage": lambda answer: say("Segmentation fault (not really)\n"),
    "empty_line": lambda answer: say("\n"),
    "partial_line": lambda answer: (say(answer[:len(answer) // 2]), sys.exit(0)),
    "twice": lambda answer: say(answer + answer),
    "swapped_id": lambda answer: say(spoiled(answer, lambda a: a.update(id="another"))),
    "no_id": lambda answer: say(spoiled(answer, lambda a: a.pop("id"))),
    "array": lambda answer: say("[1, 2, 3]\n"),
    "deep": lambda answer: say("[" * 100000 + "\n"),
    "not_utf8": lambda answer: sys.stdout.buffer.write(b'{"id": "\xff\xfe"}\n') and sys.stdout.flush(),
    "bad_base64": lambda answer: say(spoiled(answer, first_output(lambda t: t.update(data="!!!!")))),
    "short_data": lambda answer: say(spoiled(answer, first_output(lambda t: t.update(data="AAAA")))),
    "huge_shape": lambda answer: say(spoiled(answer, first_output(lambda t: t.update(shape=[2**40, 2**40])))),
    "negative_shape": lambda answer: say(spoiled(answer, first_output(lambda t: t.update(shape=[-1])))),
    "wrong_dtype": lambda answer: say(spoiled(answer, first_output(lambda t: t.update(dtype="f128")))),
    "wrong_shape": lambda answer: say(spoiled(answer, first_output(lambda t: t.update(shape=[1], data=NAN)))),
    "no_outputs": lambda answer: say(spoiled(answer, lambda a: a.update(outputs=[]))),
    "null_outputs": lambda answer: say(spoiled(answer, lambda a: a.update(outputs=[None]))),
}

if kind == "list":
    print(" ".join(DOES))
    sys.exit(0)

honest = subprocess.Popen([etalon, "serve", "--backend", "reference"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True)
asked = 0
for line in sys.stdin:
    honest.stdin.write(line)
    honest.stdin.flush()
    answer = honest.stdout.readline()
    if json.loads(line)["request"] == "run":
        asked += 1
        if asked % EVERY == 0:
            DOES[kind](answer)
            continue
    say(answer)
honest.stdin.close()
