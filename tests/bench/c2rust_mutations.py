"""Mutants of C functions: one small change of a syntax tree each, chosen at random with a seed.

The mutations are typical of wrong translations: a different constant or operator, a shifted bound, a negated condition,
a missing statement, swapped arguments.  Trees are mutated before they are translated, so that mutants have lines of C.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

from jarvis_workers.source.clang.c_types import CType
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

OPERATORS = {
    **{"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<"},
    **{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"},
    **{"+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "&=": "|=", "|=": "&=", "^=": "|=", "<<=": ">>=", ">>=": "<<="},
    **{"++": "--", "--": "++", "x++": "x--", "x--": "x++"},
}
NUMBERS = ("integer", "bool", "enum")
BRANCHES = {"if": 0, "while": 0, "do": 1, "for": 1, "conditional": 0}


class Mutation(NamedTuple):
    """A change: its line, a short description, and the changed tree of the function."""

    line: int
    text: str
    tree: SyntaxNode


def draw_mutations(tree: SyntaxNode, types: Mapping[str, CType], seed: str) -> Iterator[Mutation]:
    """Yield all mutations of a function in random order, given a seed; `types` are those of its unit."""
    sites = list(_sites(tree, types, ()))
    Random(seed).shuffle(sites)
    for path, text, node in sites:
        yield Mutation(_at(tree, path).line, text, _with(tree, path, node))


Site = tuple[tuple[int, ...], str, SyntaxNode]


def _sites(node: SyntaxNode, types: Mapping[str, CType], path: tuple[int, ...]) -> Iterator[Site]:
    yield from ((path, text, mutant) for text, mutant in _mutants(node, types))
    for at in _statements(node):
        child = node.children[at]
        if child is not None and _can_be_dropped(child):
            null = SyntaxNode("null", child.line)
            yield (*path, at), f"drop {_name(child)}", null
    # The labels of cases and the sizes of types are constants that do not follow from their children.
    if node.kind in ("sizeof", "type", "asm", "builtin", "unknown", "generic") or node.value is not None:
        return
    first = 1 if node.kind == "case" else 0
    for at, child in enumerate(node.children):
        if child is not None and at >= first:
            yield from _sites(child, types, (*path, at))


def _mutants(node: SyntaxNode, types: Mapping[str, CType]) -> Iterator[tuple[str, SyntaxNode]]:
    if node.kind == "integer" and isinstance(node.value, int) and node.type in types:
        other = node.value - 1 if node.value > 1 else 1 - node.value
        for value in dict.fromkeys((node.value + 1, other)):
            yield f"{node.value} → {value}", replace(node, value=value, name=str(value))
    if node.kind in ("binary", "unary") and (operator := OPERATORS.get(node.operator)) and _fits(node, operator, types):
        yield f"{node.operator} → {operator}", replace(node, operator=operator)
    if "int" in types and node.kind in BRANCHES and (condition := node.children[BRANCHES[node.kind]]) is not None:
        yield f"negate the condition of {node.kind}", _with(node, (BRANCHES[node.kind],), _negated(condition))
    if node.kind == "call":
        for at in range(1, len(node.children) - 1):
            one, other = node.children[at : at + 2]
            if one is not None and other is not None and one.type == other.type and one != other:
                swapped = (*node.children[:at], other, one, *node.children[at + 2 :])
                yield f"swap arguments {at} and {at + 1}", replace(node, children=swapped)


def _fits(node: SyntaxNode, operator: str, types: Mapping[str, CType]) -> bool:
    """Return whether an operator takes the same operands: arithmetic of pointers allows few."""
    kinds = [_kind(child, types) for child in node.children if child is not None]
    if operator in ("&", "|", "^", "<<", ">>", "%", "&=", "|=", "^=", "<<=", ">>="):
        return all(kind in NUMBERS for kind in kinds)
    if node.kind == "binary" and {node.operator, operator} == {"+", "-"}:
        return kinds[1:] != ["pointer"]
    if node.kind == "unary":
        return operator in ("++", "--", "x++", "x--")
    return True


def _kind(node: SyntaxNode, types: Mapping[str, CType]) -> str:
    type_ = types.get(node.type)
    return "pointer" if type_ is None or "array" in type_.kind else type_.kind


def _negated(condition: SyntaxNode) -> SyntaxNode:
    inside = SyntaxNode("parentheses", condition.line, condition.type, children=(condition,))
    return SyntaxNode("unary", condition.line, "int", operator="!", children=(inside,))


def _statements(node: SyntaxNode) -> range:
    """Return the indices of the children that are statements."""
    starts = {"compound": 0, "if": 1, "while": 1, "for": 3, "case": len(node.children) - 1, "default": 0, "label": 0}
    if node.kind in starts:
        return range(starts[node.kind], len(node.children))
    return range(1) if node.kind == "do" else range(0)


def _can_be_dropped(node: SyntaxNode) -> bool:
    return node.kind in ("binary", "unary", "call", "break", "continue")


def _name(node: SyntaxNode) -> str:
    return {"binary": f"statement with {node.operator}", "unary": f"statement with {node.operator}"}.get(
        node.kind, node.kind
    )


def _at(tree: SyntaxNode, path: Sequence[int]) -> SyntaxNode:
    for step in path:
        child = tree.children[step]
        assert child is not None
        tree = child
    return tree


def _with(tree: SyntaxNode, path: Sequence[int], node: SyntaxNode) -> SyntaxNode:
    if not path:
        return node
    child = tree.children[path[0]]
    assert child is not None
    children = (*tree.children[: path[0]], _with(child, path[1:], node), *tree.children[path[0] + 1 :])
    return replace(tree, children=children)
