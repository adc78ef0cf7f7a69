"""Findings and summaries are read by their fields: keys of reports stand only where JSON is read and written."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.syntax import parse

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "jarvis_cli",
    *(f"jarvis_workers/{name}" for name in ("sec", "runs", "api", "c2rust/stages", "c2rust/runs")),
)
NAMES = {"body", "issue", "issues", "summary"}
# They turn JSON into values and back; the last two read files from somewhere.
WITH_KEYS = {
    "jarvis_workers/sec/report_json.py",
    "jarvis_workers/sec/run_reports/baselines.py",
    "jarvis_workers/sec/run_reports/report_files.py",
}


def test_no_key_is_read_of_a_report_but_where_json_becomes_values() -> None:
    files = {file.relative_to(ROOT).as_posix(): file for package in PACKAGES for file in (ROOT / package).rglob("*.py")}
    assert files.keys() > WITH_KEYS

    found = {name: list(keys_read(file.read_text())) for name, file in files.items() if name not in WITH_KEYS}

    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "code",
    ['issue["gid"]', 'body["issues"][0]', 'report.body["summary"]', 'done.body.summary["total"]', 'issue.get("line")'],
)
def test_a_key_that_is_read_is_found(code: str) -> None:
    assert list(keys_read(f"x = 1\ny = {code}")) == [2]


@pytest.mark.parametrize(
    "code", ["issue.gid", "issues[0]", "issues[1:]", 'excerpts.get("C1")', 'seen[issue.file]["x"]']
)
def test_fields_and_places_are_no_keys(code: str) -> None:
    assert list(keys_read(code)) == []


def keys_read(code: str) -> Iterator[int]:
    """Yield the lines where a report, a finding or a summary is asked for a key."""
    for node in ast.walk(parse(code)):
        match node:
            case ast.Subscript(value=asked, slice=key) | ast.Call(ast.Attribute(asked, "get"), [key, *_]):
                if _is_text(key) and _is_of_a_report(asked):
                    yield node.lineno


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_of_a_report(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in NAMES
