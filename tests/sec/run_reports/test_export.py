"""The files of a run are whole or not there, and lie where nobody else leads them."""

import json
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.runs.runs import find_run
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.run_reports.reports import read_body
from jarvis_workers.sec.run_reports.run_export import export as write_files_of
from jarvis_workers.sec.run_reports.run_files import export_directory
from jarvis_workers.sec.store import candidates
from jarvis_workers.store import artifacts, events, runs
from jarvis_workers.store.tables import JOB
from jarvis_workers.store.values import Spot
from tests.runs.test_submit import asking
from tests.support.issues import FACTS, body_of

ISSUE = FACTS | {"id": "C123456", "file": "bad\\xff.c", "evidence": "ü\ud800"}


@pytest.fixture
def run(store, blobs, tmp_path):
    """A run that is done, with one issue."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.c").write_text("int a;\n")
    run_id = submit(store, blobs, asking(tmp_path / "tree"))
    body = json.dumps({"summary": {}, "issues": [ISSUE]}).encode()
    with store.write() as session:
        events.record(session, run_id, "closed", "scan")
        events.record(session, run_id, "closed", "report")
        artifacts.save(session, run_id, [("report", blobs.put(body), len(body))])
        runs.finish(session, run_id, "done")
    return find_run(store, run_id)


def export(store, blobs, run, directory):
    return write_files_of(store, run, read_body(store, blobs, run), directory)


def rows(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_line_for_every_issue_and_every_event(store, blobs, run, tmp_path):
    issues, progress = export(store, blobs, run, tmp_path / "out" / "deep")

    assert rows(issues) == [ISSUE]
    assert [(row["event"], row["status"]) for row in rows(progress)] == [
        ("pre_scan", "running"),
        ("pre_scan", "done"),
        ("task_status", "done"),
        ("done", "done"),
    ]
    assert {row["run"] for row in rows(progress)} == {run.id}


def test_what_a_report_does_not_list_is_exported_from_the_store(store, blobs, tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.c").write_text("int a;\n")
    run = find_run(store, submit(store, blobs, asking(tmp_path / "tree")))
    spots = [
        Spot(b"a\xc2\x9b.c", "unsafe_api", line, sure, "gets(d);") for line, sure in ((1, 0.8), (2, 0.1), (3, 0.5))
    ]
    with store.write() as session:
        job = session.execute(JOB.select().where(JOB.c.run_id == run.id)).first().id
        candidates.insert(session, run.id, job, spots)
    short = body_of({"not_listed": 1})

    issues, _ = write_files_of(store, run, short, tmp_path / "out")

    assert [(row["gid"], row["line"], row["file"]) for row in rows(issues)] == [(1, 1, "a\x9b.c"), (3, 3, "a\x9b.c")]
    assert "\x9b" not in issues.read_text("utf-8")


@pytest.mark.timing
def test_our_own_directory_keeps_out_of_git_what_no_team_wrote(store, blobs, run, tmp_path):
    own = export_directory(run)
    assert own == tmp_path / "tree" / ".jarvis" / "sec"

    export(store, blobs, run, own)
    export(store, blobs, run, own)
    export(store, blobs, run, tmp_path / "else")

    kept = ("sec/other.txt", "triage.yaml", "rules/own.yaml", "rules/more/own.yaml", "more.txt")
    for name in kept:
        (own.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (own.parent / name).touch()
    git = ["git", "-C", own.parents[1]]
    subprocess.run([*git, "init", "-q"], check=True)
    seen = subprocess.run([*git, "ls-files", "-o", "--exclude-standard", ".jarvis"], check=True, capture_output=True)
    assert seen.stdout.split() == [b".jarvis/rules/more/own.yaml", b".jarvis/rules/own.yaml", b".jarvis/triage.yaml"]
    assert not list((tmp_path / "else").glob(".git*"))


def test_a_gitignore_of_the_users_stays(store, blobs, run):
    own = export_directory(run)
    own.mkdir(parents=True)
    (own.parent / ".gitignore").write_text("mine\n")

    export(store, blobs, run, own)

    assert (own.parent / ".gitignore").read_text() == "mine\n"


@pytest.mark.parametrize("link", [".jarvis", ".jarvis/sec"])
def test_a_link_in_the_tree_is_not_followed(store, blobs, run, tmp_path, link):
    (tmp_path / "away").mkdir()
    place = tmp_path / "tree" / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(tmp_path / "away")

    with pytest.raises(
        UsageError, match="symbolic links in the scanned tree are not followed; choose a directory with -d"
    ):
        export(store, blobs, run, export_directory(run))

    assert list((tmp_path / "away").iterdir()) == []


def test_a_root_that_is_a_file_or_gone_has_no_directory(store, blobs, run, tmp_path):
    (tmp_path / "tree" / "a.c").unlink()
    (tmp_path / "tree").rmdir()
    assert export_directory(run) is None

    (tmp_path / "tree").write_text("a file")
    assert export_directory(run) is None


def test_what_cannot_be_written_says_why_and_how_else(store, blobs, run, tmp_path):
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(UsageError, match=f"cannot write the run's files: .*jarvis runs export {run.id} -d DIR"):
        export(store, blobs, run, tmp_path / "file" / "sec")


def test_a_file_is_replaced_whole_and_has_the_modes_of_any_other(tmp_path):
    place = tmp_path / "report.md"
    place.write_text("old")
    plain = tmp_path / "plain"
    plain.write_text("")

    assert write_whole(place, "new\ud800") == place

    assert place.read_text() == "new\\ud800"
    assert place.stat().st_mode == plain.stat().st_mode
    assert {path.name for path in tmp_path.iterdir()} == {"plain", "report.md"}


def test_a_file_that_cannot_be_put_in_place_leaves_nothing(tmp_path):
    (tmp_path / "taken").mkdir()

    with pytest.raises(OSError, match="Is a directory"):
        write_whole(tmp_path / "taken", "text")

    assert list(tmp_path.iterdir()) == [tmp_path / "taken"]


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    secret = tmp_path / "report.json"
    secret.write_text("old")
    secret.chmod(0o600)

    write_whole(secret, ["new"])

    assert (secret.read_text(), secret.stat().st_mode & 0o777) == ("new", 0o600)
