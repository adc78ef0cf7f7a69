"""Facts about the control flow of statements."""

from collections.abc import Iterator, Sequence

from jarvis_workers.c2rust.mechanical.context import operand, plain, present, uncast
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

LOOPS = ("while", "do", "for")
JUMPS = ("return", "goto", "computed_goto", "break", "continue")
LABELS = ("label", "case", "default")


def has_continue(node: SyntaxNode) -> bool:
    """Whether a loop body has a `continue` of this loop."""
    return node.kind == "continue" or any(map(has_continue, _without(LOOPS, node)))


def has_break(node: SyntaxNode) -> bool:
    return node.kind == "break" or any(map(has_break, _without((*LOOPS, "switch"), node)))


def _without(kinds: Sequence[str], node: SyntaxNode) -> Iterator[SyntaxNode]:
    return (child for child in present(node.children) if child.kind not in kinds)


def cases_of(node: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the case and default labels of a switch with this body."""
    if node.kind in ("case", "default"):
        yield node
    for child in _without(("switch",), node):
        yield from cases_of(child)


def has_inner_cases(node: SyntaxNode) -> bool:
    """Whether cases of a switch are inside its inner statements, as in Duff's device."""
    inside = operand(node, 1)
    direct = 0
    for child in present(inside.children) if inside.kind == "compound" else [inside]:
        inner = child
        while inner.kind in ("case", "default"):
            direct += 1
            inner = labelled(inner)
    return direct != sum(1 for _ in cases_of(inside))


def labelled(node: SyntaxNode) -> SyntaxNode:
    """Return the statement after a label, case or default."""
    return operand(node, len(node.children) - 1)


def diverges(node: SyntaxNode) -> bool:
    """Whether control never reaches the end of a statement; False if that is not obvious."""
    if node.kind in JUMPS:
        return True
    if node.kind in LABELS:
        return diverges(labelled(node))
    if node.kind == "compound":
        return bool(node.children) and diverges(operand(node, len(node.children) - 1))
    if node.kind == "if":
        return len(node.children) == 3 and diverges(operand(node, 1)) and diverges(operand(node, 2))
    return is_endless(node) and not has_break(body_of(node))


def body_of(node: SyntaxNode) -> SyntaxNode:
    return operand(node, 0 if node.kind == "do" else len(node.children) - 1)


def is_endless(node: SyntaxNode) -> bool:
    """Whether a loop has no condition, or a condition that is constant and true."""
    if node.kind == "for":
        return node.children[1] is None or constant_truth(operand(node, 1)) is True
    return node.kind in LOOPS and constant_truth(operand(node, 1 if node.kind == "do" else 0)) is True


def constant_truth(node: SyntaxNode) -> bool | None:
    """Return whether a literal, possibly with a cast, is true; None for other expressions."""
    literal = uncast(node)
    if literal.kind not in ("integer", "character") or literal.value is None:
        return None
    return bool(literal.value) if literal is plain(node) or literal.value in (0, 1) else None
