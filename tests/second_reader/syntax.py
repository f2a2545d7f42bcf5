"""The notation's grammar, read a second time and independently: text of a definition to a tree of tuples."""
import re
from dataclasses import dataclass, field
from fractions import Fraction

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+)|(?P<name>[A-Za-z_]\w*[~']?)"
    r"|(?P<op>\.\.\.|\.\.|->|//|==|!=|<=|>=|[-+*/%^()\[\]{},:=<>?#@&~|]))")
REDUCTIONS = {"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"}
WORDS = {"if", "then", "else", "and", "or", "not", "where", "when"} | REDUCTIONS


class Malformed(Exception):
    pass


@dataclass
class Operand:
    name: str
    axes: list  # of (kind, expression, placement) with kind "row" or "axis"
    kind: str = "T"
    optional: bool = False
    pack: bool = False
    single: set = field(default_factory=set)  # rows of at most one axis, `..m?`


@dataclass
class Definition:
    name: str
    operands: list
    attributes: list  # of (name, row or None, pack, default expression or None, kind)
    results: list
    lets: list = field(default_factory=list)  # of (is_row, name, expression)
    requires: list = field(default_factory=list)
    parts: list = field(default_factory=list)  # of (also, jvp or vjp, equations)
    equations: list = field(default_factory=list)  # of (target, pack index, items, when, expression)


def tokens_of(text):
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise Malformed(f"unreadable at {text[at:at + 20]!r}")
        tokens.append((found.lastgroup, found.group(found.lastgroup)))
        at = found.end()
    return tokens


class Parser:
    def __init__(self, text):
        self.tokens, self.at = tokens_of(text), 0

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at][1] if at < len(self.tokens) else None

    def take(self, expected=None):
        token = self.peek()
        if token is None or (expected is not None and token != expected):
            raise Malformed(f"expected {expected}, found {token}")
        self.at += 1
        return token

    def accept(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def name(self):
        kind, text = self.tokens[self.at]
        if kind != "name" or text in WORDS - REDUCTIONS:
            raise Malformed(f"expected a name, found {text}")
        self.at += 1
        return text

    # expressions -------------------------------------------------------------------------------------------------
    def expression(self):
        if self.accept("if"):
            condition = self.disjunction()
            self.take("then")
            then = self.branch()
            self.take("else")
            return ("if", condition, then, self.expression())
        value = self.disjunction()
        if self.accept("else"):
            return ("else", value, self.expression())
        return value

    def branch(self):
        if self.peek() == "if":
            return self.expression()
        return self.disjunction()

    def disjunction(self):
        value = self.conjunction()
        while self.accept("or"):
            value = ("or", value, self.conjunction())
        return value

    def conjunction(self):
        value = self.negation()
        while self.accept("and"):
            value = ("and", value, self.negation())
        return value

    def negation(self):
        return ("not", self.negation()) if self.accept("not") else self.comparison()

    def comparison(self):
        left = self.joined()
        if self.peek() in ("==", "!=", "<", "<=", ">", ">="):
            op = self.take()
            return ("compare", op, left, self.joined())
        return left

    def joined(self):
        value = self.sum()
        while self.accept("&"):
            value = ("join", value, self.sum())
        return value

    def sum(self):
        value = self.product()
        while self.peek() in ("+", "-"):
            value = (self.take(), value, self.product())
        return value

    def product(self):
        value = self.unary()
        while self.peek() in ("*", "/", "//", "%"):
            value = (self.take(), value, self.unary())
        return value

    def unary(self):
        return ("neg", self.unary()) if self.accept("-") else self.power()

    def power(self):
        base = self.atom()
        return ("^", base, self.unary()) if self.accept("^") else base

    def atom(self):
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else (None, None)
        if text == "(":
            self.take()
            value = self.expression()
            self.take(")")
            return value
        if text in ("..", "..."):
            return self.row()
        if kind == "number":
            self.take()
            return ("number", Fraction(text), "." in text or "e" in text.lower())
        if text in REDUCTIONS and self.peek(1) == "[":
            return self.reduction()
        return self.named()

    def reduction(self):
        which = self.take()
        self.take("[")
        binders = [self.binder()]
        while self.accept(","):
            binders.append(self.binder())
        guard = self.disjunction() if self.accept("where") else None
        self.take("]")
        body = self.unary()
        while self.peek() == "*":
            self.take()
            body = ("*", body, self.unary())
        if self.peek() in ("/", "//", "%"):
            raise Malformed("a reduction is not divided without parentheses")
        return ("reduce", which, binders, guard, body)

    def binder(self):
        is_row = self.peek() in ("..", "...")
        name = "..." if self.accept("...") else None
        if name is None:
            if is_row:
                self.take("..")
            name = self.name()
        bound = None
        if self.accept("<"):
            bound = self.sum()
        return (is_row, name, bound)

    def row(self):
        if self.accept("..."):
            return ("row", ("name", "..."))
        self.take("..")
        if self.accept("("):
            inner = self.expression()
            self.take(")")
            return ("row", inner)
        return ("row", self.named())

    def named(self):
        name = self.name()
        pack = None
        if self.accept("#"):
            pack = self.name() if self.peek() and self.tokens[self.at][0] == "name" else "all"
        if self.peek() == "[":
            return ("read", name, pack, self.items())
        if pack is None and self.peek() == "(":
            self.take()
            args = []
            while not self.accept(")"):
                args.append(self.expression())
                self.accept(",")
            return ("call", name, args)
        return ("name", name) if pack is None else ("pack", name, pack)

    def items(self):
        """The indices of a read or a left side: (is_row, expression, bound, placement)."""
        self.take("[")
        items = []
        while not self.accept("]"):
            is_row = self.peek() in ("..", "...")
            value = self.sum()
            bound = self.sum() if self.accept("<") else None
            placement = self.name() if self.accept("@") else None
            items.append((is_row, value[1] if is_row else value, bound, placement))
            self.accept(",")
        return items

    # the header --------------------------------------------------------------------------------------------------
    def operand(self):
        operand = Operand(self.name(), [])
        operand.pack = self.accept("#")
        if self.peek() == "[":
            self.take()
            while not self.accept("]"):
                operand.axes.append(self.axis())
                if operand.axes[-1][0] == "row" and self.accept("?"):
                    operand.single.add(operand.axes[-1][1][1])
                self.accept(",")
        operand.optional = self.accept("?")
        if self.accept(":"):
            operand.kind = self.name()
        return operand

    def axis(self):
        if self.peek() in ("..", "..."):
            value = self.row()[1]
            kind = "row"
        else:
            value = self.expression()
            kind = "row" if value[0] == "call" and value[1] in ("keep", "only") else "axis"
        if self.peek() == "#":
            self.take()
        return (kind, value, self.name() if self.accept("@") else None)

    def attribute(self):
        name, row, default, kind = self.name(), None, None, None
        pack = self.accept("#")
        if self.accept("["):
            row = self.row()[1][1]
            self.take("]")
        if self.accept(":"):
            kind = self.name()
        if self.accept("="):
            default = ("list", self.listed("]", self.expression)) if self.accept("[") else self.expression()
            while self.accept("|"):  # the other symbols that the attribute may be
                self.name()
        if self.accept(":"):
            kind = self.name()
        return (name, row, pack, default, kind)

    def setting(self):
        name = self.name()
        self.take("=")
        if self.accept("["):
            return (name, ("list", self.listed("]", self.expression)))
        return (name, self.expression())

    def listed(self, close, one):
        found = []
        while not self.accept(close):
            found.append(one())
            self.accept(",")
        return found

    def end(self):
        if self.at != len(self.tokens):
            raise Malformed(f"unread: {self.peek()}")


def without_comments(text):
    return "\n".join(line.split("--")[0].rstrip() for line in text.split("\n") if line.split("--")[0].strip())


def clauses(text):
    """Logical lines: a line goes on while a bracket is open, and where the next one begins in the middle of a choice."""
    parts, depth = [""], 0
    for line in without_comments(text).split("\n"):
        if parts[-1] == "" and line.split()[0] in ("then", "else"):
            parts.pop()
        parts[-1] += " " + line.strip()
        depth = sum(parts[-1].count(c) for c in "([{") - sum(parts[-1].count(c) for c in ")]}")
        if depth == 0:
            parts.append("")
    return [p for p in parts if p.strip()]


def parse(text):
    lines = clauses(text)
    if "->" not in lines[0]:
        lines[0:2] = [lines[0] + " " + lines[1]]
    p = Parser(lines[0])
    definition = Definition(p.take(), [], [], [])
    p.take("(")
    definition.operands = p.listed(")", p.operand)
    if p.accept("{"):
        definition.attributes = p.listed("}", p.attribute)
    p.take("->")
    definition.results.append(p.operand())
    while p.accept(","):
        definition.results.append(p.operand())
    p.end()
    for line in lines[1:]:
        clause(definition, Parser(line))
    return definition


def clause(definition, p):
    if p.accept("family"):
        return
    if p.peek() in ("also", "jvp", "vjp"):
        definition.parts.append((p.take(), []))
        if p.peek() is None:
            return
    equations = definition.parts[-1][1] if definition.parts else definition.equations
    if p.accept("let"):
        is_row = p.accept("..")
        name = p.name()
        p.take("=")
        definition.lets.append((is_row, name, p.expression()))
    elif p.accept("requires"):
        definition.requires.append(p.disjunction())
    else:
        target, pack, items = p.name(), None, []
        if p.peek() == ",":
            target = [target]
            while p.accept(","):
                target.append(p.name())
        elif p.accept("#"):
            pack = p.name()
        if p.peek() == "[":
            items = p.items()
        when = p.disjunction() if p.accept("when") else None
        p.take("=")
        value = p.expression()
        if value[0] == "call" and p.accept("{"):
            value += (p.listed("}", p.setting),)
        equations.append((target, pack, items, when, value))
    p.end()
