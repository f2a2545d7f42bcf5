"""One call of a definition, typed and evaluated by the second reader."""
import itertools

import mpmath

import functions
import meaning
from binding import bind_attributes, bind_operand, joins_of, shape_of, spread_rows
from meaning import IllTyped, Scope, Tensor


def call(definition, operands, packs, attributes, part=()):
    """operands: Tensor or None in order; packs: the length of each pack. Returns the results in order.

    part: the equations of an `also` part, which take the place of those that give the same tensors.
    """
    scope = Scope(definition)
    scope.fixed_rank, scope.wraps, scope.waiting = set(), {}, []
    scope.joined = joins_of(definition)
    bind_attributes(scope, attributes)
    for name, row, _, _, _ in definition.attributes:
        if row and isinstance(scope.names[name], list) and row not in scope.names:
            scope.fixed_rank.add(row)
    given, lengths, waiting = list(operands), list(packs), []
    for operand in definition.operands:
        if operand.pack:
            n = lengths.pop(0) if lengths else len(given) - (len(definition.operands) - 1)
            scope.names[operand.name + "#"] = list(range(n))
            scope.packs[operand.name] = n
            waiting += [(operand, given.pop(0), (operand.name, t)) for t in range(n)]
        else:
            waiting.append((operand, given.pop(0) if given else None, operand.name))
    while waiting:
        left = [w for w in waiting if not bind_operand(scope, *w)]
        if len(left) == len(waiting):
            raise IllTyped(f"the rank of {left[0][0].name} is open")
        waiting = left
    spread_rows(scope)
    return results(scope, part)


def results(scope, part=()):
    definition = scope.definition
    for operand in definition.operands:  # a row that only an absent operand has is empty, an extent 1
        for kind, expression, _ in operand.axes:
            if operand.name in scope.absent and expression[0] == "name":
                scope.names.setdefault(expression[1], [] if kind == "row" else 1)
    for is_row, name, value in definition.lets:
        scope.names[name] = scope.evaluate(value)
    for condition in definition.requires:
        if not scope.evaluate(condition):
            raise IllTyped(f"requires {condition}")
    declared = {r.name: r for r in definition.results}
    keys, common = [], common_type(scope)
    for r in definition.results:
        scope.wraps[r.name] = scope.names.get(r.kind) if r.kind != "T" else common
        for member in range(members_of_results(scope)) if r.pack else [None]:
            key = r.name if member is None else (r.name, member)
            keys.append(key)
            scope.axes[key] = r.axes
            scope.tensors[key] = Tensor(shape_of(scope, r.axes, member), {})
    given = {equation[0] for equation in part}
    for equation in [e for e in definition.equations if not isinstance(e[0], str) or e[0] not in given] + list(part):
        if equation[3] is not None and not scope.evaluate(equation[3]):
            continue
        if is_invocation(equation):
            invoke(scope, equation)
        else:
            assign_equation(scope, equation, equation[0] in declared)
    settle(scope)
    out = []
    for key in keys:
        tensor = scope.tensors[key]
        if len(tensor.values) != len(list(itertools.product(*map(range, tensor.shape)))):
            raise IllTyped(f"{key} is not written everywhere")
        out.append(tensor)
    return out


def members_of_results(scope):
    """A pack of results is as long as the first pack of operands, or of attributes."""
    if scope.packs:
        return next(iter(scope.packs.values()))
    return next(len(scope.names[name]) for name, _, pack, _, _ in scope.definition.attributes if pack)


def common_type(scope):
    """The element type that the operands share, which results have that name none."""
    for operand in scope.definition.operands:
        for key, tensor in scope.tensors.items():
            name = key[0] if isinstance(key, tuple) else key
            if operand.kind in ("T", "real", "number", "any") and operand.name == name:
                return getattr(tensor, "dtype", None)
    return None


DEFINITIONS = {}  # by name: what an equation may call


def is_invocation(equation):
    """A right side that is nothing but a call of another operation."""
    target, pack, items, _, value = equation
    return pack is None and not items and value[0] == "call" and value[1] not in functions.FUNCTIONS and value[1] in DEFINITIONS


def invoke(scope, equation):
    targets = equation[0] if isinstance(equation[0], list) else [equation[0]]
    callee, arguments, settings = DEFINITIONS[equation[4][1]], equation[4][2], (equation[4] + ([],))[3]
    operands, packs = [], []
    for argument in arguments:
        if argument[0] == "pack":
            packs.append(scope.packs[argument[1]])
            operands += [scope.tensors.get((argument[1], t)) for t in range(packs[-1])]
        else:
            operands.append(scope.tensors.get(argument[1]))
    symbols = {name: default for name, _, _, default, _ in callee.attributes if default and default[0] == "name"}
    attributes = {name: setting(scope, name, value, symbols) for name, value in settings}
    given = call(callee, operands, packs, attributes)
    if len(given) != len(targets):
        raise IllTyped(f"{callee.name} gives {len(given)} results")
    for target, tensor in zip(targets, given):
        if target in scope.tensors:
            if scope.tensors[target].shape != tensor.shape:
                raise IllTyped(f"{target} has another shape")
            scope.tensors[target] = tensor
            continue
        scope.axes[target] = []
        for axis, extent in enumerate(tensor.shape):
            scope.names[f"{target}.{axis}"] = extent
            scope.axes[target].append(("axis", ("name", f"{target}.{axis}"), None))
        scope.tensors[target] = tensor


