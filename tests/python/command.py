"""`python3 -m etalon` is the command. Usage: command.py ETALON"""
import subprocess
import sys


def printed(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


ours = printed(sys.executable, "-m", "etalon", "explain", "softmax")
theirs = printed(sys.argv[1], "explain", "softmax")
assert ours.returncode == 0 and ours.stdout == theirs.stdout and "softmax" in ours.stdout, ours
wrong = printed(sys.executable, "-m", "etalon", "explain", "softmaxx")
assert wrong.returncode != 0 and "softmax" in wrong.stderr, wrong
