"""Read code without following it: which calls it holds, what it assigns, which conditions it asks, how large it is."""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from jarvis_workers.dataflow.ir.expr import (
    LEAVES,
    NEWS,
    ZERO,
    AndExpr,
    AssignExpr,
    BinaryExpr,
    CallExpr,
    CastExpr,
    ConditionalExpr,
    ConstructExpr,
    Expression,
    NameExpr,
    NumberExpr,
    OrExpr,
    Statement,
    UnaryExpr,
    UpdateExpr,
)
from jarvis_workers.dataflow.ir.stmt import (
    BlockStmt,
    DeclStmt,
    ExprStmt,
    IfStmt,
    LabelStmt,
    LoopStmt,
    LoweredFunction,
    RangeForStmt,
    ReturnStmt,
    SwitchStmt,
    ThrowStmt,
    TryStmt,
)
from jarvis_workers.dataflow.name_heuristics import never_returns
from jarvis_workers.dataflow.pretty import said

__all__ = [
    "OPPOSITE",
    "asked_again",
    "assigned",
    "bodies",
    "calls_in",
    "fact_of",
    "holds_label",
    "leaves",
    "mentioned",
    "nature",
    "size_of_function",
    "walk",
    "without_casts",
]

# The parts that are expressions, for each kind of statement.
OWN_PARTS: dict[Any, Callable[[Any], Any]] = {
    ExprStmt: attrgetter("value"),
    DeclStmt: attrgetter("dims", "init"),
    IfStmt: attrgetter("condition"),
    SwitchStmt: attrgetter("subject"),
    ReturnStmt: attrgetter("value"),
    RangeForStmt: attrgetter("container"),
    ThrowStmt: attrgetter("value"),
}
CONDITIONAL = frozenset((AndExpr, OrExpr, ConditionalExpr))
# What holds no nodes.
HOLLOW = LEAVES | {str, int, bool, float, type(None)}
CALLS = frozenset((CallExpr, ConstructExpr, *NEWS))
OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
SMALL = 3
GIVERS = ("alloc", "dup", "open", "getenv", "fgets", "recv", "read", "scanf", "free", "new")


def walk(code: Any) -> Iterator[tuple[Any, ...]]:
    """Yield every node in statements and expressions but for leaves; those that stand together may be in a tuple."""
    stack = [code] if isinstance(code, tuple) else []
    push = stack.append
    while stack:
        node = stack.pop()
        if type(node) is not tuple:
            yield node
        for part in node:
            if type(part) not in HOLLOW:
                push(part)


