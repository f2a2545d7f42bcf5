"""check.json: what a run of the stages found, written anew after each of them, so that a run that is ended leaves what it has."""
import json
import os
import time

SCHEMA = "etalon-gpu-check"
PASSED, FAILED, SKIPPED, LATE, BROKEN = "passed", "failed", "skipped", "out of time", "broken"


def result(status, line, **data):
    """What a stage found: one of the five words above, one line for people, and numbers."""
    return {"status": status, "line": line, **data}


class Record:
    def __init__(self, folder, device, seed):
        self._path = folder / "check.json"
        self.content = {"schema": SCHEMA, "version": 1, "device": device, "seed": seed,
                        "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "stages": {}}

    def add(self, stage, found):
        self.content["stages"][stage] = found
        whole = self._path.with_suffix(".part")
        whole.write_text(json.dumps(self.content, indent=1) + "\n")
        os.replace(whole, self._path)
