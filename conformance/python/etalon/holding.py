"""A callable held to the definitions: by the suite's own cases, verdicts and counterexamples."""
import collections.abc
import json
import pathlib

from etalon import _etalon
from etalon.answering import BAD, Answer, ByNumpy, Called, name_of
from etalon.calls import contract_words
from etalon.progress import Progress, notebook

WHOLE = ("i32", "i64", "bool")


def framework_of(like, device=None):
    """How operands are made: by NumPy, or by PyTorch; given as the module, or by its name."""
    name = "numpy" if like is None else like if isinstance(like, str) else like.__name__
    if name in ("numpy", "np"):
        return ByNumpy()
    if name == "torch":
        from etalon.torch_answers import ByTorch  # loads PyTorch, which who has none does not need
        return ByTorch(device)
    raise TypeError(f"like: expected numpy or torch, found {name}")


def waiver_text(waivers):
    """The JSON of a waivers' file, of its path, or of the list of its entries."""
    if waivers is None or isinstance(waivers, str) and waivers.lstrip().startswith("{"):
        return waivers
    return pathlib.Path(waivers).read_text() if isinstance(waivers, (str, pathlib.Path)) else json.dumps({"schema": 1, "waivers": list(waivers)})


class Held:
    """Callables by the names of the operations that they are held to, and what the suite is told of them."""

    def __init__(self, functions, asked=None, like=None, device=None, rename=None, jvp=None, vjp=None, modes=None, dtypes=None,
                 contract="ieee", name=None, replay="", **options):
        framework = framework_of(like, device)
        self.ops = [_etalon.op(op) if isinstance(op, str) else op for op in functions]
        called = {op.name: Called(function, op, rename) for op, function in zip(self.ops, functions.values())}
        self.answer = Answer(called, framework, jvp, vjp)
        own = [mode for mode, given in (("jvp", jvp), ("vjp", vjp)) if given]
        reals = [d for d in framework.dtypes if d not in WHOLE and (dtypes is None or d in dtypes)]
        self.description = {
            "name": name, "version": framework.version, "ops": self.ops, "contract": contract_words(contract),
            "dtypes": reals + list(WHOLE), "modes": modes or list(dict.fromkeys([*framework.modes, *own]))}
        options["waivers"] = waiver_text(options.get("waivers"))
        self.options = {"ops": self.ops if asked is None else list(asked), "modes": modes or [], "name": name, "replay_line": replay,
                        "dtypes": reals if dtypes is not None else [], **options}

    def run(self, on_record=None):
        return _etalon.conform(self.answer, self.description, self.options, on_record)


def replay_line(function, words):
    """The line that asks a case again."""
    like, shown = words.get("like"), []
    if like is not None:
        shown.append(f"like={like!r}" if isinstance(like, str) else f"like={like.__name__}")
    shown += [f"{key}={words[key]!r}" for key in ("rename", "contract", "device") if words.get(key) not in (None, "ieee")]
    shown += [f"{key}={name_of(words[key])}" for key in ("jvp", "vjp") if words.get(key)]
    return f"etalon.replay({', '.join([repr('ID'), name_of(function), *shown])})"


class Report:
    """What a run found. `status` is 0 where everything conforms, else 1."""

    def __init__(self, made):
        self._made = made

    records = property(lambda self: self._made.records, doc="One per case: id, operation, mode, dtype, check, verdict, why.")
    conforms = property(lambda self: self._made.conforms)
    conclusion = property(lambda self: self._made.conclusion, doc="One line.")
    totals = property(lambda self: self._made.totals, doc="Cases by verdict, and comparisons.")
    failures = property(lambda self: self._made.failures, doc="The counterexamples, made small, each with the line that asks it again.")
    status = property(lambda self: 0 if self.conforms else 1)

    def show(self):
        """Prints the counterexamples and the table, or displays the page in a notebook."""
        display = notebook()
        if display is not None:
            display({"text/html": self._repr_html_(), "text/plain": str(self)}, raw=True)
        else:
            print(self)

    def html(self, path):
        """Writes the page of `etalon conform --html`."""
        pathlib.Path(path).write_text(self._made.html(), encoding="utf-8")

    def junit(self, path):
        """Writes JUnit's XML."""
        pathlib.Path(path).write_text(self._made.junit(), encoding="utf-8")

    def json(self, path):
        """Writes the report that `etalon report` reads, as lines of JSON."""
        pathlib.Path(path).write_text(self._made.json(), encoding="utf-8")

    def __str__(self):
        return self._made.failures + self._made.table()

    def _repr_html_(self):
        page = self._made.html().replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" style="width:100%;height:30em;border:0"></iframe>'


