"""Which findings are there to be judged, in which order, and with which code around them."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.runs.runs import find_run
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.runs.scan_runs import NotAScan, scan_of
from jarvis_workers.sec.triage.queue import AHEAD, Excerpts, current_user, findings_of, one_each
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store import artifacts, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from tests.runs.test_submit import asking
from tests.support.issues import FACTS, issue_of


def issue(name: str, status: str, score: float = 1.0, **more: Any) -> dict[str, Any]:
    said = {"id": name, "gid": int(name[1:]), "status": status, "score": score, "file": "a.c", "line": int(name[1:])}
    return FACTS | said | {"fingerprint": name} | more


@pytest.fixture
def store(sqlite_url: str, open_stores: Callable[..., Store]) -> Store:
    return open_stores(sqlite_url)


@pytest.fixture
def run(store: Store, blobs: DirectoryBlobs, tmp_path: Path) -> Run:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.c").write_text("".join(f"int a{number};\n" for number in range(1, 100)))
    return find_run(store, submit(store, blobs, asking(tmp_path / "tree")))


def test_the_worst_comes_first_and_what_was_set_aside_last(store: Store, blobs: DirectoryBlobs, run: Run) -> None:
    body = {
        "summary": {"not_listed": 7},
        "issues": [
            issue("C1", "heuristic", 2.8),
            issue("C2", "review", 0.4),
            issue("C3", "confirmed", 0.5),
            issue("C4", "confirmed", 2.0),
            issue("C5", "undecided", 2.8),
            issue("C6", "undecided", 2.8),
        ],
        "dismissed": [issue("C7", "dismissed", 2.8)],
        "suppressed": [
            issue("C8", "heuristic", suppression={"kind": "external", "justification": "x"}),
            issue("C9", "heuristic", suppression={"kind": "inSource", "justification": "x"}),
        ],
    }
    content = json.dumps(body).encode()
    with store.write() as session:
        artifacts.save(session, run.id, [("report", blobs.put(content), len(content))])
        runs.finish(session, run.id, "done")

    found, not_listed = findings_of(store, blobs, find_run(store, run.id))

    assert [one.id for one in found] == ["C4", "C3", "C2", "C5", "C6", "C1", "C7", "C8"]
    assert [one.status for one in found[-2:]] == ["dismissed", "suppressed"]
    assert not_listed == 7


def test_a_run_that_is_no_scan_has_nothing_to_judge(store: Store, blobs: DirectoryBlobs, run: Run) -> None:
    with pytest.raises(NotAScan, match=r"run one is no scan \(kind agent\)"):
        findings_of(store, blobs, scan_of(replace(run, kind="agent")))


def test_findings_that_are_known_by_the_same_words_are_judged_once() -> None:
    rows = [issue("C1", "heuristic"), issue("C2", "heuristic"), issue("C3", "heuristic", fingerprint="C1")]
    found = list(map(issue_of, rows))

    assert list(one_each(found)) == [(found[0], [3]), (found[1], [])]


def test_code_is_read_for_some_findings_at_a_time_and_its_loss_is_borne(
    blobs: DirectoryBlobs, run: Run, tmp_path: Path
) -> None:
    found = [issue_of(issue(f"C{number}", "heuristic")) for number in range(1, AHEAD + 5)]
    excerpts = Excerpts(blobs, run.snapshot_id, found)
    first = excerpts.at(0)
    shutil.rmtree(tmp_path / "blobs")

    assert first is not None
    assert first.lines[0] == "int a1;"
    assert excerpts.at(AHEAD - 1) is not None
    assert excerpts.at(AHEAD) is None


def test_what_a_user_is_called_is_not_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "eve\x1b[2J" if name == "USER" else "")
    assert current_user() == "eve\\x1b[2J"
