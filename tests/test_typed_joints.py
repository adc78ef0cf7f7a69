"""Options of runs, payloads and work of jobs are typed values: nothing reads them by a string key."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = ("jarvis_workers", "jarvis_cli", "tests/toy")
NAMES = {"options", "payload", "payloads", "work"}
# Only files with a subscript or `get` of these names are parsed.
MARKS = re.compile(rf"\b(?:{'|'.join(NAMES)})\s*(?:\[|\.\s*get\b)")
# The JSON of the row is read here, for a list of runs that must start quickly.
DECODERS = {"jarvis_workers/store/run_list.py"}


def string_reads(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of `options["..."]` and `options.get("...")`, also of attributes of that name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            value, key = node.value, node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            value, key = node.func.value, node.args[0] if node.args else node
        else:
            continue
        name = value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else ""
        if name in NAMES and isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield node.lineno


@pytest.mark.parametrize(
    "code", ['run.options["lang"]', 'payload["gids"]', 'job.payload.get("gids", ())', 'work.get("a")']
)
def test_a_read_by_string_is_seen(code: str) -> None:
    assert list(string_reads(ast.parse(code))) == [1]


def test_no_options_payload_or_work_is_read_by_string() -> None:
    files = [(path.relative_to(ROOT).as_posix(), path) for code in CODE for path in sorted((ROOT / code).rglob("*.py"))]
    texts = {name: path.read_text() for name, path in files}
    reads = {name: list(string_reads(ast.parse(text))) if MARKS.search(text) else [] for name, text in texts.items()}

    assert len(files) > 400
    assert {name: lines for name, lines in reads.items() if lines and name not in DECODERS} == {}
    assert all(reads[name] for name in DECODERS)
