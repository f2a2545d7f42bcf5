"""Attributes and operands of a call bound to what a definition declares: its rows, extents and shapes."""
import mpmath

import meaning
from meaning import IllTyped


def number_of(attribute, value):
    """An attribute is the binary64 nearest to its text; JSON spells the non-finite ones."""
    if isinstance(value, str) and value in ("inf", "-inf", "nan") and attribute is not None:
        return mpmath.mpf(value)
    if isinstance(value, float):
        return mpmath.mpf(value)
    if isinstance(value, list):
        return [number_of(attribute, v) for v in value]
    return value


def bind_attributes(scope, given):
    for name, row, pack, default, kind in scope.definition.attributes:
        if name in given:
            value = number_of(name, given[name])
        elif default is not None:
            value = scope.evaluate(default)
            if isinstance(value, mpmath.mpf):
                value = mpmath.mpf(float(value))
        else:
            raise IllTyped(f"attribute {name} is missing")
        scope.names[name] = value
        if pack:
            scope.names[name + "#"] = value


def spread_rows(scope):
    """A list attribute with a row and one number as default stands for that number on every axis of the row."""
    for name, row, _, _, _ in scope.definition.attributes:
        value = scope.names[name]
        if row and row in scope.names and not isinstance(value, list):
            scope.names[name] = [value] * len(scope.names[row])
        elif row and isinstance(value, list) and row not in scope.names:
            scope.names[row] = value  # fixes the rank only


def unify(scope, operand, shape, member=None):
    """Solves the operand's declared axes for its shape."""
    rank, placed, free = len(shape), {}, []
    for segment in operand.axes:
        if segment[2] is None:
            free.append(segment)
            continue
        axes = meaning.axis_list(scope.names[segment[2]], rank)
        for axis in axes:
            placed[axis] = segment
        assign(scope, segment, [shape[a] for a in axes], member)
    rest = [shape[a] for a in range(rank) if a not in placed]
    rows = [s for s in free if s[0] == "row"]
    spare = len(rest) - (len(free) - len(rows))
    lengths = row_lengths(scope, operand, rows, spare, rank)
    at, row = 0, 0
    for segment in free:
        n = 1
        if segment[0] == "row":
            n, row = lengths[row], row + 1
        assign(scope, segment, rest[at:at + n], member)
        at += n
    if at != len(rest):
        raise IllTyped(f"{operand.name} has rank {rank}")


class Undecided(Exception):
    """The length of a row has to come from another operand."""


def row_lengths(scope, operand, rows, spare, rank):
    lengths = [known_length(scope, s) for s in rows]
    if lengths.count(None) == 2 and len(operand.axes) == 3 and operand.axes[1][2] is not None:
        lengths[0] = meaning.axis_list(scope.names[operand.axes[1][2]], rank)[0]  # a row on each side of a placed axis
    for at, segment in enumerate(rows):
        if lengths[at] is None and segment[1][1] in operand.single:
            lengths[at] = 1 if spare > sum(x for x in lengths if x is not None) else 0
    if lengths.count(None) > 1:
        raise Undecided(operand.name)
    if None in lengths:
        lengths[lengths.index(None)] = spare - sum(x for x in lengths if x is not None)
    return lengths


def known_length(scope, segment):
    name = segment[1][1] if segment[1][0] == "name" else None
    if name in scope.names and isinstance(scope.names[name], list):
        return len(scope.names[name])
    for attribute, row, _, _, _ in scope.definition.attributes:
        if row == name and isinstance(scope.names.get(attribute), list):
            return len(scope.names[attribute])
    return None


def assign(scope, segment, extents, member):
    kind, expression, _ = segment
    value = list(extents) if kind == "row" else extents[0]
    if expression[0] == "pack":
        scope.names.setdefault(expression[1] + "#", []).append(value)
        return
    if expression[0] != "name":
        if scope.evaluate(expression) != value:
            raise IllTyped(f"{expression} is {value}")
        return
    name = expression[1]
    if name in scope.names and scope.names[name] != value and not (name in scope.fixed_rank):
        raise IllTyped(f"{name} is {scope.names[name]} and {value}")
    scope.fixed_rank.discard(name)
    scope.names[name] = value


def joins_of(definition):
    """Names of rows that stand in a join anywhere in the definition."""
    found = set()

    def walk(e):
        if isinstance(e, (tuple, list)):
            if isinstance(e, tuple) and e and e[0] == "join":
                for side in e[1:]:
                    if side[0] == "name":
                        found.add(side[1])
                    walk(side)
            for child in e:
                walk(child)

    walk([r.axes for r in definition.results] + [list(x) for x in definition.lets])
    return found


def shape_of(scope, axes, member=None):
    rank_segments = [(s, extent_of(scope, s[1], member)) for s in axes]
    rank = sum(len(v) if s[0] == "row" else 1 for s, v in rank_segments)
    placed, free = {}, []
    for s, value in rank_segments:
        values = value if s[0] == "row" else [value]
        if s[2] is None:
            free += values
        elif values:
            for axis, extent in zip(meaning.axis_list(scope.names[s[2]], rank), values):
                placed[axis] = extent
    rest = iter(free)
    return [int(placed[a] if a in placed else next(rest)) for a in range(rank)]


def extent_of(scope, expression, member):
    if expression[0] == "pack" and member is not None:
        return scope.names[expression[1] + "#"][member]
    return scope.evaluate(expression)


def bind_operand(scope, operand, tensor, key):
    scope.axes[key] = operand.axes
    if tensor is None:
        scope.absent.add(key)
        return True
    try:
        unify(scope, operand, tensor.shape)
    except Undecided:
        return False
    spread_rows(scope)
    scope.tensors[key] = tensor
    return True
