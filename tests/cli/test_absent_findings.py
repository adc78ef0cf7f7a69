"""Without a complete scan no command says that all is well: every kind of run, and every state of a scan."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_workers.runs import wiring
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from tests.cli.commands import Jarvis
from tests.support.every_kind import StoredRun, every_run, fill
from tests.web.test_absent_findings import assert_silent

RUNS = every_run()
SCANS = [run for run in RUNS if run.is_scan]
OTHERS = [run for run in RUNS if not run.is_scan and run.state == "done"]
FORMATS = ("text", "json", "sarif")


@pytest.fixture
def insert(jarvis: Jarvis, tmp_path: Path) -> Callable[..., None]:
    """Insert runs into the store of the commands."""

    def add(*chosen: StoredRun) -> None:
        with wiring.store_of(jarvis.settings) as store:
            fill(store, DirectoryBlobs(tmp_path / "data" / "blobs"), jarvis.place / "tree", list(chosen))

    return add


@pytest.mark.parametrize("run", [run for run in OTHERS if run.kind in ("code", "c2rust.scan")], ids=str)
def test_a_run_that_is_no_scan_is_refused_where_findings_are_read(
    jarvis: Jarvis, insert: Callable[..., None], run: StoredRun
) -> None:
    insert(run)

    for words in (("runs", "diff", run.id, run.id, "--fail-on", "high"), ("sec", "triage", run.id, "--list")):
        ended = jarvis(*words)
        assert (ended.code, ended.line) == (2, f"jarvis: run {run.id} is no scan (kind {run.kind})")


@pytest.mark.slow
@pytest.mark.parametrize("run", [*SCANS, *OTHERS], ids=str)
def test_no_command_says_that_all_is_well(jarvis: Jarvis, insert: Callable[..., None], run: StoredRun) -> None:
    insert(run)
    judging = [("runs", "diff", run.id, run.id, "--fail-on", "low"), ("sec", "triage", run.id, "--list")]
    judging += [("runs", "report", run.id, "--format", form) for form in FORMATS]
    for words in [*judging, ("runs", "show", run.id), ("runs", "export", run.id, "-d", "out"), ("runs", "list")]:
        ended = jarvis(*words)
        assert_silent(ended.out + ended.err, f"{words} {run}")
        if run.is_scan and words in judging and words[0] == "runs":
            assert ended.code in (2, 3), (words, run)


def test_last_is_the_last_scan_where_findings_are_read(jarvis: Jarvis, insert: Callable[..., None]) -> None:
    first, second = [run for run in SCANS if run.state == "incomplete"][:2]
    insert(first, second, OTHERS[-1])

    assert OTHERS[-1].id in jarvis("runs", "show", "last").out
    assert f"{second.id} (" in jarvis("runs", "diff", first.id, "last").out
