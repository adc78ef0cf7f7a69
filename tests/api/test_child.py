"""The child process of the Python API, served in this process: its answers to scans that it can and cannot execute."""

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.api import ScanOptions, child
from jarvis_workers.api.direct import DirectRequest
from jarvis_workers.api.report import report_from
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.sec.runs.scan_input import Baseline

COPY = "void f(char *a, char *b) {\n    strcpy(a, b);\n}\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.c").write_text(COPY)
    return tmp_path / "src"


def serve(
    tree: Path, compiled_patterns: Path, baseline: Baseline | None = None, **options: Any
) -> list[dict[str, Any]]:
    """Return the lines of a child that is asked for a scan of a tree."""
    place = tree.with_name("place")
    (place / "blobs").mkdir(parents=True, exist_ok=True)
    request = DirectRequest(
        ScanOptions(cache=False, **options),
        SourceTree(tree, os.fsencode(tree)),
        (),
        place=place,
        cache=compiled_patterns.parent,
        results_bytes=0,
        baseline=baseline,
    )
    answers = io.BytesIO()
    child.serve([request.line], answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_a_child_tells_its_progress_and_answers(tree: Path, compiled_patterns: Path) -> None:
    *progress, last = serve(tree, compiled_patterns)
    (found,) = report_from(last["answer"]).findings

    assert progress[0]["progress"][0] == "pack"
    assert progress[-1]["progress"] == ["report", 1, 1, 1, 1]
    assert (found.file, found.start_line, found.rule_id) == ("a.c", 2, "unsafe_api")


def test_a_finding_of_the_baseline_is_not_reported(tree: Path, compiled_patterns: Path) -> None:
    (found,) = report_from(serve(tree, compiled_patterns)[-1]["answer"]).findings
    known = Baseline({found.fingerprint: 1}, {"what": "run 1"})

    report = report_from(serve(tree, compiled_patterns, known)[-1]["answer"])

    assert (report.findings, report.summary.known) == ((), 1)


def test_an_error_of_the_caller_is_answered_by_its_kind(tree: Path, compiled_patterns: Path) -> None:
    ((kind, says),) = (one["error"] for one in serve(tree, compiled_patterns, only=["no_such_rule"]))

    assert kind == "UsageError"
    assert "no_such_rule" in says


def test_a_tree_of_more_than_one_batch_is_too_large(
    tree: Path, compiled_patterns: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "BATCH_FILES", 0)

    assert serve(tree, compiled_patterns)[-1] == {"large": True}
