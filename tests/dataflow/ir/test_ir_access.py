"""Outside of its package no field of a node is read by its position: fields are read by name or by a pattern."""

import ast
from pathlib import Path
from typing import Any

import pytest

import jarvis_workers.dataflow
from jarvis_workers.dataflow.ir.expr import EXPRESSIONS
from jarvis_workers.dataflow.ir.stmt import STATEMENTS, GlobalVariable, LoweredFunction, Parameter, RecordField
from tests.sec.following import follow

PACKAGE = Path(jarvis_workers.dataflow.__file__).parent
EXAMPLES = sorted((Path(__file__).parents[2] / "data" / "flow").glob("*.c*"))
NODES = {kind.__name__ for kind in (*EXPRESSIONS, *STATEMENTS)} | {"Expression", "Statement"}
# Analysis threads hold nodes under these names, whatever their annotations.
NAMES = {"e", "statement", "condition", "callee", "call", "node"}
# The front end has them as lists; its `node` is one of tree-sitter, and in `branches` a condition is a text.
LISTS = {"statement", "condition", "callee", "call", "value"}


def is_positional(subscript: ast.Subscript) -> bool:
    index = subscript.slice
    parts = (index.lower, index.upper) if isinstance(index, ast.Slice) else (index,)
    return any(isinstance(part, (ast.Constant, ast.UnaryOp)) for part in parts)


def names_of_nodes(function: ast.FunctionDef) -> set[str]:
    """Return the parameters that are nodes by their annotation."""
    parameters = (*function.args.args, *function.args.kwonlyargs)
    annotated = [(one.arg, one.annotation) for one in parameters if one.annotation]
    kinds = {name: ast.unparse(annotation).replace("ir.", "").split(" | ") for name, annotation in annotated}
    return {name for name, parts in kinds.items() if NODES.intersection(parts)}


def names_in(file: Path) -> set[str]:
    return NAMES if file.parent.name != "frontend" else LISTS if file.name != "branches.py" else set()


def subscripts(file: Path) -> list[str]:
    """Return the subscripts by position of what is a node by its name or by its annotation."""
    found = []
    for function in ast.walk(ast.parse(file.read_text())):
        if isinstance(function, ast.FunctionDef):
            names = names_of_nodes(function) | names_in(file)
            for one in ast.walk(function):
                if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name) and is_positional(one):
                    found += [f"{file.name}:{one.lineno} {ast.unparse(one)}"] if one.value.id in names else []
    return found


def test_no_field_of_a_node_is_read_by_its_position() -> None:
    files = [file for file in PACKAGE.rglob("*.py") if file.parent.name != "ir"]

    assert [place for file in sorted(files) for place in subscripts(file)] == []


def test_a_subscript_of_a_node_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(
        "def f(path, left: ir.CallExpr | None):\n    return left[2], e[-1], e[1:], left.args[0], path[0], e[at]\n"
    )

    assert subscripts(file) == ["a.py:2 left[2]", "a.py:2 e[-1]", "a.py:2 e[1:]"]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_the_analysis_of_examples_reads_no_field_by_its_position(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    findings = follow({file.name: file.read_bytes()})

    def refuse(node: Any, at: Any) -> Any:
        raise AssertionError(f"{node!r} is read at {at}")

    for kind in (*EXPRESSIONS, *STATEMENTS, GlobalVariable, LoweredFunction, Parameter, RecordField):
        monkeypatch.setattr(kind, "__getitem__", refuse)

    assert follow({file.name: file.read_bytes()}) == findings
