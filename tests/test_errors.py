"""Broad exception handlers stand at the boundaries that the docstring of errors.py lists, once at each."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from jarvis_workers import errors
from tests.support.syntax import parse

ROOT = Path(__file__).parents[1]
BROAD = {"Exception", "BaseException"}
AT_MOST = 8
# Only files with these words are parsed.
MARKS = re.compile(r"except\s*:|\b(?:Base)?Exception\b")


def broad_handlers() -> Iterator[str]:
    """Yield the file of each handler, and of each `suppress`, that catches whatever is raised."""
    for package in ("jarvis_workers", "jarvis_cli"):
        for file in sorted((ROOT / package).rglob("*.py")):
            text = file.read_text()
            for node in ast.walk(parse(text)) if MARKS.search(text) else ():
                if is_broad(node):
                    yield file.relative_to(ROOT).as_posix()


def is_broad(node: ast.AST) -> bool:
    if isinstance(node, ast.ExceptHandler):
        return node.type is None or names_all(node.type)
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Name) and called.id == "suppress" and any(map(names_all, node.args))  # type: ignore[attr-defined]


def names_all(caught: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id in BROAD for part in ast.walk(caught))


def test_whatever_is_raised_is_caught_only_at_the_boundaries_that_are_listed() -> None:
    assert errors.__doc__
    listed = [line.split()[0] for line in errors.__doc__.splitlines() if line.partition(" ")[0].endswith(".py")]

    assert sorted(broad_handlers()) == sorted(listed)
    assert len(listed) <= AT_MOST


def test_every_form_of_a_broad_handler_is_seen() -> None:
    forms = ["except:", "except Exception:", "except (OSError, BaseException) as error:"]
    trees = [parse(f"try:\n    f()\n{form}\n    g()") for form in forms] + [parse("suppress(Exception)")]
    narrow = [parse("try:\n    f()\nexcept OSError:\n    g()"), parse("suppress(KeyError)")]

    assert [sum(map(is_broad, ast.walk(tree))) for tree in trees] == [1] * 4
    assert [sum(map(is_broad, ast.walk(tree))) for tree in narrow] == [0] * 2
