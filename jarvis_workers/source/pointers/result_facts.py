"""Constants that a function returns and that often mean a failure: NULL, or a negative number."""

from collections.abc import Iterator

from jarvis_workers.source.clang.c_types import CDefinition
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk
from jarvis_workers.source.pointers.pointer_uses import stripped

BRANCHES = slice(-2, None)
# Statements that end as their last part does; a switch only under conditions.
LAST = ("compound", "label", "case", "default", "switch")


def returns_null(function: CDefinition) -> bool:
    """Return whether a function that returns a pointer to data returns NULL somewhere."""
    type_ = function.type.target
    is_data = type_ is not None and type_.kind == "pointer" and type_.target and type_.target.kind != "function"
    return bool(is_data) and 0 in _returned(function)


def returns_negative(function: CDefinition) -> bool:
    """Return whether a function that returns a signed integer returns a negative constant somewhere."""
    type_ = function.type.target
    type_ = type_.target if type_ is not None and type_.kind == "enum" else type_
    is_signed = type_ is not None and type_.kind == "integer" and type_.signed
    return is_signed and any(value is not None and value < 0 for value in _returned(function))


def returned_constants(function: CDefinition) -> frozenset[int] | None:
    """Return the constants that a function returns, or None if it returns anything else, or may end without a value."""
    values = frozenset(_returned(function))
    constants = frozenset(value for value in values if value is not None)
    return constants if constants and constants == values and _always_returns(function.tree) else None


def _always_returns(function: SyntaxNode) -> bool:
    """Return whether the end of a function is certainly not reached."""
    remaining = [function.children[-1]]
    while remaining:
        node = remaining.pop()
        kind, children = (node.kind, node.children) if node is not None else ("", ())
        if kind == "switch" and node is not None:
            inner = {one.kind for one in walk(node)}
            if "break" in inner or "default" not in inner:
                return False
        if kind in LAST and children:
            remaining.append(children[-1])
        elif kind == "if" and len(children) > len(children[BRANCHES]):
            remaining += children[BRANCHES]
        elif kind not in ("return", "goto"):
            return False
    return True


def _returned(function: CDefinition) -> Iterator[int | None]:
    """Yield the constants that a function returns, also in branches of conditional expressions; None for others."""
    remaining = [node.children[0] for node in walk(function.tree) if node.kind == "return" and node.children]
    while remaining:
        node = stripped(remaining.pop())
        if node is not None and node.kind == "conditional":
            remaining += node.children[BRANCHES]
        else:
            yield _constant(node)


def _constant(node: SyntaxNode | None) -> int | None:
    if node is not None and node.kind == "unary" and node.operator == "-":
        value = _constant(stripped(node.children[0]))
        return None if value is None else -value
    # The value of a member is its number in the record.
    return node.value if node is not None and isinstance(node.value, int) and node.kind != "member" else None
