"""`python3 -m etalon` is the command `etalon`, on the path or beside this package."""
import os
import pathlib
import shutil
import sys

here = pathlib.Path(__file__).absolute()
beside = [folder / place for folder in here.parents for place in ("tools/etalon", "bin/etalon")]
command = next((str(p) for p in beside if p.is_file() and os.access(p, os.X_OK)), None) or shutil.which("etalon")
if command is None:
    sys.exit("etalon: the command is not on the path; tools/demo builds it")
os.execv(command, ["etalon", *sys.argv[1:]])