def functions_of(backend, ops):
    """Callables by operation: a mapping, the attributes of a module or an object, or one callable for one operation."""
    if isinstance(backend, collections.abc.Mapping):
        return backend
    if callable(backend) and ops is not None and len(ops) == 1 and not hasattr(backend, "__path__"):
        return {ops[0]: backend}
    names = ops if ops is not None else [name for name in _etalon.operations() if callable(getattr(backend, name, None))]
    return {op: getattr(backend, op if isinstance(op, str) else op.name) for op in names}


def conform(backend, ops=None, on_record=None, tier="quick", seed=1, waivers=None, checks=(), **words):
    """Holds callables to the definitions, and returns the report.

    `backend` is a dictionary of callables by operation, or a module or object that has them as attributes; `ops` are those that are
    asked about, in programs beside all others. The other words are those of `assert_conforms`. `on_record` is called with each record as it
    comes. A terminal on standard error, or a notebook, shows how many there are meanwhile.

    >>> import numpy as np
    >>> report = conform({"neg": np.negative, "mul": np.multiply}, dtypes=["f32"])
    >>> report.conforms, report.totals["fail"]
    (True, 0)
    """
    functions = functions_of(backend, ops)
    missing = [op for op in ops or () if op not in functions]
    if missing:
        raise ValueError(f"conform: there is no callable for {missing[0]}")
    name = words.pop("name", None) or getattr(backend, "__name__", None) or type(backend).__name__
    held = Held(functions, ops, name=name, replay="etalon.replay('ID', …)", tier=tier, seed=seed, waivers=waivers, checks=list(checks), **words)
    progress = Progress(on_record)
    try:
        return Report(held.run(progress))
    finally:
        progress.end()


def counterexample(held, id, found):
    """A failing case made small, as the command prints it; what was found where it passes now."""
    passed, printed = _etalon.replay(id, held.answer, held.description, held.options)
    if passed:
        return f"{id}: {found}\n  asked once more it passes: does the answer hang on what was asked before?"
    return printed.rstrip("\n")


def assert_conforms(fn, op, *, like=None, device=None, jvp=None, vjp=None, modes=None, dtypes=None, checks=(), contract="ieee",
                    tier="quick", seed=1, waivers=None, rename=None):
    """Raises AssertionError with the smallest counterexample where a callable is not what an operation means.

    `fn(*operands, **attributes)` is called with arrays of `like` (numpy, or torch), as the definition orders them, strided in some
    cases; `rename={"axis": "dim"}` gives other keywords. Derivatives are asked of autograd where `like` has it, or of
    `jvp(operands, tangents, **attributes)` and `vjp(operands, cotangents, **attributes)`. What raises NotImplementedError, or does not
    fit the callable's signature, is unsupported, not passed; where nothing was compared the assertion fails.

    >>> import numpy as np
    >>> assert_conforms(np.negative, "neg", vjp=lambda xs, dys: (-dys[0],), dtypes=["f32"])
    """
    words = dict(like=like, device=device, jvp=jvp, vjp=vjp, modes=modes, dtypes=dtypes, contract=contract, rename=rename)
    held = Held({op: fn}, name=name_of(fn), replay=replay_line(fn, words), tier=tier, seed=seed, waivers=waivers, checks=list(checks),
                most_explained=0, **words)
    run = held.run()
    report = Report(run)
    # What was asked for by name is not passed over in silence.
    wanted = {*(modes or ()), *(mode for mode, given in (("jvp", jvp), ("vjp", vjp)) if given)}
    silent = sorted(wanted - {r.mode for r in report.records if r.verdict != "unsupported"})
    if report.conforms and not silent:
        return
    bad, asked = sum(report.totals[v] for v in BAD), len(report.records)
    if run.smallest:
        why = counterexample(held, run.smallest, next(r.why for r in run.records if r.id == run.smallest))
    else:
        reasons = dict.fromkeys(r.why for r in report.records if r.verdict == "unsupported")
        first = report.conclusion if not silent else f"nothing was compared in mode {silent[0]}"
        why = "\n".join([first, *(f"  unsupported: {reason}" for reason in reasons)])
    raise AssertionError(f"{name_of(fn)} does not conform to {held.ops[0].name}: {bad} of {asked} cases fail\n{why}")


def replay(id, fn, op=None, **words):
    """Asks one case again, prints what `etalon conform --replay` prints, and says whether it passes.

    `op` is needed for an operation of one's own; the other words are those of `assert_conforms`.
    """
    held = Held({op or id.split(".", 1)[0]: fn}, name=name_of(fn), replay=replay_line(fn, words), **words)
    passed, printed = _etalon.replay(id, held.answer, held.description, held.options)
    print(printed, end="")
    return passed
