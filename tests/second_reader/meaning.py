"""What a definition means, read a second time: direct interpretation with rows, in mpmath numbers, nothing elaborated."""
import itertools
import math

import mpmath

from functions import FUNCTIONS, INF, floor_quotient, power, quotient, remainder
from syntax import Definition


class IllTyped(Exception):
    pass


class NotYet(Exception):
    """The element has an equation that has not run: a recurrence in another order."""


class Tensor:
    def __init__(self, shape, values):
        self.shape, self.values = list(shape), values  # values: dict from index tuples

    @staticmethod
    def of(shape, flat):
        indices = itertools.product(*map(range, shape))
        return Tensor(shape, dict(zip(indices, flat)))

    def flat(self):
        return [self.values[i] for i in itertools.product(*map(range, self.shape))]


def broadcast(a, b):
    """The join of two rows."""
    n = max(len(a), len(b))
    a, b = [1] * (n - len(a)) + list(a), [1] * (n - len(b)) + list(b)
    out = []
    for x, y in zip(a, b):
        if x != y and 1 not in (x, y):
            raise IllTyped(f"{x} does not join {y}")
        out.append(y if x == 1 else x)
    return out


def completed(row, wanted):
    """The row, its one -1 replaced by what makes its size the wanted one."""
    others = [e for e in row if e != -1]
    if len(others) == len(row):
        return row
    if len(others) + 1 < len(row) or math.prod(others) <= 0 or wanted % math.prod(others):
        raise IllTyped(f"{row} has no one extent for its -1")
    return [wanted // math.prod(others) if e == -1 else e for e in row]


def flatten(value):
    return list(value) if isinstance(value, (list, tuple)) else value


class Scope:
    """Extents, rows, attributes and index variables by name; rows are lists."""

    def __init__(self, definition: Definition):
        self.definition = definition
        self.names = {}
        self.joined = set()  # rows that take part in a named join: they project
        self.tensors = {}
        self.axes = {}  # of tensors: declared segments
        self.absent = set()
        self.packs = {}
        self.ranges = {}  # of the index variables that are bound

    def lift(self, op, a, b):
        if isinstance(a, list) or isinstance(b, list):
            a = a if isinstance(a, list) else [a] * len(b)
            b = b if isinstance(b, list) else [b] * len(a)
            if len(a) != len(b):
                raise IllTyped(f"rows of {len(a)} and {len(b)}")
            return [op(x, y) for x, y in zip(a, b)]
        return op(a, b)

    def evaluate(self, e):
        return getattr(self, "on_" + {"+": "arithmetic", "-": "arithmetic", "*": "arithmetic", "/": "divide",
                                      "//": "arithmetic", "%": "arithmetic", "^": "power"}.get(e[0], e[0]))(e)

    def on_number(self, e):
        exact = e[1]
        if not e[2]:
            return int(exact)
        return mpmath.mpf(exact.numerator) / exact.denominator

    def on_name(self, e):
        if e[1] in self.names:
            return self.names[e[1]]
        if e[1] == "pi":
            return mpmath.pi
        if e[1] in ("true", "false"):
            return e[1] == "true"
        if e[1] == "inf":
            return INF
        if e[1] in self.tensors:
            return self.fetch(e[1], None, [])
        return e[1]  # a symbol

    def on_arithmetic(self, e):
        op = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
              "//": floor_quotient, "%": remainder}[e[0]]
        return self.lift(op, self.evaluate(e[1]), self.evaluate(e[2]))

    def on_divide(self, e):
        return self.lift(quotient, self.evaluate(e[1]), self.evaluate(e[2]))

    def on_power(self, e):
        return power(mpmath.mpf(self.evaluate(e[1])), mpmath.mpf(self.evaluate(e[2])))

    def on_neg(self, e):
        value = self.evaluate(e[1])
        return [-v for v in value] if isinstance(value, list) else -value

    def on_join(self, e):
        return broadcast(self.evaluate(e[1]), self.evaluate(e[2]))

    def on_row(self, e):
        return self.evaluate(e[1])

    def on_if(self, e):
        return self.evaluate(e[2] if self.evaluate(e[1]) else e[3])

    def on_and(self, e):
        return self.evaluate(e[1]) and self.evaluate(e[2])

    def on_or(self, e):
        return self.evaluate(e[1]) or self.evaluate(e[2])

    def on_not(self, e):
        return not self.evaluate(e[1])

    def on_compare(self, e):
        ops = {"==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
               "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}
        value = self.lift(ops[e[1]], self.evaluate(e[2]), self.evaluate(e[3]))
        return all(value) if isinstance(value, list) else value

    def on_else(self, e):
        try:
            return self.evaluate(e[1])
        except OutOfRange:
            return self.evaluate(e[2])

    def on_read(self, e):
        return self.fetch(e[1], e[2], e[3])

    def on_pack(self, e):
        members = self.names[e[1] + "#"]
        if e[2] == "all":
            return members
        member = members[self.names[e[2]]]
        return self.tensors[(e[1], self.names[e[2]])].values[()] if e[1] in self.packs else member

    def on_reduce(self, e):
        _, which, binders, guard, body = e
        bound = [(b, self.range_of(b, (guard, body))) for b in binders]
        saved = dict(self.names)
        self.ranges.update({name: r for (_, name, _), r in bound})
        seen = []
        for values in itertools.product(*[self.values_in(r) for _, r in bound]):
            for ((is_row, name, _), _), value in zip(bound, values):
                self.names[name] = value
            if guard is None or self.evaluate(guard):
                seen.append((values, self.evaluate(body)))
        self.names = saved
        return self.fold(which, [v for _, v in seen], seen, bound)

    def fold(self, which, values, seen, bound):
        if which == "sum":
            return sum(values) if values else 0
        if which == "prod":
            return math.prod(values)
        if which in ("any", "all"):
            return {"any": any, "all": all}[which](values)
        if not values:
            raise OutOfRange("an extremum of nothing")
        nans = [i for i, v in enumerate(values) if mpmath.isnan(v)]  # the first NaN beats every number
        best = max(values) if which in ("max", "argmax") else min(values)
        if which in ("max", "min"):
            return mpmath.nan if nans else best
        at = flat_list(seen[nans[0] if nans else values.index(best)][0])
        extents = flat_list([r for _, r in bound])
        position = 0
        for index, extent in zip(at, extents):
            position = position * extent + index
        return position

    def on_list(self, e):
        return [self.evaluate(item) for item in e[1]]

    def on_call(self, e):
        name, args = e[1], e[2]
        if name == "inside":
            read = args[0]
            try:
                self.fetch(read[1], read[2], read[3])
            except OutOfRange:
                return False
            return True
        if name == "before":
            member = args[0]
            return sum(self.names[member[1] + "#"][: self.names[member[2]]])
        values = [self.evaluate(a) for a in args]
        if name in ("total", "count", "size"):
            return {"total": sum, "count": len, "size": math.prod}[name](values[0])
        if name == "rank":
            return len(values[0])
        if name == "part":
            return [e for axis, e in enumerate(values[0]) if values[1] <= axis < values[2]]
        if name == "completed":
            return completed(values[0], values[1])
        if name in ("keep", "only"):
            row = values[0] if isinstance(values[0], list) else [values[0]]
            if name == "keep":
                return [1] * len(row) if values[1] else []
            return row if values[1] else []
        if name == "flat":
            position = 0
            extents = values[1] if len(values) > 1 else self.ranges[args[0][1][1]]
            for index, extent in zip(values[0], extents):
                position = position * extent + index
            return position
        if name == "unflat":
            position, out = values[0], []
            for extent in reversed(values[1]):
                out.insert(0, position % extent if extent else 0)
                position //= extent or 1
            return out
        if any(isinstance(v, list) for v in values):
            n = max(len(v) for v in values if isinstance(v, list))
            columns = [v if isinstance(v, list) else [v] * n for v in values]
            return [FUNCTIONS[name](*c) for c in zip(*columns)]
        if name not in ("philox", "integer"):
            values = [mpmath.mpf(v) if not isinstance(v, bool) else v for v in values] if name not in (
                "maximum", "minimum", "abs", "sign", "detach", "floor", "ceil", "trunc", "round") else values
        return FUNCTIONS[name](*values)

    # reading -----------------------------------------------------------------------------------------------------
    def fetch(self, name, pack, items):
        if name in self.absent:
            raise OutOfRange(name)
        key = (name, self.names[pack]) if pack else name
        tensor = self.tensors[key]
        index = self.position(self.axes[key], items, len(tensor.shape), tensor.shape)
        for at, extent in zip(index, tensor.shape):
            if not 0 <= at < extent:
                raise OutOfRange(f"{name}{index}")
        if tuple(index) not in tensor.values:
            raise NotYet(f"{name}{index}")
        return tensor.values[tuple(index)]

    def position(self, segments, items, rank, shape):
        """One index per axis, after placement; rows that take part in a join project."""
        free = [s for s in segments if s[2] is None]
        unplaced, placed = [], {}
        for is_row, value, _, placement in items:
            here = self.evaluate(value)
            if placement is None:
                segment = free.pop(0) if free else None
                unplaced += self.projected(here, segment) if is_row else [here]
            else:
                for axis, at in zip(axis_list(self.names[placement], rank), here if is_row else [here]):
                    placed[axis] = at
        index, rest = [], iter(unplaced)
        for axis in range(rank):
            at = placed[axis] if axis in placed else next(rest, None)
            if at is None:
                raise IllTyped("too few indices")
            index.append(int(at))
        return index

    def projected(self, here, segment):
        if segment is None or segment[0] != "row" or segment[1][0] != "name" or segment[1][1] not in self.joined:
            return here
        extents = self.names[segment[1][1]]
        here = here[len(here) - len(extents):]
        return [0 if extent == 1 else at for at, extent in zip(here, extents)]

    # ranges ------------------------------------------------------------------------------------------------------
    def values_in(self, r):
        return [list(v) for v in itertools.product(*map(range, r))] if isinstance(r, list) else range(r)

    def range_of(self, binder, places):
        is_row, name, bound = binder
        if bound is not None:
            value = self.evaluate(bound)
            return list(value) if is_row else value
        for pack in filter(None, (self.pack_numbered(place, name) for place in places)):
            return self.packs[pack]
        for projecting in (False, True):  # an index of a joined row has that row's own range if nothing else says
            for place in places:
                found = self.search(place, name, projecting)
                if found is not None:
                    return found
        raise IllTyped(f"no range for index {name}")

    def pack_numbered(self, e, name):
        """The pack whose members `name` numbers in a read below `e`."""
        if not isinstance(e, (tuple, list)) or not e:
            return None
        if isinstance(e, tuple) and e[0] == "read" and e[2] == name:
            return e[1]
        return next(filter(None, (self.pack_numbered(child, name) for child in e)), None)

    def search(self, e, name, projecting):
        """The extent at which `name` occurs bare in a read below `e`."""
        if not isinstance(e, (tuple, list)) or not e:
            return None
        if isinstance(e, tuple) and e[0] == "read":
            found = self.bare(e, name, projecting)
            if found is not None:
                return found
        for child in e:
            found = self.search(child, name, projecting) if isinstance(child, (tuple, list)) else None
            if found is not None:
                return found
        return None

    def bare(self, e, name, projecting=False):
        _, tensor, pack, items = e
        if tensor in self.absent:
            segments = self.axes[tensor]
        else:
            key = (tensor, self.names[pack]) if pack and pack in self.names else tensor
            if key not in self.axes:
                return None
            segments = self.axes[key]
        member = tensor[1] if isinstance(tensor, tuple) else self.names.get(pack)
        free = [s for s in segments if s[2] is None]
        for is_row, value, _, placement in items:
            segment = next((s for s in segments if s[2] == placement), None) if placement else (free.pop(0) if free else None)
            if value == ("name", name) and segment is not None:
                if not projecting and segment[0] == "row" and is_row and segment[1][0] == "name" and segment[1][1] in self.joined:
                    continue
                try:
                    extent = self.member_extent(segment[1], member)
                except (KeyError, TypeError):
                    continue
                if is_row:
                    return extent if isinstance(extent, list) else [extent]
                return extent[0] if isinstance(extent, list) and len(extent) == 1 else extent
        return None

    def member_extent(self, e, member):
        if member is not None and e[0] == "pack":
            return self.names[e[1] + "#"][member]
        return self.evaluate(e)


class OutOfRange(Exception):
    pass


def axis_list(value, rank):
    if value == "reversed":
        return list(range(rank))[::-1]
    listed = range(rank) if value == "all" else (value if isinstance(value, list) else [value])
    return [a % rank if rank else a for a in listed]


def flat_list(values):
    return [x for v in values for x in (v if isinstance(v, list) else [v])]
