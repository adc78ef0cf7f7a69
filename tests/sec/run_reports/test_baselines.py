"""A baseline is read from a report of ours, and from nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report import FORMATS, build, gather
from jarvis_workers.sec.run_reports.baselines import REPORT_BYTES, is_report, read_report

PRINT = "0123456789abcdef"
COPY = Candidate(
    language="c/cpp",
    category="unsafe_api",
    pattern="unsafe_api",
    file="a.c",
    line=4,
    evidence="strcpy(d, s);",
    description="copies without a bound",
    suggestion="pass the size",
    confidence=0.85,
    cwe=120,
)


def written(path: Path, form: str, run: dict[str, Any], **rest: int) -> str:
    found = [COPY, COPY._replace(line=5), COPY._replace(line=6, suppressed="x")]
    body = build(gather(enumerate(found, start=1), **rest), scanned_files=1)
    path.write_text("".join(FORMATS[form](body, run)))
    return str(path)


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_a_report_of_ours_says_how_often_each_finding_was_known(tmp_path: Path, form: str) -> None:
    baseline = read_report(written(tmp_path / f"r.{form}", form, {"state": "done", "scanned_root": "/a"}))

    assert baseline.counts == {COPY.fingerprint: 2}
    assert baseline.facts == {"what": str(tmp_path / f"r.{form}")}


@pytest.mark.parametrize("form", ["json", "sarif"])
@pytest.mark.parametrize(
    ("before", "now", "file"),
    [
        ("src", b"src", "a.c"),
        ("src", b"", "src/a.c"),
        ("", b"sub", None),
        ("lib/x", b"lib", "x/a.c"),
        (None, b"src", "a.c"),
    ],
)
def test_a_report_of_another_directory_of_the_repository_is_known_by_the_paths_from_here(
    tmp_path: Path, form: str, before: str | None, now: bytes, file: str | None
) -> None:
    run = {"state": "done", "scanned_root": f"/r/{before}"} | ({} if before is None else {"path_prefix": before})

    known = read_report(written(tmp_path / f"r.{form}", form, run), now).counts

    assert known == ({COPY._replace(file=file).fingerprint: 2} if file else {})


def test_a_report_that_does_not_list_all_says_so(tmp_path: Path) -> None:
    baseline = read_report(written(tmp_path / "r.json", "json", {}, most=1))

    assert baseline.facts["not_listed"] == 1


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_a_report_of_what_was_new_to_another_baseline_is_no_baseline(tmp_path: Path, form: str) -> None:
    named = written(tmp_path / f"r.{form}", form, {"state": "done", "scanned_root": "/a", "baseline": "v1"})

    with pytest.raises(UsageError, match="lists only findings new to its own baseline; give a report of a full scan"):
        read_report(named)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "cannot be read as JSON"),
        (b"\xff\xfe{", "cannot be read as JSON"),
        (b"[" * 100_000, "cannot be read as JSON"),
        (b"[]", "is not a JSON or SARIF report"),
        (b"{}", "is not a JSON or SARIF report"),
        (b'{"issues": {}}', "is not a JSON or SARIF report"),
        (b'{"issues": [1]}', "is not a JSON or SARIF report"),
        (b'{"issues": [{"fingerprint": 7}]}', "is not a JSON or SARIF report"),
        (b'{"issues": [{"fingerprint": "' + b"a" * 17 + b'"}]}', "is not a JSON or SARIF report"),
        (b'{"runs": 1}', "is not a JSON or SARIF report"),
        (b'{"runs": [1]}', "is not a JSON or SARIF report"),
        (b'{"runs": [{"results": 1}]}', "is not a JSON or SARIF report"),
        (b'{"runs": [{"results": [1]}]}', "is not a JSON or SARIF report"),
        (b'{"runs": [{"results": [{"partialFingerprints": {"other": "x"}}]}]}', "is not a JSON or SARIF report"),
    ],
)
def test_what_is_no_report_of_ours_is_one_line(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "r.json").write_bytes(content)

    with pytest.raises(UsageError, match=says) as problem:
        read_report(str(tmp_path / "r.json"))
    assert "\n" not in str(problem.value)


@pytest.mark.slow
def test_a_report_is_read_within_bounds(tmp_path: Path) -> None:
    with (tmp_path / "r.json").open("wb") as stream:
        stream.truncate(REPORT_BYTES + 1)

    with pytest.raises(UsageError, match="is larger than 200,000,000 bytes"):
        read_report(str(tmp_path / "r.json"))


def test_a_report_that_is_not_there_or_a_directory_is_one_line(tmp_path: Path) -> None:
    for name in ("none.json", "."):
        with pytest.raises(UsageError, match="cannot be read: "):
            read_report(str(tmp_path / name))


def test_a_report_is_told_from_a_revision_by_what_is_there_and_by_its_suffix(tmp_path: Path) -> None:
    (tmp_path / "v1").write_text(json.dumps({"issues": [{"fingerprint": PRINT}]}))

    assert is_report(str(tmp_path / "v1"))
    assert is_report("gone.SARIF")
    assert not is_report("v1.2")
    assert not is_report(str(tmp_path))
    assert not is_report("v" * 10_000)