def leaves(code: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the names, constants and unknown parts in statements and expressions, in no certain order."""
    stack = [(code,)]
    while stack:
        for part in stack.pop():
            kind = type(part)
            if kind in LEAVES:
                yield part
            elif kind not in HOLLOW:
                stack.append(part)


def calls_in(statement: Statement) -> list[Expression]:
    """Return the calls in a statement's own expressions, inner ones first."""
    found: list[Expression] = []
    parts = OWN_PARTS.get(type(statement))
    if parts is not None:
        _calls(parts(statement), found)
    return found


def _calls(code: Any, found: list[Expression]) -> None:
    """What is behind && or || or ? may not be reached, and is not followed beforehand."""
    kind = type(code)
    if kind in HOLLOW:
        return
    if kind in CONDITIONAL:
        _calls(code.condition if kind is ConditionalExpr else code.left, found)
        return
    for part in code:
        if type(part) not in HOLLOW:
            _calls(part, found)
    if kind in CALLS:
        found.append(code)


def assigned(code: tuple[Any, ...]) -> list[Expression]:
    """Return the places that some code assigns to, each once."""
    found: dict[Expression, None] = {}
    for node in walk(code):
        if isinstance(node, AssignExpr):
            found.setdefault(node.target)
        elif isinstance(node, UpdateExpr):
            found.setdefault(node.operand)
    return list(found)


def mentioned(code: tuple[Any, ...]) -> frozenset[str]:
    """Return the names of variables in some code."""
    return frozenset([leaf.name for leaf in leaves(code) if isinstance(leaf, NameExpr)])


def asked_again(function: LoweredFunction) -> frozenset[str]:
    """Return the texts of the conditions that a function asks more than once."""
    once: set[str] = set()
    again: set[str] = set()
    for node in walk(function.body):
        if isinstance(node, (IfStmt, LoopStmt, ConditionalExpr)) and node.condition is not None:
            for leaf in _leaves(node.condition):
                text = fact_of(leaf)[0]
                (again if text in once else once).add(text)
    return frozenset(again)


def _leaves(condition: Expression) -> Iterator[Expression]:
    """Yield the parts of a condition that are asked one by one."""
    if isinstance(condition, (AndExpr, OrExpr)):
        yield from _leaves(condition.left)
        yield from _leaves(condition.right)
    elif isinstance(condition, UnaryExpr) and condition.op == "!":
        yield from _leaves(condition.operand)
    else:
        yield condition


def fact_of(condition: Expression) -> tuple[str, bool]:
    """Return the text of a condition in its positive form, and whether it was positive."""
    match condition:
        case BinaryExpr(op="==" | "!=" as op, left=left, right=right) if right == ZERO:
            return said(left), op == "!="
        case BinaryExpr(op="!=" | ">=" | ">" as op):
            return said(condition._replace(op=OPPOSITE[op])), False
    return said(condition), True


def nature(function: LoweredFunction) -> tuple[bool, frozenset[str]]:
    """Tell whether a function makes, brings in or ends something whatever it is given; return the globals it names."""
    body = function.body
    constant = len(body) <= SMALL and all(
        isinstance(one, ReturnStmt) and isinstance(one.value, NumberExpr) for one in body
    )
    ends = any(isinstance(one, ExprStmt) and _never_returns(one.value) for one in body)
    return constant or ends or any(_gives(node) for node in walk(body)), frozenset(
        [f"g:{name}" for name in mentioned(body)]
    )


def _never_returns(e: Expression) -> bool:
    return isinstance(e, CallExpr) and isinstance(e.callee, NameExpr) and never_returns(e.callee.name)


def _gives(node: tuple[Any, ...]) -> bool:
    match node:
        case CallExpr(callee=NameExpr(name=name)):
            low = name.lower()
            return any(word in low for word in GIVERS)
    return isinstance(node, NEWS)


def without_casts(e: Expression) -> Expression:
    """Return what is cast, or assigned to."""
    while isinstance(e, (CastExpr, AssignExpr)):
        e = e.operand if isinstance(e, CastExpr) else e.target
    return e


def size_of_function(function: LoweredFunction, most: int) -> int:
    """Return how many statements a function has, or any number above `most` if there are more."""
    size = 0
    blocks: list[Sequence[Statement]] = [function.body]
    while blocks and size <= most:
        statements = blocks.pop()
        size += len(statements)
        for one in statements:
            blocks.extend(bodies(one))
    return size


def bodies(statement: Statement) -> Sequence[Sequence[Statement]]:
    """Return the statements that stand inside a statement."""
    match statement:
        case IfStmt(then=then, otherwise=otherwise):
            return then, otherwise
        case LoopStmt(body=body) | RangeForStmt(body=body) | BlockStmt(body=body):
            return (body,)
        case SwitchStmt(groups=groups):
            return [group.body for group in groups]
        case TryStmt(body=body, handlers=handlers):
            return (body, *handlers)
    return ()


def holds_label(statement: Statement, labels: dict[str, Any]) -> bool:
    """Tell whether one of some labels stands inside a statement."""
    return any(
        (isinstance(one, LabelStmt) and one.label in labels) or holds_label(one, labels)
        for body in bodies(statement)
        for one in body
    )
