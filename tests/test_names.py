"""One word for one thing: names of classes and modules are unique where a reader would mix them up."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.support.syntax import parse

PACKAGE = Path(__file__).parents[1] / "jarvis_workers"
PARTICIPLES = frozenset(["asked", "heard", "held", "kept", "known", "meant", "mended", "said", "told", "wanted"])
# A participle where it may be bound; other files need not be parsed.
BINDING = re.compile(rf"\b_*(?:{'|'.join(PARTICIPLES)})_*(?= *(?:=(?!=)|[:,)(]|in ))", re.IGNORECASE)
# Keys of JSON and a column of a table, which stay the same for the programs that read them.
STORED_NAMES = {
    ("c2rust/conversion.py", "wanted"),
    ("sec/report_document.py", "known"),
    ("api/report.py", "known"),
    ("runs/stage_measure.py", "known"),
    ("store/tables.py", "held"),
}
PARTS = {"chat", "code", "commands", "fix_runs", "run_reports", "runs", "rulesets", "stages", "store", "task", "triage"}


def test_a_class_name_is_unique() -> None:
    places = defaultdict[str, list[str]](list)
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text()
        for name in _classes(parse(text)) if "class " in text else ():
            places[name].append(file.relative_to(PACKAGE).as_posix())

    assert {name: sorted(files) for name, files in places.items() if len(files) > 1} == {}


def test_a_module_name_is_unique_in_its_package() -> None:
    places = defaultdict[tuple[str, str], list[str]](list)
    for file in PACKAGE.rglob("*.py"):
        where = file.relative_to(PACKAGE)
        if file.name != "__init__.py":
            # What a domain does with runs, stages, tables and commands is apart from what is pure.
            package = "/".join(where.parts[: 2 if len(where.parts) > 2 and where.parts[1] in PARTS else 1])
            places[package, file.name].append(where.as_posix())

    assert {key: sorted(files) for key, files in places.items() if len(files) > 1} == {}


def test_a_name_is_a_noun_or_a_verb_and_no_participle() -> None:
    files = [*PACKAGE.rglob("*.py"), *PACKAGE.with_name("jarvis_cli").rglob("*.py")]
    names = {
        (file.relative_to(PACKAGE.parent).as_posix().removeprefix("jarvis_workers/"), name)
        for file in files
        for name in _bound(file)
    }

    assert {entry for entry in names if entry[1].strip("_").lower() in PARTICIPLES} == STORED_NAMES


def _bound(file: Path) -> Iterator[str]:
    """Yield the names of the definitions, parameters, variables and attributes that a module binds."""
    text = file.read_text()
    for node in ast.walk(parse(text)) if BINDING.search(text) else ():
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.arg():
                yield node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr


def _classes(tree: ast.Module) -> list[str]:
    """Return the classes at the top of a module, those of an `if` or `try` once."""
    return sorted({node.name for top in tree.body for node in _tops(top) if isinstance(node, ast.ClassDef)})


def _tops(node: ast.stmt) -> list[ast.stmt]:
    return [node, *node.body, *node.orelse] if isinstance(node, ast.If) else [node]
