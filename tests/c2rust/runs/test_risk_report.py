"""The security report that decides which functions are translated first."""

import json
from pathlib import Path

import pytest

from jarvis_workers.c2rust.runs.risk_report import read_risky_files
from jarvis_workers.errors import UsageError


def report(place: Path, **parts: object) -> Path:
    path = place / "before.json"
    path.write_text(json.dumps({"summary": {"top_risk_files": ["src/b.c", "src/a.c"]}, "issues": []} | parts))
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.c").touch()
    return tmp_path


def test_the_riskiest_files_have_the_lines_that_come_first(root: Path) -> None:
    found = [("format_string", "src/b.c", 7), ("strcpy", "src/b.c", 8), ("format_string", "src/c.c", 9)]
    issues = [{"pattern": pattern, "file": file, "line": line, "cwe": 1} for pattern, file, line in found]
    assert read_risky_files(report(root, issues=issues), root) == {"src/b.c": [7], "src/a.c": []}


def test_a_report_without_findings_changes_nothing(root: Path) -> None:
    assert read_risky_files(report(root, summary={"top_risk_files": []}), root) == {}


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"summary": {}}, "is not a JSON report of jarvis sec: summary.top_risk_files: Field required"),
        ({"summary": {"top_risk_files": "a.c"}}, "summary.top_risk_files: Input should be a valid list"),
        ({"issues": [{"pattern": "p", "file": "a.c", "line": "9"}]}, "issues.0.line: Input should be a valid integer"),
        ({"issues": None}, "issues: Input should be a valid list"),
        ({"summary": {"top_risk_files": ["lib/x.c"]}}, "its files are not in"),
        ({"summary": {"top_risk_files": ["../before.json", "/etc/passwd", "a\0b"]}}, "its files are not in"),
    ],
)
def test_what_is_wrong_with_a_report_is_one_line(root: Path, parts: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_risky_files(report(root, **parts), root)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
