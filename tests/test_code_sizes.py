"""Modules, functions and classes stay small; what may be larger is named here, with the reason."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest

from tests.support.syntax import parse, statements

ROOT = Path(__file__).parents[1]
MODULE_LINES, MEDIAN_LINES, FUNCTION_LINES, METHODS = 350, 120, 40, 15

LONG_FUNCTIONS = {
    "jarvis_workers/store/migrations/versions/r0001_first_tables.py:upgrade": "a released migration is never edited",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Sizes(NamedTuple):
    """The lines of all functions, and the methods of all classes."""

    functions: list[tuple[str, int]]
    classes: list[tuple[str, int]]


@pytest.fixture(scope="module")
def sizes() -> Sizes:
    """What is measured of all modules, parsed once; no tree is kept, which would take a gigabyte."""
    sizes = Sizes([], [])
    for name, text in _modules():
        for node in statements(parse(text)):
            if isinstance(node, Function):
                sizes.functions.append((f"{name}:{node.name}", (node.end_lineno or 0) - node.lineno + 1))
            elif isinstance(node, ast.ClassDef):
                methods = sum(isinstance(member, Function) for member in node.body)
                sizes.classes.append((f"{name}:{node.name}", methods))
    return sizes


def test_modules_are_small() -> None:
    lines = [(name, text.count("\n")) for name, text in _modules()]

    assert median(size for _, size in lines) <= MEDIAN_LINES
    assert _beyond(lines, MODULE_LINES) == set()


def test_functions_are_short(sizes: Sizes) -> None:
    assert _beyond(sizes.functions, FUNCTION_LINES) == set(LONG_FUNCTIONS)


def test_classes_have_few_methods(sizes: Sizes) -> None:
    assert _beyond(sizes.classes, METHODS) == set()


def _modules() -> Iterator[tuple[str, str]]:
    for package in ("jarvis_workers", "jarvis_cli"):
        for file in sorted((ROOT / package).rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), file.read_text()


def _beyond(sizes: Iterable[tuple[str, int]], limit: int) -> set[str]:
    return {name for name, size in sizes if size > limit}
