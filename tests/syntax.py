"""Parse Python code."""

import ast
from contextlib import suppress

TRIES = 3


def parse(code: str | bytes) -> ast.Module:
    """Parse a module; CPython 3.11.7 sometimes fails with a SystemError ("recursion depth mismatch") for valid code."""
    for _ in range(TRIES - 1):
        with suppress(SystemError):
            return ast.parse(code)
    return ast.parse(code)
