"""Modules, functions and classes stay small; what may be larger is named here, with the reason."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

import pytest

from tests.syntax import parse

ROOT = Path(__file__).parents[1]
MODULE_LINES, MEDIAN_LINES, FUNCTION_LINES, METHODS = 350, 120, 40, 15

LONG_FUNCTIONS = {
    "jarvis_workers/store/migrations/versions/r0001_first_tables.py:upgrade": "a released migration is never edited",
}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@pytest.fixture(scope="module")
def definitions() -> list[tuple[str, Definition]]:
    """The functions and classes of all modules, parsed once."""
    return [(name, node) for name, text in _modules() for node in _definitions(parse(text))]


def _definitions(node: ast.AST) -> Iterator[Definition]:
    """Yield the definitions among the statements below a node; expressions have none and are not visited."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            if isinstance(child, Definition):
                yield child
            yield from _definitions(child)


def test_modules_are_small() -> None:
    lines = [(name, text.count("\n")) for name, text in _modules()]

    assert median(size for _, size in lines) <= MEDIAN_LINES
    assert _beyond(lines, MODULE_LINES) == set()


def test_functions_are_short(definitions: list[tuple[str, Definition]]) -> None:
    lines = [
        (f"{name}:{node.name}", (node.end_lineno or 0) - node.lineno + 1)
        for name, node in definitions
        if not isinstance(node, ast.ClassDef)
    ]

    assert _beyond(lines, FUNCTION_LINES) == set(LONG_FUNCTIONS)


def test_classes_have_few_methods(definitions: list[tuple[str, Definition]]) -> None:
    methods = [
        (f"{name}:{node.name}", sum(isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) for member in node.body))
        for name, node in definitions
        if isinstance(node, ast.ClassDef)
    ]

    assert _beyond(methods, METHODS) == set()


def _modules() -> Iterator[tuple[str, str]]:
    for package in ("jarvis_workers", "jarvis_cli"):
        for file in sorted((ROOT / package).rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), file.read_text()


def _beyond(sizes: Iterable[tuple[str, int]], limit: int) -> set[str]:
    return {name for name, size in sizes if size > limit}
