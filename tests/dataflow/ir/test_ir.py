"""The intermediate representation: every kind has an example, what is lowered is valid, the page shows all kinds."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest

from jarvis_workers.dataflow.frontend import model
from jarvis_workers.dataflow.ir import decode
from jarvis_workers.dataflow.ir.expr import (
    EXPRESSIONS,
    CommaExpr,
    Expression,
    LongStringExpr,
    NameExpr,
    NumberExpr,
    Statement,
    UnknownExpr,
)
from jarvis_workers.dataflow.ir.stmt import STATEMENTS, ExprStmt, LoweredFunction, Parameter, ReturnStmt
from jarvis_workers.dataflow.ir.validator import check
from jarvis_workers.sec.rules import RULES
from jarvis_workers.source.lex import mask

DATA = Path(__file__).parents[2] / "data"
PAGE = Path(__file__).parents[3] / "docs" / "architecture" / "dataflow.md"
EXAMPLE = re.compile(r"(.*?)[.:]?(?: *`(.+)`)?", re.DOTALL)
WORKED = re.compile(r"^`([^`\n]+)` becomes\n\n```python\n(.+?)\n```", re.MULTILINE | re.DOTALL)
KINDS = (*STATEMENTS, *EXPRESSIONS)
TYPES = {Expression: "expression", Statement: "statement"}


def lowered(code: str, *, cpp: bool | None = None) -> list[LoweredFunction]:
    """Return the functions of a file as an analysis reads them: stored, and decoded."""
    content = code.encode("latin-1", "replace")
    made = model(content, mask(content, "c/cpp").text, lambda *_: True, header=False, cpp=cpp)
    return [decode.function(one) for one in json.loads(json.dumps(made))["functions"]]


def nodes(code: Any) -> Iterator[Any]:
    yield code
    for part in code if isinstance(code, tuple) else ():
        yield from nodes(part)


def example_of(kind: Any) -> tuple[str, str]:
    """Return the meaning of a kind and its example."""
    meaning, example = EXAMPLE.fullmatch(kind.__doc__).groups()
    return meaning, example or ""


def problems(code: str) -> list[str]:
    return [problem for one in lowered(code) for problem in check(one)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not LongStringExpr])
def test_the_example_of_a_kind_is_lowered_to_it(kind: Any) -> None:
    _, example = example_of(kind)
    cpp = "(C++)" in kind.__doc__
    is_statement = cpp or kind in STATEMENTS or " = {" in example
    code = f"void f(int i) {{ {example}; }}" if is_statement else f"int f() {{ return {example}; }}"

    [function] = lowered(code, cpp=cpp)

    assert any(type(node) is kind for node in nodes(function.body))


def test_a_long_string_is_cut_and_knows_its_length() -> None:
    [function] = lowered('void f() { puts("%s"); }' % ("a" * 500))

    assert [len(node.text) for node in nodes(function.body) if isinstance(node, LongStringExpr)] == [400]
    assert [node.length for node in nodes(function.body) if isinstance(node, LongStringExpr)] == [500]


@pytest.mark.parametrize("file", sorted(DATA.rglob("*.c*")), ids=lambda file: file.name)
def test_an_example_file_is_lowered_to_valid_functions(file: Path) -> None:
    assert problems(file.read_text("latin-1")) == []


def test_the_examples_of_rules_are_lowered_to_valid_functions() -> None:
    examples = [code for rule in RULES if rule.language == "c/cpp" for code in (rule.bad, rule.good) if code]

    assert examples
    assert [problem for code in examples for problem in problems(f"void f(void) {{\n{code}\n}}\n")] == []


def function(*body: Any) -> LoweredFunction:
    return LoweredFunction("f", 1, 3, (), (), body)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ((NameExpr("v", "a"),), "LoweredFunction.body[0]: unexpected NameExpr"),
        ((tuple.__new__(ExprStmt, ("e", 1)),), "LoweredFunction.body[0]: ExprStmt has 2 fields, not 3"),
        ((ReturnStmt("ret", "1", None),), "ReturnStmt.line: str instead of <class 'int'>"),
        ((ReturnStmt("ret", 1, ("v", "a")),), "ReturnStmt.value: unexpected tuple"),
        ((ReturnStmt("ret", 1, NumberExpr("n", True)),), "NumberExpr.value: bool instead of <class 'int'>"),
        ((ReturnStmt("ret", 1, UnknownExpr("v")),), "UnknownExpr.kind: 'v' is not 'x'"),
        ((ReturnStmt("ret", 1, CommaExpr(",", (None,))),), "CommaExpr.parts[0]: unexpected NoneType"),
    ],
)
def test_the_validator_names_kind_field_and_problem(body: Any, problem: str) -> None:
    assert check(LoweredFunction("f", 1, 3, (), (), body)) == [problem]


def row_of(kind: Any) -> str:
    """Return the row of a kind in the page's table."""
    meaning, example = example_of(kind)
    fields = ", ".join(f"{name}: {shown(of)}" for name, of in kind.__annotations__.items() if name != "kind")
    cells = (f"`{decode.tag_of(kind)}`", kind.__name__, fields, meaning, f"`{example}`" if example else "")
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def shown(of: Any) -> str:
    if of in TYPES or isinstance(of, type):
        return TYPES.get(of) or of.__name__
    inner = shown(get_args(of)[0])
    return f"{inner}[]" if get_origin(of) is tuple else f"{inner}?"


def test_the_page_has_a_row_for_each_kind() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]

    assert rows == [row_of(kind) for kind in KINDS]


def test_the_worked_example_of_the_page_is_what_its_code_becomes() -> None:
    [(code, on_page)] = WORKED.findall(PAGE.read_text())
    [function] = lowered(code)
    names = "|".join({name for kind in (LoweredFunction, Parameter, *KINDS) for name in kind._fields})
    plain = re.compile(rf"\b(?:{names})=|,(?=\s*\))|\s")

    assert plain.sub("", on_page) == plain.sub("", repr(function).replace("'", '"'))
