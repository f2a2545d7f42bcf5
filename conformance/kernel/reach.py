"""What an interpreter reads to start and to import the modules that are named: one line, the interpreter and then paths, separated by
tabs; `r` before those that are read, `n` before folders whose names are looked through. It loads no kernel."""
import importlib
import os
import sys

for named in sys.argv[1:]:
    importlib.import_module(named)
library = os.path.dirname(os.__file__)
read = {os.path.join(sys.prefix, "pyvenv.cfg"), "/etc/ld.so.cache"}
# The standard library, without what is installed inside its folder.
read |= {entry.path for entry in os.scandir(library) if entry.name not in ("site-packages", "dist-packages")}
for name, module in list(sys.modules.items()):
    file = getattr(module, "__file__", None)
    if not file or file.startswith(library + os.sep) and "-packages" not in file:
        continue
    package = sys.modules.get(name.split(".")[0])
    for folder in getattr(package, "__path__", []):
        read.add(folder)
        read |= {entry.path for entry in os.scandir(os.path.dirname(folder)) if entry.name == os.path.basename(folder) + ".libs"}
    read.add(os.path.realpath(file))
with open("/proc/self/maps") as maps:
    read |= {line.split(None, 5)[5].rstrip("\n") for line in maps if "/" in line}
names = {path for path in sys.path if path} | {library}
print("\t".join([sys.executable] + sorted("r" + path for path in read) + sorted("n" + path for path in names)))
