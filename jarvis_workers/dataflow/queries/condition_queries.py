"""Syntactic queries on conditions and arithmetic: what a function compares, and the numbers that it computes again."""

from collections import Counter
from collections.abc import Iterator

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.queries.ast_queries import (
    JUMPS,
    OPPOSITE,
    ORDERED,
    OWN_PARTS,
    variables_in,
    walk,
    without_casts,
)
from jarvis_workers.dataflow.queries.pretty import text_of

GROWING = frozenset(("+", "-", "*", "<<"))


def repeated_conditions(function: ir.LoweredFunction) -> frozenset[str]:
    """Return the texts of the conditions that a function tests more than once."""
    once: set[str] = set()
    again: set[str] = set()
    for node in walk(function.body):
        if isinstance(node, (ir.IfStmt, ir.LoopStmt, ir.ConditionalExpr)) and node.condition is not None:
            for leaf in atomic_conditions(node.condition):
                text = fact_of(leaf)[0]
                (again if text in once else once).add(text)
    return frozenset(again)


def repeated_numbers(function: ir.LoweredFunction) -> frozenset[str]:
    """Return the texts of the operations and calls that a function computes more than once."""
    texts = Counter(text_of(node) for node in walk(function.body) if isinstance(node, (ir.BinaryExpr, ir.CallExpr)))
    return frozenset(text for text, times in texts.items() if times > 1)


def tested_calls(function: ir.LoweredFunction) -> frozenset[str]:
    """Return the texts of the calls whose results decide conditions."""
    return frozenset(
        text_of(call)
        for node in walk(function.body)
        if isinstance(node, (ir.IfStmt, ir.LoopStmt, ir.ConditionalExpr)) and node.condition is not None
        for leaf in atomic_conditions(node.condition)
        for call in ((leaf.left, leaf.right) if isinstance(leaf, ir.BinaryExpr) else (leaf,))
        if isinstance(call, ir.CallExpr)
    )


def limits_in(function: ir.LoweredFunction) -> dict[str, int]:
    """Return the variables that a function compares, but not with 0 or in the head of a loop, and the first line."""
    first: dict[str, int] = {}
    for statement in walk(function.body):
        parts = OWN_PARTS.get(type(statement))
        for node in walk((parts(statement),)) if parts is not None else ():
            if isinstance(node, ir.BinaryExpr) and node.op in ORDERED and ir.ZERO not in (node.left, node.right):
                for name in variables_in((node.left, node.right)):
                    first[name] = min(first.get(name, statement.line), statement.line)  # type: ignore[attr-defined]
    return first


def atomic_conditions(condition: ir.Expression) -> Iterator[ir.Expression]:
    """Yield the atomic conditions of a condition built with &&, || and !."""
    if isinstance(condition, (ir.AndExpr, ir.OrExpr)):
        yield from atomic_conditions(condition.left)
        yield from atomic_conditions(condition.right)
    elif isinstance(condition, ir.UnaryExpr) and condition.op == "!":
        yield from atomic_conditions(condition.operand)
    else:
        yield condition


def conjuncts(e: ir.Expression | None) -> Iterator[ir.Expression]:
    """Yield the parts of a condition that all hold if it does."""
    if isinstance(e, ir.AndExpr):
        yield from conjuncts(e.left)
        yield from conjuncts(e.right)
    elif e is not None:
        yield e


def fact_of(condition: ir.Expression) -> tuple[str, bool]:
    """Return the text of a condition in its positive form, and whether the condition was positive."""
    match condition:
        case ir.BinaryExpr(op="==" | "!=" as op, left=left, right=right) if right == ir.ZERO:
            return text_of(left), op == "!="
        case ir.BinaryExpr(op="!=" | ">=" | ">" as op):
            return text_of(condition._replace(op=OPPOSITE[op])), False
    return text_of(condition), True


def terms_of(e: ir.Expression) -> Iterator[ir.Expression]:
    """Yield the terms of a sum."""
    if isinstance(e, ir.BinaryExpr) and e.op == "+":
        yield from terms_of(e.left)
        yield from terms_of(e.right)
    else:
        yield e


def operations_in(e: ir.Expression) -> Iterator[ir.BinaryExpr]:
    """Yield the sums, differences, products and shifts that a number is computed by, outer ones first."""
    e = without_casts(e)
    if isinstance(e, ir.BinaryExpr) and e.op in GROWING:
        yield e
        yield from operations_in(e.left)
        yield from operations_in(e.right)


def wrap_checks(function: ir.LoweredFunction) -> frozenset[frozenset[ir.Expression]]:
    """Return the sums, by their terms, that a function compares with one of the terms, which a wrapped sum is below."""
    sums = set()
    for node in walk(function.body):
        if isinstance(node, ir.BinaryExpr) and node.op in ORDERED:
            for one, other in ((node.left, node.right), (node.right, node.left)):
                terms = frozenset(terms_of(without_casts(one)))
                if len(terms) > 1 and without_casts(other) in terms:
                    sums.add(terms)
    return frozenset(sums)


def rejections(function: ir.LoweredFunction) -> frozenset[int]:
    """Return the ids of the conditions that jump away if they hold, without a use of their variables."""
    return frozenset(
        id(condition)
        for node in walk(function.body)
        if isinstance(node, ir.IfStmt) and node.then and isinstance(node.then[-1], JUMPS)
        for condition in _alternatives(node.condition)
        if not variables_in((condition,)) & variables_in(node.then)
    )


def _alternatives(condition: ir.Expression) -> Iterator[ir.Expression]:
    """Yield the parts of a condition with && and || that are not negated."""
    if isinstance(condition, (ir.AndExpr, ir.OrExpr)):
        yield from _alternatives(condition.left)
        yield from _alternatives(condition.right)
    else:
        yield condition
