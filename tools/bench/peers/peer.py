"""What peers in Python share: the loop that answers the requests of tools/bench/worker.hpp, one JSON line each."""
import json
import os
import resource
import sys
import time

replies = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # what libraries print is not an answer


class NotOffered(Exception):
    pass


class Work:
    """What was prepared: ways to run it, of which the fastest is kept, and its state."""

    def __init__(self, ways, outputs, reset=lambda: None):
        self.ways, self.outputs, self.reset = ways, outputs, reset
        self.run = next(iter(ways.values()))


def pure(**ways):
    return Work(ways, lambda results: results if isinstance(results, (tuple, list)) else [results])


class Library:
    """What a peer has to say; the work that was prepared last is its."""

    def version(self):
        raise NotImplementedError

    def load(self):
        raise NotImplementedError

    def work_of(self, request):
        """The Work of a request. Raises NotOffered."""
        raise NotImplementedError

    def write(self, output, path):
        """One output's elements, dense and row-major."""
        raise NotImplementedError

    def finish(self):
        """Returns when all that was asked for is done."""


def status(field):
    with open("/proc/self/status") as lines:
        for line in lines:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return 0


def forget_peak():
    try:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
    except OSError:
        pass


class Session:
    def __init__(self, library):
        self.library, self.work, self.memory_before = library, None, 0

    def hello(self, _):
        return {"version": self.library.version()}

    def load(self, _):
        self.library.load()
        return {}

    def fastest(self):
        """Tries the ways in short; what is warm keeps running while another is tried."""
        times = {}
        for key, run in self.work.ways.items():
            run()
            self.library.finish()
            begin = time.perf_counter()
            for _ in range(5):
                one = time.perf_counter()
                run()
                self.library.finish()
                times[key] = min(times.get(key, 1e9), time.perf_counter() - one)
                if time.perf_counter() - begin > 2:
                    break
        key = min(times, key=times.get)
        self.work.run = self.work.ways[key]
        return key

    def prepare(self, request):
        self.work = None
        if request["wide"]:
            raise NotOffered("no such recipe")
        self.work = work = self.library.work_of(request)
        self.memory_before = status("VmRSS")
        forget_peak()
        begin = time.perf_counter()
        results = work.run()
        self.library.finish()
        first_seconds = time.perf_counter() - begin
        files = []
        for n, output in enumerate(work.outputs(results)):
            files.append(f"{request['outputs']}/{n}")
            self.library.write(output, files[-1])
        setting = ""
        if not request["workload"].startswith(("first-call", "next-call")):
            setting = self.fastest() if len(work.ways) > 1 else next(iter(work.ways))
        if hasattr(work, "settle"):
            work.run()
            work.settle()
        return {"outputs": files, "setting": setting, "first_seconds": first_seconds}

    def sample(self, request):
        self.work.reset()
        run = self.work.run
        if request["warm"]:
            run()
        self.library.finish()
        begin = time.perf_counter()
        for _ in range(request["runs"]):
            run()
        self.library.finish()
        return {"seconds": time.perf_counter() - begin}

    def memory(self, _):
        peak = status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return {"before": self.memory_before, "peak": peak}


def serve(library):
    """Answers until the input ends."""
    session = Session(library)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = {"hello": session.hello, "load": session.load, "prepare": session.prepare, "sample": session.sample, "memory": session.memory}[request["do"]](request)
        except NotOffered as error:
            reply = {"not_offered": str(error)}
        except Exception as error:
            reply = {"failed": f"{type(error).__name__}: {error}".splitlines()[0]}
        replies.write(json.dumps(reply) + "\n")
