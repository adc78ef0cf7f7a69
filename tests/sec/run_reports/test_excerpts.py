"""Code for a report comes from the snapshot of its run, as far as that can still be read."""

import os
import time

import pytest

from jarvis_workers.paths import shown
from jarvis_workers.runs.runs import find_run
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.report_document import Excerpt
from jarvis_workers.sec.run_reports.excerpts import read_excerpts
from jarvis_workers.snapshots.reader import open_snapshot
from tests.runs.test_submit import asking
from tests.support.issues import FACTS, issue_of

FILES = {b"a.c": b"int a;\nint b;\n", b"b.c": b"int c;\n", b"\xff.c": b"one", rb"\xff.c": b"other", b"empty.c": b""}


def issue(name, file, line=1):
    return issue_of({**FACTS, "id": name, "file": file, "line": line, "score": 1.0})


@pytest.fixture
def run(store, blobs, tmp_path):
    tree = os.fsencode(tmp_path / "tree")
    os.mkdir(tree)  # noqa: PTH102  (names that are no text)
    for name, content in FILES.items():
        with open(os.path.join(tree, name), "wb") as file:  # noqa: PTH118, PTH123
            file.write(content)
    return find_run(store, submit(store, blobs, asking(tmp_path / "tree")))


@pytest.mark.sample(1)
def test_code_comes_from_what_was_scanned_not_from_what_is_there_now(blobs, run, tmp_path):
    (tmp_path / "tree" / "a.c").write_text("changed\n")
    issues = [issue("C1", "a.c", 2), issue("C2", "b.c"), issue("C3", "gone.c")]

    assert read_excerpts(blobs, run.snapshot_id, issues) == {
        "C1": Excerpt(1, ("int a;", "int b;", "")),
        "C2": Excerpt(1, ("int c;", "")),
    }


def test_names_that_look_alike_are_told_apart(blobs, run):
    issues = [issue("C1", shown(b"\xff.c")), issue("C2", shown(rb"\xff.c"))]

    assert read_excerpts(blobs, run.snapshot_id, issues) == {"C1": Excerpt(1, ("one",)), "C2": Excerpt(1, ("other",))}


def test_a_snapshot_that_is_gone_leaves_a_report_without_code(blobs, run):
    issues = [issue("C1", "a.c"), issue("C2", "empty.c")]
    for blob in open_snapshot(blobs, run.snapshot_id).index.shards:
        assert blobs.delete(blob, unless_wanted_since=time.time() + 1)

    assert read_excerpts(blobs, run.snapshot_id, issues) == {"C2": Excerpt(1, ("",))}
    assert read_excerpts(blobs, "0" * 64, issues) == {}
