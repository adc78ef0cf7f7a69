"""The texts that modules display, extracted from their source to check translations."""

import ast
import gc
from collections.abc import Iterator
from pathlib import Path

__all__ = ["literals", "said"]


def said(module: Path) -> Iterator[str]:
    """Yield the texts that a module displays: literals passed to `say`, and constants used as texts."""
    for node in ast.walk(_parsed(module)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say":
            yield from _constants(node.args[0])
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "text":
            yield from _constants(node.value)


def literals(module: Path) -> Iterator[str]:
    """Yield the literals of a module, and the literal pieces of its format strings."""
    for node in ast.walk(_parsed(module)):
        if isinstance(node, ast.expr):
            yield from _constants(node)


def _parsed(module: Path) -> ast.Module:
    """Parse a module;

    CPython 3.11 may miscount the recursion depth if the garbage collector runs meanwhile (gh-106905).
    """
    gc.disable()
    try:
        return ast.parse(module.read_text("utf-8"))
    finally:
        gc.enable()


def _constants(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
