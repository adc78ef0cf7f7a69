"""A tree is packed once, its run is inserted whole, and nothing is inserted when there is nothing to do."""

import os

import pytest

from jarvis_workers.errors import StoreFull, UsageError
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.runs import find_run, newest_runs, prune_unused, stages_of
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.store import artifacts, jobs, runs

C_FILES = Selection(suffixes=frozenset({b".c"}))
DAY = 24 * 3600


@pytest.fixture
def tree(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.c").write_text("int a;\n")
    return tree


def asking(path, run_id="one", **changes):
    asked = {
        "kind": "sec.fast",
        "selection": C_FILES,
        "executor": "local:me",
    }
    given = ScanInput(SecOptions(min_confidence=0.4, processes=changes.pop("processes", 2)))
    return RunRequest(run_id=run_id, path=path, **{"run_input": given} | asked | changes)


def wanted(store):
    with store.read() as session:
        return artifacts.used_blobs(session)


def test_a_run_is_inserted_with_its_stages_and_the_job_that_plans_the_first(store, blobs, tree):
    run = find_run(store, submit(store, blobs, asking(tree)))

    assert (run.id, run.kind, run.state, run.executor) == ("one", "sec.fast", "planning", "local:me")
    assert [(stage.name, stage.state) for stage in stages_of(store, run)] == [
        (name, "open") for name in ("scan", "summarize", "flow", "report")
    ]
    with store.write() as session:
        claimed = jobs.claim_many(
            session, executor="local:me", queue="control", worker_id="me", process="me", limit=9, lease_seconds=9
        )
    assert [(job.run_id, job.stage, job.step) for job in claimed] == [("one", "scan", "plan")]


def test_what_is_known_of_the_snapshot_is_kept(store, blobs, tree):
    (tree / "gone.c").symlink_to("nowhere.c")

    run = find_run(store, submit(store, blobs, asking(tree)))

    with store.read() as session:
        facts = runs.snapshot(session, run.snapshot_id)
    assert (facts.files, facts.bytes, facts.not_checked) == (1, 7, 1)


def test_the_same_tree_is_one_snapshot_that_both_runs_want(store, blobs, tree):
    first, second = (find_run(store, submit(store, blobs, asking(tree, name))) for name in ("one", "two"))

    assert first.snapshot_id == second.snapshot_id
    assert wanted(store) == {blob.name for blob in blobs.names()}
    assert prune_unused(store, blobs, now=2**40, grace_seconds=DAY).blobs == 0


def test_a_root_keeps_its_bytes_and_is_shown_without_them(store, blobs, tmp_path):
    tree = tmp_path / os.fsdecode(b"odd\xff\n")
    tree.mkdir()
    (tree / "a.c").write_text("int a;\n")

    run = find_run(store, submit(store, blobs, asking(tree)))

    assert run.root_raw == os.fsencode(tree)
    assert run.root == f"{tmp_path}/odd\\xff\n"


def test_a_relative_root_is_known_from_everywhere(store, blobs, tree, monkeypatch):
    monkeypatch.chdir(tree.parent)

    assert find_run(store, submit(store, blobs, asking(tree.relative_to(tree.parent)))).root == str(tree)


def test_a_tree_with_nothing_but_gaps_is_a_run_that_names_them(store, blobs, tmp_path):
    (tmp_path / "tree").mkdir()
    os.mkfifo(tmp_path / "tree" / "pipe.c")

    assert submit(store, blobs, asking(tmp_path / "tree")) == "one"


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ([], r"tree: no C, C\+\+ or Rust files to scan \(no file has a suffix"),
        (["a.txt", "b.txt"], r"no file has a suffix of the selected languages\)"),
        (["build/a.c"], r"left out: excluded directory: build\)"),
    ],
)
def test_nothing_to_do_is_no_run(store, blobs, tmp_path, files, says):
    (tmp_path / "tree").mkdir()
    for file in files:
        (tmp_path / "tree" / file).parent.mkdir(exist_ok=True)
        (tmp_path / "tree" / file).write_text("x")
    selection = Selection(suffixes=frozenset({b".c"}), exclude_dirs=frozenset({b"build"}))

    with pytest.raises(UsageError, match=says):
        submit(store, blobs, asking(tmp_path / "tree", selection=selection))

    assert newest_runs(store, 9) == []


def test_a_path_that_is_not_there_is_refused(store, blobs, tmp_path):
    with pytest.raises(UsageError, match="nothere: no such file or directory"):
        submit(store, blobs, asking(tmp_path / "nothere"))


def test_a_submit_that_fails_leaves_only_wishes_that_go_with_the_next_pruning(store, tree):
    class Full(DirectoryBlobs):
        def put_chunks(self, chunks):
            for _ in chunks:
                pass
            raise StoreFull("full")

    with pytest.raises(StoreFull):
        submit(store, Full(tree.parent / "blobs"), asking(tree))

    assert newest_runs(store, 9) == []
    assert len(wanted(store)) == 1
    prune_unused(store, DirectoryBlobs(tree.parent / "blobs"), now=2**40, grace_seconds=-1)
    assert wanted(store) == set()


def test_a_small_tree_is_parted_so_that_every_process_has_something_to_do(store, blobs, tree):
    (tree / "big.c").write_bytes(b"\n" * 32_000_000)

    run = find_run(store, submit(store, blobs, asking(tree, processes=4)))

    assert run.options["batch_bytes"] == 32_000_007 // 16
    assert run.options["processes"] == 4


def test_progress_is_told(store, blobs, tree):
    told = []

    submit(store, blobs, asking(tree), lambda files, size: told.append((files, size)))

    assert told[-1] == (1, 7)
