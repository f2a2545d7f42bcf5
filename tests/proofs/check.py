"""Compiles proofs-notes/coq with the derivative table that this build prints, and finds for every theorem the axioms it
rests on: those of the real numbers and of the libraries, nothing else. Without Coq it says so and counts as skipped."""
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys

root, build, printer, coqc = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) / "coq", sys.argv[3], sys.argv[4]
skipped = 77
known_axioms = {  # of Coq's real numbers and of classical logic, as Flocq and Coquelicot use them
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
options = ["-q", "-w", "-ambiguous-paths", "-Q", str(build), "Etalon"]


def fail(message):
    print(message)
    sys.exit(1)


if not coqc or not shutil.which(coqc):
    print("proofs: Coq is not installed, nothing was checked; on Debian: "
          "apt-get install coq libcoq-flocq libcoq-coquelicot")
    sys.exit(skipped)

shutil.rmtree(build, ignore_errors=True)
build.mkdir(parents=True)
for source in sorted((root / "proofs-notes/coq").glob("*.v")):
    shutil.copy(source, build)
for name, what in (("scalar_table", "table"), ("scalar_complete", "completeness")):
    printed = subprocess.run([printer, what], check=True, capture_output=True, text=True).stdout
    (build / f"{name}.v").write_text(printed)

probe = build / "libraries.v"
probe.write_text("From Flocq Require Import Core.\nFrom Coquelicot Require Import Coquelicot.\n")
if subprocess.run([coqc, *options, str(probe)], capture_output=True).returncode != 0:
    print("proofs: Coq is here but Flocq or Coquelicot is not, nothing was checked; on Debian: "
          "apt-get install libcoq-flocq libcoq-coquelicot")
    sys.exit(skipped)
probe.unlink()

texts = {f.stem: f.read_text() for f in sorted(build.glob("*.v"))}
needs = {name: set(re.findall(r"\bEtalon\.(\w+)", " ".join(re.findall(r"Require Import[^.]*(?:\.\w[^.]*)*\.\s", text))))
         for name, text in texts.items()}
unknown = {n for used in needs.values() for n in used} - texts.keys()
if unknown:
    fail(f"proofs: no file for {', '.join(sorted(unknown))}")


def compile_file(name):
    run = subprocess.run([coqc, *options, f"{name}.v"], cwd=build, capture_output=True, text=True)
    return name, run.returncode, run.stdout + run.stderr


compiled, running = set(), {}
with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
    while len(compiled) < len(texts):
        for name in sorted(texts.keys() - compiled - {n for n in running.values()}):
            if needs[name] <= compiled:
                running[pool.submit(compile_file, name)] = name
        if not running:
            fail(f"proofs: files that need each other: {', '.join(sorted(texts.keys() - compiled))}")
        done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            name, code, output = future.result()
            del running[future]
            if code != 0:
                pool.shutdown(cancel_futures=True)
                fail(f"proofs: {name}.v is refused\n{output}")
            compiled.add(name)

theorems = [(name, theorem) for name, text in texts.items()
            for theorem in re.findall(r"^\s*(?:Theorem|Corollary)\s+(\w+)", text, re.M)]


def axioms_of(some):
    """What these theorems rest on, together: looking through the libraries once takes as long as for one of them."""
    lines = [f"Require Etalon.{name}." for name in texts]
    lines += [f"Definition proved_{i} := @Etalon.{name}.{theorem}." for i, (name, theorem) in enumerate(some)]
    lines.append(f"Definition all_proved := ({', '.join(f'proved_{i}' for i in range(len(some)))}, tt).")
    lines.append("Print Assumptions all_proved.")
    (build / "assumptions.v").write_text("\n".join(lines) + "\n")
    _, code, output = compile_file("assumptions")
    if code != 0:
        fail(f"proofs: the axioms cannot be printed\n{output}")
    axioms = set(re.findall(r"^([\w.']+)(?= *:|\n  :)", output.partition("Axioms:")[2], re.M))
    if not axioms and "Closed under the global context" not in output:
        fail(f"proofs: the axioms cannot be read\n{output}")
    return axioms


used = axioms_of(theorems)
faults = []
if used - known_axioms:
    for theorem in theorems:
        faults += [f"{theorem[1]}: rests on {axiom}" for axiom in sorted(axioms_of([theorem]) - known_axioms)]
printed = {theorem for _, theorem in theorems}

claimed = set(re.findall(r"\[proof: `(\w+)`\]", (root / "proofs-notes/ledger.md").read_text())) \
    if (root / "proofs-notes/ledger.md").exists() else set()
faults += [f"proofs-notes/ledger.md: calls {name} proved, which is no theorem" for name in sorted(claimed - printed)]
# The check itself can fail: on a theorem that is only admitted, and on a derivative that is twice what it should be.
(build / "admitted.v").write_text("Theorem admitted : 1 = 2.\nProof. Admitted.\n")
compile_file("admitted")
texts_of_all, texts = texts, {"admitted": ""}
if axioms_of([("admitted", "admitted")]) <= known_axioms:
    faults.append("an admitted theorem is not noticed")
texts = texts_of_all
table, changed = re.subn(r"(?m)^(Definition contribution_tanh_0 .* :=) (.*)\.$", r"\1 2 * \2.", texts["scalar_table"])
(build / "scalar_table.v").write_text(table)
if changed != 1 or any(compile_file(name)[1] for name in ("scalar_table", "curves")) or not compile_file("rules_smooth")[1]:
    faults.append("a wrong derivative is not noticed")

print("\n".join(faults))
print(f"{len(texts)} files, {len(printed)} theorems, {len(used)} axioms, {len(faults)} faults")
sys.exit(1 if faults or len(printed) != len(theorems) or len(printed) < 50 else 0)
