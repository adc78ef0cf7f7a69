"""Parse Python code."""

import ast
from collections.abc import Iterator
from contextlib import suppress

TRIES = 3


def parse(code: str | bytes) -> ast.Module:
    """Parse a module; CPython 3.11.7 sometimes fails with a SystemError ("recursion depth mismatch") for valid code."""
    for _ in range(TRIES - 1):
        with suppress(SystemError):
            return ast.parse(code)
    return ast.parse(code)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements, handlers and cases below a node; expressions, most of a tree, are not visited."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
            yield from statements(child)
