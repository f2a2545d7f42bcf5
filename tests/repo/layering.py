"""Each folder includes only the folders that the design lets it see; every include is rooted at the repository."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
allowed = {
    "spec": {"spec"},
    "reference": {"spec", "reference"},
    "compiled": {"spec", "compiled"},
    "cuda": {"spec", "compiled", "cuda"},
    "conformance": {"spec", "reference", "conformance"},
    "training": {"spec", "compiled", "training"},
}
# Within compiled/ each room sees those before it and itself. The list of stages and what it hands on stand in the folder itself.
rooms = ["machine", "ir", "schedule", "rewrite", "memory", "lower", "emit", "", "emit/text", "emit/llvm", "runtime"]
include = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
light = {"nlohmann/json_fwd.hpp", "boost/align/aligned_allocator.hpp"}  # declarations only; 4000 preprocessed lines
heavy_in_spec_headers = ("nlohmann", "fmt/", "boost/", "llvm/", "rapidcheck")
checked, between_rooms, faults = 0, 0, []


def room(path):
    """The folder below compiled/ of a path from the repository's root."""
    return "/".join(path.split("/")[1:-1])


for folder, may_see in allowed.items():
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in {".hpp", ".cpp", ".h"} or "adapters" in path.parts:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = include.match(line)
            if not found:
                continue
            checked += 1
            where = f"{path.relative_to(root)}:{number}"
            bracket, target = found.groups()
            first = target.split("/")[0]
            if bracket == '"':
                if first not in allowed or "/" not in target:
                    faults.append(f"{where}: \"{target}\" is not rooted at the repository")
                elif first not in may_see:
                    faults.append(f"{where}: {folder} may not include {first}")
                elif folder == "compiled" and first == "compiled":
                    between_rooms += 1
                    here = room(str(path.relative_to(root)))
                    if here not in rooms or room(target) not in rooms or rooms.index(room(target)) > rooms.index(here):
                        faults.append(f"{where}: compiled/{here} may not include {target}")
            elif folder == "spec" and path.suffix == ".hpp" and target not in light and target.startswith(heavy_in_spec_headers):
                faults.append(f"{where}: a header of spec may not include <{target}>")
print("\n".join(faults))
print(f"{checked} includes, {between_rooms} between rooms of compiled, {len(faults)} faults")
sys.exit(1 if faults or checked < 100 or between_rooms < 100 else 0)
