"""What surrounds the interpreter: interrupts, threads, forks."""
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import etalon

LOOPS = """
import sys, time, numpy as np, etalon
def softmax(x, axis):
    if not sys.stdout.closed and not softmax.told:
        softmax.told = True
        print("asked", flush=True)
    return np.exp(x - x.max(axis, keepdims=True)) {wrong}
softmax.told = False
try:
    while True:
        try:
            etalon.assert_conforms(softmax, "softmax", tier="soak")
        except AssertionError:
            pass
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
"""


def seconds_to_stop(script):
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "asked\n"
        time.sleep(0.3)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        return float(process.stdout.readline()) - sent


def test_an_interrupt_ends_asking_and_shrinking():
    for wrong in ("* 0.5", "/ 1e30"):
        # The machine may have others to serve: the best of a few.
        assert min(seconds_to_stop(LOOPS.format(wrong=wrong)) for _ in range(3)) <= 0.2


COMPUTATIONS = """
import sys, time, numpy as np, etalon
x = np.linspace(-1, 1, 1 << 20, dtype=np.float32).reshape(1024, 1024)
t = np.ones_like(x)
program = etalon.program("input x : f32[1024, 1024]\\ny = matmul(x, x)\\noutput y")
print("asked", flush=True)
try:
    {call}
    print("it ended by itself", flush=True)
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
"""


@pytest.mark.parametrize("call", [
    'etalon.value("matmul", x, x)', 'etalon.value("softmax", x)', 'etalon.value("matmul", x, x, exact=True)', 'etalon.vjp("matmul", (x, x), t)',
    'etalon.interval("softmax", x)', 'etalon.interval("matmul", x, x)', 'list(etalon.intervals("softmax", x))', 'program.run(x=x)', 'program.interval(x=x)',
])
def test_an_interrupt_ends_one_computation(call):
    # It takes minutes, and ends in a fifth of a second where the machine has nobody else to serve.
    assert seconds_to_stop(COMPUTATIONS.format(call=call)) < 1


def test_an_exception_that_is_no_error_passes_through():
    class Enough(BaseException):
        pass

    def stops(x):
        raise Enough
    try:
        etalon.assert_conforms(stops, "neg")
        raised = None
    except Enough as enough:
        raised = enough
    assert raised is not None


def test_others_run_while_it_computes():
    x = np.linspace(-1, 1, 20000).reshape(100, 200)
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
    counting = threading.Thread(target=count)
    counting.start()
    before = counted[0]
    etalon.value("softmax", x)
    after = counted[0]
    done.set()
    counting.join()
    assert after > before + 1000


def test_threads_do_not_disturb_each_other():
    x = np.linspace(-3, 3, 50, dtype=np.float32)
    expected, found = etalon.value("softmax", x), []
    threads = [threading.Thread(target=lambda: found.append([etalon.value("softmax", x) for _ in range(20)])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(np.array_equal(y, expected) for each in found for y in each)


def ask(answers):
    report = etalon.conform({"neg": np.negative}, dtypes=["f32"])
    answers.put((etalon.value("exp", np.float32([1])).tolist(), report.conforms, len(report.records)))


def test_forks_work_before_and_after():
    before = etalon.conform({"neg": np.negative}, dtypes=["f32"])
    assert threading.active_count() == 1
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    children = [context.Process(target=ask, args=(answers,)) for _ in range(2)]
    for child in children:
        child.start()
    for _ in children:
        assert answers.get(timeout=60) == ([float(np.float32(np.exp(np.float64(1))))], True, len(before.records))
    for child in children:
        child.join()
        assert child.exitcode == 0
    tasks = len(os.listdir("/proc/self/task"))
    etalon.conform({"neg": np.negative}, dtypes=["f32"])
    assert len(os.listdir("/proc/self/task")) == tasks
