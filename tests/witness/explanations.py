"""The disagreements that are understood, from a file; each says what it covers, why, and shows a minimal example."""
import tomllib

KINDS = ("convention", "algorithm", "defect")
KEYS = {"operation", "kind", "modes", "dtypes", "tags", "attributes", "reason", "example", "gives", "function"}


class Explanation:
    def __init__(self, entry, scope):
        unknown = set(entry) - KEYS
        if unknown or entry["kind"] not in KINDS:
            raise ValueError(f"explanation of {entry['operation']}: unknown {unknown or entry['kind']}")
        self.entry, self.used = entry, 0
        self.operations = entry["operation"].split()
        self.function = eval(entry["function"], dict(scope)) if "function" in entry else None
        self.fault = None
        if entry["kind"] != "algorithm" and "example" not in entry:
            self.fault = f"explanation of {entry['operation']}: a {entry['kind']} is shown by an example"
        elif "example" in entry:
            found = str(eval(entry["example"], dict(scope)))  # the example is run: it must still show what it says
            if found != entry["gives"]:
                self.fault = f"explanation of {entry['operation']}: the example gives {found}, not {entry['gives']}"

    def covers(self, operation, mode, dtype, tags, attributes):
        e = self.entry
        return (operation in self.operations and mode in e.get("modes", [mode]) and dtype in e.get("dtypes", [dtype])
                and ("tags" not in e or not tags.isdisjoint(e["tags"]))
                and all(attributes.get(k) == v for k, v in e.get("attributes", {}).items()))


class Explanations:
    def __init__(self, entries):
        self.entries = entries

    def find(self, operation, mode, dtype, tags, attributes, rounded_agrees):
        """The kind of the explanation that covers this disagreement, or None. Another algorithm must prove itself."""
        for e in self.entries:
            if e.covers(operation, mode, dtype, tags, attributes):
                if e.entry["kind"] != "algorithm" or rounded_agrees(e.function):
                    e.used += 1
                    return e.entry["kind"]
        return None

    def broken(self):
        return [e.fault for e in self.entries if e.fault]

    def unused(self):
        return [f"explanation of {e.entry['operation']} ({e.entry['reason'][:60]}…) explains nothing"
                         for e in self.entries if not e.used]


def read(path, scope):
    with open(path, "rb") as file:
        return Explanations([Explanation(e, scope) for e in tomllib.load(file).get("explained", [])])