def setting(scope, name, value, symbols):
    if value[0] == "list":
        return [scope.evaluate(v) for v in value[1]]
    if value[0] == "name" and value[1] not in scope.names:
        return value[1] if name in symbols or value[1] == "all" else scope.evaluate(value)
    return scope.evaluate(value)


def assign_equation(scope, equation, is_result):
    name, tag, items, _, value = equation
    members = packs_on_the_left(items, value)
    sizes = [scope.packs[p] for _, p in members]
    if tag and tag not in [t for t, _ in members]:
        members, sizes = members + [(tag, name)], sizes + [members_of_results(scope)]
    for choice in itertools.product(*map(range, sizes)):
        for (t, _), member in zip(members, choice):
            scope.names[t] = member
        target = (name, scope.names[tag]) if tag else name
        binders = lhs_binders(scope, target, items, value, is_result)
        if not is_result:
            declare_local(scope, target, items, binders)
        saved = dict(scope.names)
        scope.ranges.update(binders)
        for values in itertools.product(*[scope.values_in(r) for _, r in binders]):
            scope.names.update({name: v for (name, _), v in zip(binders, values)})
            names, ranges = dict(scope.names), dict(scope.ranges)
            wraps = scope.wraps.get(name)
            if not give_element(scope, target, items, value, wraps):
                scope.waiting.append((names, ranges, target, items, value, wraps))
            scope.names = dict(names)
        scope.names = {k: v for k, v in saved.items() if k not in [t for t, _ in members]}


def give_element(scope, target, items, value, wraps):
    """One element; nothing where it reads an element that has no value yet."""
    tensor = scope.tensors[target]
    index = scope.position(scope.axes[target], items, len(tensor.shape), tensor.shape)
    try:
        tensor.values[tuple(index)] = wrapped(scope.evaluate(value), wraps)
    except meaning.NotYet:
        return False
    return True


def settle(scope):
    """Recurrences: whatever waits for other elements, in whatever order there is."""
    while scope.waiting:
        left = []
        for task in scope.waiting:
            scope.names, scope.ranges = dict(task[0]), dict(task[1])
            if not give_element(scope, *task[2:]):
                left.append(task)
        if len(left) == len(scope.waiting):
            raise IllTyped(f"{left[0][2]} depends on itself")
        scope.waiting = left


def wrapped(value, dtype):
    """What an equation gives to a result of a declared element type becomes that type: integers wrap, reals do not."""
    if dtype == "bool":
        return bool(value != 0)
    if isinstance(value, bool) and dtype is not None:
        value = int(value)
    bits = {"i32": 32, "i64": 64}.get(dtype)
    if bits is None:
        return value
    if isinstance(value, mpmath.mpf):
        return functions.whole(value, bits)
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def packs_on_the_left(items, value):
    """Index names that run over the members of a pack, with the pack's name."""
    found, bound = [], set()

    def walk(e):
        if isinstance(e, (tuple, list)):
            if isinstance(e, tuple) and e and e[0] == "reduce":
                bound.update(name for _, name, _ in e[2])
            if isinstance(e, tuple) and e and e[0] in ("read", "pack") and e[2] not in (None, "all"):
                if e[0] == "read" and e[2] not in [t for t, _ in found]:
                    found.append((e[2], e[1]))
            for child in e:
                walk(child)

    walk(value)
    return [(t, pack) for t, pack in found if t not in bound]


def lhs_binders(scope, target, items, value, is_result):
    binders, names = [], []
    for is_row, expression, bound, placement in items:
        for name in index_names(scope, expression):
            if name not in names:
                names.append(name)
                binders.append((name, binder_range(scope, target, (is_row, name, bound), items, value, is_result)))
    return binders


def index_names(scope, e):
    """Names in a left side that are not extents, attributes or functions: its index variables."""
    if not isinstance(e, tuple):
        return []
    if e[0] == "name":
        return [] if e[1] in scope.names and e[1] != "..." else [e[1]]
    if e[0] == "call" and e[1] in ("before", "total", "count", "size"):
        return []
    return [n for child in e[1:] for n in index_names(scope, child)]


def binder_range(scope, target, binder, items, value, is_result):
    is_row, name, bound = binder
    if bound is None and is_result:
        found = scope.bare(("read", target, None, items), name)
        if found is not None and bare_item(items, name):
            return found
    if name == "..." and bound is None and "..." in scope.names:
        return scope.names["..."]
    return scope.range_of(binder, (value,))


def bare_item(items, name):
    return any(value == ("name", name) for _, value, _, _ in items)


def declare_local(scope, target, items, binders):
    axes, ranges = [], dict(binders)
    for is_row, expression, _, placement in items:
        kind = "row" if is_row else "axis"
        literal = ranges[expression[1]]
        holder = f"{target}.{expression[1]}"
        scope.names[holder] = literal
        if is_row and scope.joined:
            scope.joined.add(holder)  # a local over a row is read as that row is
        axes.append((kind, ("name", holder), placement))
    scope.axes[target] = axes
    scope.tensors[target] = Tensor(shape_of(scope, axes), {})
