"""Constants that a function returns and that often mean a failure: NULL, or a negative number."""

from collections.abc import Iterator

from jarvis_workers.source.clang.c_types import CDefinition
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk
from jarvis_workers.source.pointers.pointer_uses import stripped

BRANCHES = slice(1, None)


def returns_null(function: CDefinition) -> bool:
    """Return whether a function that returns a pointer to data returns NULL somewhere."""
    type_ = function.type.target
    is_data = type_ is not None and type_.kind == "pointer" and type_.target and type_.target.kind != "function"
    return bool(is_data) and 0 in _returned(function)


def returns_negative(function: CDefinition) -> bool:
    """Return whether a function that returns a signed integer returns a negative constant somewhere."""
    type_ = function.type.target
    is_signed = type_ is not None and type_.kind == "integer" and type_.signed
    return is_signed and any(value < 0 for value in _returned(function))


def _returned(function: CDefinition) -> Iterator[int]:
    """Yield the constants that a function returns, also in a branch of a conditional expression."""
    remaining = [node.children[0] for node in walk(function.tree) if node.kind == "return" and node.children]
    while remaining:
        node = stripped(remaining.pop())
        if node is not None and node.kind == "conditional":
            remaining += node.children[BRANCHES]
        elif (value := _constant(node)) is not None:
            yield value


def _constant(node: SyntaxNode | None) -> int | None:
    if node is not None and node.kind == "unary" and node.operator == "-":
        value = _constant(stripped(node.children[0]))
        return None if value is None else -value
    return node.value if node is not None and isinstance(node.value, int) else None
