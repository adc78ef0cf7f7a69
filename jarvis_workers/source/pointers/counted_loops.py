"""Loops that visit each element of an array: `for (i = 0; i < n; i++) … p[i] …`, with the parameter `n`."""

from collections.abc import Sequence

from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk
from jarvis_workers.source.pointers.pointer_uses import JUMPS, STEPS, FunctionUses, PointerUse, certain_nodes, stripped


def counted_length(function: FunctionUses, uses: Sequence[PointerUse], certain: set[int]) -> int | None:
    """Return the number of the parameter that is the length of an array, or None if that is uncertain.

    All accesses must be in such loops, one of which runs in every call and accesses each element.
    """
    lengths: set[int | None] = set()
    sure = False
    for use in uses:
        if not use.whole or use.kind not in ("index", "dereference"):
            continue
        loop = _loop_around(use.node, function)
        lengths.add(None if loop is None else _length_of(loop, use.node, function))
        sure = sure or (loop is not None and id(loop) in certain and id(use.node) in certain_nodes(loop.children[3]))
    return lengths.pop() if sure and len(lengths) == 1 else None


def _loop_around(access: SyntaxNode, function: FunctionUses) -> SyntaxNode | None:
    """Return the loop whose counter is the index of an access."""
    index = stripped(access.children[1]) if access.kind == "subscript" else None
    above = function.parent(access)
    while above is not None and index is not None:
        loop, number = above
        if loop.kind == "for" and number == 3 and index.local and index.local == _counter(loop):
            return loop
        above = function.parent(loop)
    return None


def _counter(loop: SyntaxNode) -> int:
    """Return the number of the variable that a loop increments from 0, or 0 if there is none."""
    start, _, step, _ = loop.children
    counted = (
        stripped(step.children[0]) if step is not None and step.kind == "unary" and step.operator in STEPS else None
    )
    if start is None or step is None or counted is None or "--" in step.operator:
        return 0
    if start.kind == "declaration" and len(start.children) == 1:
        (variable,) = start.children
        begins = variable is not None and variable.local == counted.local and _is_zero(variable.children[:1])
    else:
        target = stripped(start.children[0]) if start.operator == "=" else None
        begins = target is not None and target.local == counted.local and _is_zero(start.children[1:])
    return counted.local if begins else 0


def _is_zero(values: Sequence[SyntaxNode | None]) -> bool:
    value = stripped(values[0]) if values else None
    return value is not None and value.kind == "integer" and value.value == 0


def _length_of(loop: SyntaxNode, access: SyntaxNode, function: FunctionUses) -> int | None:
    _, condition, _, body = loop.children
    if condition is None or body is None or condition.operator not in ("<", "!="):
        return None
    index, bound = stripped(access.children[1]), condition.children[1]
    left = stripped(condition.children[0])
    if index is None or left is None or left.local != index.local or not function.is_constant(index.local, body):
        return None
    return None if any(node.kind in JUMPS for node in walk(body)) else function.parameter_number(bound)
