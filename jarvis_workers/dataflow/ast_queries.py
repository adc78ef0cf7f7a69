"""Read code without following it: which calls it holds, what it assigns, which conditions it asks, how large it is."""

from collections.abc import Iterator, Sequence
from typing import Any

from jarvis_workers.dataflow.name_heuristics import never_returns
from jarvis_workers.dataflow.pretty import said
from jarvis_workers.dataflow.values import Expression, Statement

__all__ = [
    "OPPOSITE",
    "asked_again",
    "assigned",
    "bodies",
    "calls_in",
    "fact_of",
    "holds_label",
    "length_of_text",
    "mentioned",
    "nature",
    "size_of_function",
    "walk",
    "without_casts",
]

# Where the parts that are expressions stand, for each kind of statement.
OWN_PARTS = {"e": (2,), "d": (4, 5), "if": (2,), "sw": (2,), "ret": (2,), "each": (4,), "throw": (2,)}
OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
SMALL = 3
GIVERS = ("alloc", "dup", "open", "getenv", "fgets", "recv", "read", "scanf", "free", "new")


def walk(node: Any) -> Iterator[list[Any]]:
    """Yield every list in statements and expressions that begins with a word."""
    stack = [node] if type(node) is list else []
    while stack:
        at = stack.pop()
        if at and type(at[0]) is str:
            yield at
        for part in at[2:] if at and at[0] == "fn" else at:
            if type(part) is list:
                stack.append(part)


def calls_in(statement: Statement) -> list[Expression]:
    """Return the calls in a statement's own expressions, inner ones first."""
    found: list[Expression] = []
    for part in OWN_PARTS.get(statement[0], ()):
        if isinstance(statement[part], list):
            _calls(statement[part], found)
    return found


def _calls(expression: list[Any], found: list[Expression]) -> None:
    """What is behind && or || or ? may not be reached, and is not followed beforehand."""
    kind = expression[0] if expression else None
    parts = expression[:2] if kind in ("&&", "||", "?:") else expression[2:] if kind == "fn" else expression
    for part in parts:
        if type(part) is list and part:
            _calls(part, found)
    if kind in ("c", "ctor", "new"):
        found.append(expression)


def assigned(parts: list[Any]) -> list[Expression]:
    """Return the places that some code assigns to, each once."""
    found: dict[str, Expression] = {}
    for node in walk(parts):
        place = None
        if node[0] == "=" and len(node) > 3:
            place = node[2]
        elif node[0] == "++" and len(node) == 4:
            place = node[3]
        if place is not None:
            found.setdefault(str(place), place)
    return list(found.values())


def mentioned(parts: list[Any]) -> frozenset[str]:
    """Return the names of variables in some code."""
    return frozenset(node[1] for node in walk(parts) if node[0] == "v")


def asked_again(function: dict[str, Any]) -> frozenset[str]:
    """Return the texts of the conditions that a function asks more than once."""
    once: set[str] = set()
    again: set[str] = set()
    for node in walk(function["body"]):
        place = CONDITION_AT.get(node[0])
        if place and node[place]:
            for leaf in _leaves(node[place]):
                text = fact_of(leaf)[0]
                (again if text in once else once).add(text)
    return frozenset(again)


CONDITION_AT = {"if": 2, "loop": 4, "?:": 1}


def _leaves(condition: Any) -> Iterator[Expression]:
    """Yield the parts of a condition that are asked one by one."""
    if condition[0] in ("&&", "||"):
        yield from _leaves(condition[1])
        yield from _leaves(condition[2])
    elif condition[0] == "u" and condition[1] == "!":
        yield from _leaves(condition[2])
    else:
        yield condition


def fact_of(condition: Expression) -> tuple[str, bool]:
    """Return the text of a condition in its positive form, and whether it was positive."""
    if condition[0] == "b" and condition[1] in ("==", "!=") and condition[3] == ["n", 0]:
        return said(condition[2]), condition[1] == "!="
    if condition[0] == "b" and condition[1] in ("!=", ">=", ">"):
        return said(["b", OPPOSITE[condition[1]], condition[2], condition[3]]), False
    return said(condition), True


def nature(function: dict[str, Any]) -> tuple[bool, frozenset[str]]:
    """Tell whether a function makes, brings in or ends something whatever it is given, and which names it mentions."""
    body = function["body"]
    constant = len(body) <= SMALL and all(one[0] == "ret" and one[2] and one[2][0] == "n" for one in body)
    ends = any(one[0] == "e" and _never_returns(one[2]) for one in body)
    return constant or ends or any(_gives(node) for node in walk(body)), mentioned(body)


def _never_returns(e: Expression) -> bool:
    return e[0] == "c" and e[1][0] == "v" and never_returns(e[1][1])


def _gives(node: list[Any]) -> bool:
    if node[0] == "new":
        return True
    if node[0] != "c" or node[1][0] != "v":
        return False
    low = node[1][1].lower()
    return any(word in low for word in GIVERS)


def without_casts(expression: Expression) -> Expression:
    """Return what is cast, or assigned to."""
    while expression and expression[0] in ("t", "="):
        expression = expression[2]
    return expression


def length_of_text(text: Expression) -> int:
    """Return the number of characters of a literal; a long one has it behind what is kept of it."""
    return int(text[3]) if len(text) > 3 else len(text[1])


def size_of_function(function: dict[str, Any], most: int) -> int:
    """Return how many statements a function has, or any number above `most` if there are more."""
    size = 0
    blocks: list[list[Statement]] = [function["body"]]
    while blocks and size <= most:
        statements = blocks.pop()
        size += len(statements)
        for one in statements:
            blocks.extend(bodies(one))
    return size


def bodies(statement: Statement) -> Sequence[list[Statement]]:
    """Return the statements that stand inside a statement."""
    kind = statement[0]
    if kind == "if":
        return statement[3], statement[4]
    if kind == "sw":
        return [body for _, body in statement[3]]
    if kind == "try":
        return [statement[2], *statement[3]]
    place = BODY_AT.get(kind)
    return (statement[place],) if place else ()


BODY_AT = {"loop": 6, "each": 5, "blk": 2}


def holds_label(statement: Statement, labels: dict[str, Any]) -> bool:
    """Tell whether one of some labels stands inside a statement."""
    return any(
        (one[0] == "lab" and one[2] in labels) or holds_label(one, labels) for body in bodies(statement) for one in body
    )
