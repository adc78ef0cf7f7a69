"""Modules, functions and classes stay small; what may be larger is named here, with the reason."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
MODULE_LINES, MEDIAN_LINES, FUNCTION_LINES, METHODS = 350, 120, 40, 15

LONG_FUNCTIONS = {
    "jarvis_workers/store/migrations/versions/r0001_first_tables.py:upgrade": "a released migration is never edited",
}


def test_modules_are_small() -> None:
    lines = [(name, text.count("\n")) for name, text in _modules()]

    assert median(size for _, size in lines) <= MEDIAN_LINES
    assert _beyond(lines, MODULE_LINES) == set()


def test_functions_are_short() -> None:
    lines = [
        (f"{name}:{node.name}", (node.end_lineno or 0) - node.lineno + 1)
        for name, text in _modules()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]

    assert _beyond(lines, FUNCTION_LINES) == set(LONG_FUNCTIONS)


def test_classes_have_few_methods() -> None:
    methods = [
        (f"{name}:{node.name}", sum(isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) for member in node.body))
        for name, text in _modules()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
    ]

    assert _beyond(methods, METHODS) == set()


def _modules() -> Iterator[tuple[str, str]]:
    for package in ("jarvis_workers", "jarvis_cli"):
        for file in sorted((ROOT / package).rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), file.read_text()


def _beyond(sizes: Iterable[tuple[str, int]], limit: int) -> set[str]:
    return {name for name, size in sizes if size > limit}
