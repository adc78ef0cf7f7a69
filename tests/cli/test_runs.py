"""`jarvis runs`: what there is, and what can be done with it."""

import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from jarvis_cli.kit.status_output import Quiet, run_locally
from jarvis_workers.errors import StoreUnavailable
from jarvis_workers.runs import wiring
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.sec.stages.payloads import DiscoverPayload
from jarvis_workers.store import jobs, transcripts
from jarvis_workers.store.tables import RUN, STAGE
from jarvis_workers.store.values import NewJob
from tests.chaos.commands import until
from tests.cli.commands import COPY
from tests.store.arrange import add_planned_run
from tests.support.gates import GATED, Gate

DENSE = "strcpy(a, b);\n" * 2000
PIPE_BYTES = 65536


@pytest.fixture
def tree(jarvis):
    return jarvis.tree("tree", {"a.c": COPY, "b.c": COPY})


@pytest.fixture
def done(jarvis, tree):
    """The id of a run that is done."""
    return json.loads(jarvis("sec", "fast", "-p", tree, "--format", "json").out)["run"]["id"]


@pytest.fixture
def paused(jarvis, tree):
    """The id of a run that is paused before its first job."""
    return jarvis.submit(tree, paused=True)


def state(jarvis, run):
    return json.loads(jarvis("runs", "show", run, "--json").out)["state"]


def test_no_runs_is_no_error_and_says_how_to_begin(jarvis):
    ended = jarvis("runs", "list")

    assert (ended.code, ended.out) == (0, "")
    assert ended.line == "no runs yet; start one with: jarvis sec fast"
    assert json.loads(jarvis("runs", "list", "--json").out) == []


def test_runs_are_listed_the_newest_first(jarvis, tree, done, paused):
    lines = jarvis("runs", "list").out.splitlines()
    rows = json.loads(jarvis("runs", "list", "--json").out)

    assert [line.split()[0] for line in lines] == ["RUN", paused, done]
    assert [(row["id"], row["state"], row["files"]) for row in rows] == [(paused, "paused", 0), (done, "done", 2)]
    assert all(line.endswith(str(tree)) for line in lines[1:])
    assert [row["id"] for row in json.loads(jarvis("runs", "list", "-n", "1", "--json").out)] == [paused]


def test_a_run_whose_command_is_gone_is_listed_as_abandoned(jarvis, tree):
    run = jarvis.submit(tree)

    assert json.loads(jarvis("runs", "list", "--json").out)[0]["state"] == "abandoned"
    assert f"its command has ended; continue with: jarvis runs resume {run}" in jarvis("runs", "show", run).out


def test_a_run_is_shown_with_its_stages_and_what_to_do_next(jarvis, done, paused):
    shown = jarvis("runs", "show", done).out
    assert "state         done" in shown
    assert "scan stage    closed, 1/1 jobs" in shown
    assert "resume" not in shown

    shown = jarvis("runs", "show", paused).out
    assert "reason        interrupted" in shown
    assert "scan stage    open, no jobs yet" in shown
    assert f"continue with: jarvis runs resume {paused}" in shown


def test_a_run_is_known_by_the_beginning_of_its_id_and_the_newest_as_last(jarvis, done):
    for name in (done, done[:5], "last"):
        assert json.loads(jarvis("runs", "show", name, "--json").out)["id"] == done


def test_a_report_can_be_had_again_in_any_format(jarvis, tree, done):
    again = jarvis("runs", "report", done, "--format", "json")
    assert again.code == 0
    assert json.loads(again.out)["summary"]["total"] == 2

    assert jarvis("runs", "report", "last", "-o", "r.md").out == ""
    assert Path("r.md").read_text() == jarvis("runs", "report", "last", "--format", "markdown").out


def test_the_report_of_a_paused_run_names_what_was_not_reached(jarvis, paused):
    ended = jarvis("runs", "report", paused, "--format", "json")

    assert ended.code == 3
    assert json.loads(ended.out)["summary"]["not_checked"] == [
        {"file": "a.c", "reason": "not reached before the run ended"},
        {"file": "b.c", "reason": "not reached before the run ended"},
    ]
    assert "**Incomplete.**" in jarvis("runs", "report", paused, "--format", "markdown").out


@pytest.mark.slow
def test_the_files_of_a_run_are_exported_where_one_says(jarvis, tree, done):
    beside = jarvis("runs", "export", done)
    elsewhere = jarvis("runs", "export", done, "-d", "new/place")

    assert beside.out.splitlines() == [
        f"{tree}/.jarvis/sec/heuristic_issues.jsonl",
        f"{tree}/.jarvis/sec/progress.jsonl",
    ]
    assert elsewhere.out.splitlines() == ["new/place/heuristic_issues.jsonl", "new/place/progress.jsonl"]
    assert not Path("new/.gitignore").exists()


def test_a_run_of_one_file_has_no_place_of_its_own_to_export_to(jarvis, tree):
    jarvis.submit(tree / "a.c", paused=True)

    ended = jarvis("runs", "export", "last")

    assert ended.code == 2
    assert ended.line.endswith(f"its root {tree}/a.c is not a directory here; choose one with -d")


@pytest.mark.slow
def test_waiting_ends_as_the_run_did(jarvis, done, paused):
    assert jarvis("runs", "wait", done).code == 0
    assert jarvis("runs", "wait", done, "-q").err == ""
    assert "findings in 2 files" in jarvis("runs", "watch", done).line

    ended = jarvis("runs", "wait", paused, "-q")
    assert ended.code == 3
    assert "; NOT CHECKED: 2 files; first: " in ended.line
    assert ended.line.endswith(f"; continue with: jarvis runs resume {paused}")


def test_waiting_fails_where_the_first_command_was_told_to_fail(jarvis, tree):
    assert jarvis("sec", "fast", tree, "-q", "--fail-on", "high").code == 1
    assert jarvis("runs", "wait", "last", "-q").code == 1


def test_waiting_gives_up_and_the_run_goes_on(jarvis, tree):
    run = jarvis.submit(tree, alive=True)

    ended = jarvis("runs", "wait", run, "--timeout", "0.05")

    assert ended.code == 4
    assert ended.line == f"jarvis: run {run} is still running after 0.05 s"
    assert state(jarvis, run) == "planning"


def test_waiting_for_a_run_whose_command_is_gone_ends_at_once(jarvis, tree):
    run = jarvis.submit(tree)

    ended = jarvis("runs", "wait", run)

    assert ended.code == 3
    assert ended.line == f"jarvis: run {run}: its command has ended; continue with: jarvis runs resume {run}"


@pytest.mark.sample(1)
@pytest.mark.parametrize("how", ["paused", "abandoned"])
def test_a_run_goes_on_and_reports_as_if_it_had_never_stopped(jarvis, tree, done, how):
    run = jarvis.submit(tree, paused=how == "paused")

    ended = jarvis("runs", "resume", run, "--format", "json", "--fail-on", "high")

    calm = json.loads(jarvis("runs", "report", done, "--format", "json").out)
    report = json.loads(ended.out)
    assert ended.code == 1
    assert ended.line.startswith(f"jarvis: run {run} done: 2 findings in 2 files; exit 1: 2 findings at or above high ")
    assert (report["summary"], report["issues"]) == (calm["summary"], calm["issues"])


def test_a_resumed_run_ends_and_reports_as_its_first_command_was_told_to(jarvis, tree):
    run = jarvis.submit(tree, paused=True, output_format="json", fail_on="high", relative_to=str(jarvis.place))

    ended = jarvis("runs", "resume", run)

    assert (ended.code, json.loads(ended.out)["run"]["path_prefix"]) == (1, tree.name)
    assert "(--fail-on high)" in ended.line
    assert jarvis("runs", "wait", run, "-q").code == 1


@pytest.mark.slow
def test_options_of_the_command_that_resumes_a_run_win(jarvis, tree):
    facts = {"output": str(jarvis.place / "first.md"), "output_format": "markdown", "relative_to": str(jarvis.place)}
    run = jarvis.submit(tree, paused=True, fail_on="high", **facts)

    ended = jarvis("runs", "resume", run, "--json", "--fail-on", "low", "--relative-to", tree)

    assert (ended.code, "(--fail-on low)" in ended.line) == (1, True)
    assert not json.loads(ended.out)["run"].get("path_prefix")
    assert not (jarvis.place / "first.md").exists()


def test_a_run_that_another_command_works_on_is_not_taken_over(jarvis, tree):
    run = jarvis.submit(tree, alive=True)

    ended = jarvis("runs", "resume", run)

    assert ended.code == 2
    assert f"run {run} is being executed by " in ended.line


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("resume", "is done; nothing to resume; failed jobs: jarvis runs retry "),
        ("retry", "no job failed; submit again to check the files that the report lists as not checked"),
        ("cancel", "has ended already"),
    ],
)
def test_what_makes_no_sense_for_a_run_is_refused(jarvis, done, command, says):
    ended = jarvis("runs", command, done)

    assert ended.code == 2
    assert says in ended.line


def test_a_paused_run_is_cancelled_and_keeps_its_report(jarvis, paused):
    ended = jarvis("runs", "cancel", paused)

    assert (ended.code, ended.line) == (0, f"run {paused} is cancelled")
    assert jarvis("runs", "wait", paused, "-q").code == 2
    report = jarvis("runs", "report", paused, "--format", "json")
    assert report.code == 2
    assert [gap["file"] for gap in json.loads(report.out)["summary"]["not_checked"]] == ["a.c", "b.c"]


@pytest.mark.slow
def test_what_failed_is_tried_again_and_only_that(jarvis, tree):
    run = jarvis.submit(tree, paused=True)
    shards = hide_blobs(jarvis)
    jarvis.submit(jarvis.tree("other", {"c.c": COPY * 2}), paused=True)  # without any blob, jobs wait for the store
    broken = jarvis("runs", "resume", run, "-q")
    assert broken.code == 2
    assert broken.line.endswith("set JARVIS_BLOBS_URL to the value used at submission, or submit the tree again")
    assert state(jarvis, run) == "failed"
    for shard, hidden in shards.items():
        hidden.rename(shard)

    ended = jarvis("runs", "retry", run, "--format", "json")

    assert ended.code == 0
    assert json.loads(ended.out)["summary"]["total"] == 2


def hide_blobs(jarvis):
    """Take away what the scan reads; the plan of a run then fails."""
    blobs = [path for path in (jarvis.settings.data_dir / "blobs").rglob("*") if path.is_file()]
    return {blob: blob.rename(blob.with_suffix(".hidden")) for blob in blobs}


@pytest.mark.slow
def test_pruning_deletes_what_it_is_told_and_keeps_what_others_want(jarvis, tree, done):
    jarvis("sec", "fast", "-p", tree, "-q", "-o", "r.md")

    ended = jarvis("runs", "prune", done)

    assert (ended.code, ended.line) == (0, "deleted 1 run, 0 blobs (0.0 MB)")
    assert jarvis("runs", "show", done).code == 2
    assert jarvis("runs", "report", "last", "--format", "markdown").out == Path("r.md").read_text()


@pytest.mark.slow
def test_what_no_run_wants_goes_after_a_day(jarvis, tree, done):
    other = jarvis.tree("other", {"c.c": COPY * 2})
    jarvis("sec", "fast", "-p", other, "-q", "-o", "r.md")
    for blob in (jarvis.settings.data_dir / "blobs").rglob("*"):
        os.utime(blob, (0, 0))

    ended = jarvis("runs", "prune", done)

    gone = re.search(r"deleted 1 run, (\d+) blobs", ended.line)
    assert gone
    assert int(gone[1]) >= 4
    assert jarvis("runs", "report", "last").code == 0


@pytest.mark.slow
def test_pruning_by_age_and_by_nothing(jarvis, done, paused):
    assert jarvis("runs", "prune").line == "deleted 0 runs, 0 blobs (0.0 MB)"
    assert jarvis("runs", "prune", "--older-than", "1").line.startswith("deleted 0 runs")
    assert jarvis("runs", "prune", "--older-than", "0").line.startswith("deleted 1 run,")
    assert state(jarvis, paused) == "paused"


def test_answers_are_forgotten_by_age_and_only_when_it_is_said(jarvis):
    with wiring.store_of(jarvis.settings) as store, store.write() as session:
        transcripts.save(session, [transcripts.StoredAnswer("a" * 64, "said")])

    said = [jarvis("runs", "prune", *more).line for more in ((), ("--answers",), ("--answers", "--older-than", "0"))]
    assert [line.partition("(0.0 MB)")[2] for line in said] == ["", ", 0 answers", ", 1 answer"]


def test_a_run_that_is_not_over_is_not_pruned(jarvis, paused):
    ended = jarvis("runs", "prune", paused)

    assert ended.code == 2
    assert ended.line == f"jarvis: run {paused} is paused; cancel it first: jarvis runs cancel {paused}"


@pytest.mark.slow
@pytest.mark.timing
def test_an_interrupted_run_stops_at_once_and_goes_on_later(jarvis, monkeypatch):
    monkeypatch.setenv("JARVIS_TICK_SECONDS", "0.05")
    gate = Gate(jarvis.place.parent / "gate", monkeypatch)
    tree = jarvis.tree("dense", {f"{n}.c": f"/* {n} */\n{DENSE}" for n in range(4)} | {"gated.c": GATED})
    terminal, standard_error = pty.openpty()
    process = jarvis.start("sec", "fast", "-p", tree, stderr=standard_error, stdout=subprocess.PIPE)
    os.close(standard_error)
    read_until(terminal, b"scan ")

    process.send_signal(signal.SIGINT)

    said = read_until(terminal, b"interrupted")
    assert (process.communicate()[0], process.returncode) == (b"", 130)
    assert b"is not finished; continue with: jarvis runs resume" in said
    assert b"Traceback" not in said
    os.close(terminal)
    assert state(jarvis, "last") == "paused"
    gate.open()
    assert json.loads(jarvis("runs", "resume", "last", "--format", "json").out)["summary"]["total"] == 8_000


@pytest.mark.slow
@pytest.mark.timing
def test_an_interrupted_command_does_not_wait_for_who_reads_its_report_no_more(jarvis):
    tree = jarvis.tree("dense", {"a.c": DENSE})
    process = jarvis.start(
        "sec", "fast", "-p", tree, "--format", "json", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    until(lambda: waiting_in(process.stdout) >= PIPE_BYTES)

    process.send_signal(signal.SIGINT)

    assert process.wait() == 130
    assert process.communicate()[1].endswith(b"jarvis: interrupted\n")
    assert state(jarvis, "last") == "done"


def waiting_in(pipe):
    """Return how many bytes nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.slow
@pytest.mark.timing
def test_who_stops_watching_is_told_that_the_run_goes_on(jarvis):
    with wiring.store_of(jarvis.settings) as store:
        run = add_planned_run(store, 1, executor="cluster")
    terminal, standard_error = pty.openpty()
    process = jarvis.start("runs", "watch", run, stderr=standard_error)
    os.close(standard_error)
    read_until(terminal, b"scan ")

    process.send_signal(signal.SIGINT)

    assert f"run {run} continues without this command; see: jarvis runs wait {run}".encode() in read_until(
        terminal, b"interrupted"
    )
    assert process.wait() == 130
    os.close(terminal)


def read_until(terminal, mark):
    said = b""
    while mark not in said:
        said += os.read(terminal, 4096)
    return said


class Signalled:
    """Stands in for the executor: somebody ends the command while it works."""

    def __init__(self, number):
        self.number = number

    def carry_out(self, run_id):
        os.kill(os.getpid(), self.number)
        return f"run {run_id} done"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_told_to_end_leaves_its_run_resumable(number, capfd):
    inherited = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_locally(Signalled(number), "abcd", Quiet())

        assert capfd.readouterr().err == "jarvis: run abcd is not finished; continue with: jarvis runs resume abcd\n"
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, inherited)


def test_a_hangup_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run_locally(Signalled(signal.SIGHUP), "abcd", Quiet()) == "run abcd done"
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_store_that_stays_away_leaves_a_run_resumable(capfd):
    class Away:
        def carry_out(self, run_id):
            raise StoreUnavailable("gone")

    with pytest.raises(StoreUnavailable):
        run_locally(Away(), "abcd", Quiet())

    assert "continue with: jarvis runs resume abcd" in capfd.readouterr().err


@pytest.mark.slow
def test_runs_are_told_apart_by_branch_commit_and_label(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY, ".git/HEAD": "ref: refs/heads/topic\n", ".git/refs/heads/topic": "a" * 40})
    jarvis("sec", "fast", "-p", tree, "-o", "r.json")

    assert jarvis("runs", "label", "last", " v1 \t rc ").line.endswith("is named v1 rc")
    (row,) = json.loads(jarvis("runs", "list", "--json").out)
    assert (row["label"], row["branch"], row["commit"]) == ("v1 rc", "topic", "a" * 40)
    head, line = jarvis("runs", "list").out.splitlines()
    assert head.split() == ["RUN", "KIND", "STATE", "CREATED", "FILES", "REVISION", "LABEL", "ROOT"]
    assert "  topic aaaaaaaaa" in line
    assert "v1 rc" in line
    assert "checkout      topic aaaaaaaaa" in jarvis("runs", "show", "last").out
    assert "v1 rc, topic aaaaaaaaa+unknown, sec.fast, done" in jarvis("runs", "diff", "last", "last").out
    assert json.loads((jarvis.place / "r.json").read_text())["run"]["checkout"]["branch"] == "topic"
    assert "at most 60 characters" in jarvis("runs", "label", "last", "x" * 61).line
    jarvis("runs", "label", "last", "")
    assert "LABEL" not in jarvis("runs", "list").out


@pytest.mark.slow
def test_runs_are_found_by_their_labels(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY, ".git/HEAD": "ref: refs/heads/topic\n", ".git/refs/heads/topic": "a" * 40})
    jarvis("sec", "fast", "-p", tree, "--rules", "unsafe_api", "--label", "team=disk", "--label", "x/y=")
    first = json.loads(jarvis("sec", "fast", "-p", tree, "--label", "team=net", "--json").out)  # a small scan

    def found(*labels):
        options = [part for label in labels for part in ("--label", label)]
        return [row["labels"] for row in json.loads(jarvis("runs", "list", "--json", *options).out)]

    # Git cannot read the commit of this repository.
    labels = {"branch": "topic", "commit": f"{'a' * 40}+unknown", "dirty": "unknown", "team": "net"}
    assert found("team=net") == found("team", "branch=topic", "team=net") == [labels]
    assert [one["team"] for one in found("branch=topic")] == ["net", "disk"]
    assert found("x/y") == [labels | {"team": "disk", "x/y": ""}]
    assert jarvis("runs", "list", "--label", "team=none").line == "no run has these labels"
    shown = jarvis("runs", "show", first["run"]["id"])
    assert f"labels        branch=topic, commit={'a' * 40}+unknown, dirty=unknown, team=net\n" in shown.out
    assert json.loads(jarvis("runs", "show", "last", "--json").out)["labels"]["team"] == "net"
    assert "labels" not in first["run"]


@pytest.mark.parametrize("command", [("sec", "fast"), ("sec", "agent"), ("agent", "-T", "x"), ("runs", "list")])
def test_a_wrong_label_is_refused_before_anything_runs(jarvis, tree, command):
    ended = jarvis(*command, "--label", "a b=c")

    assert ended.code == 2
    assert '--label: the key "a b" should consist of letters' in ended.line
    assert jarvis("runs", "list").line == "no runs yet; start one with: jarvis sec fast"


@pytest.mark.parametrize("state", ["paused", "incomplete"])
def test_a_run_of_an_earlier_version_with_a_stage_that_is_gone_is_shown_and_not_continued(jarvis, tree, paused, state):
    with wiring.store_of(jarvis.settings) as store:
        ranking = blobs_of(jarvis.settings).put(json.dumps([["a.c", "f", 1, 2.0], ["b.c", "f", 1, 1.0]]).encode())
        payload = DiscoverPayload(ranking, 0, "a.c", functions=9, chosen=2).to_json()
        with store.write() as session:
            session.execute(STAGE.update().values(ordinal=STAGE.c.ordinal + 2).where(STAGE.c.name == "report"))
            for place, name in enumerate(("rank", "discover"), 3):
                session.execute(STAGE.insert().values(run_id=paused, name=name, ordinal=place, state="open"))
            jobs.insert_jobs(session, paused, "discover", [NewJob("discover", "agent", "a.c#f", "0", payload)])
            session.execute(RUN.update().values(kind="sec.agent", version="0.0.9", state=state))

    shown, report = jarvis("runs", "show", paused), jarvis("runs", "report", paused, "--json")
    summary = json.loads(report.out)["summary"]
    again = jarvis("runs", "resume" if state == "paused" else "retry", paused)

    assert (shown.code, "discover stage" in shown.out) == (0, True)
    assert summary["discovery"] == {"functions": 9, "chosen": 2, "searched": 0, "lines_outside": 0}
    reasons = [gap["reason"] for gap in summary["not_checked"] if "was not searched" in gap["reason"]]
    assert (
        reasons == ["function f was not searched for defects (--discover): it was not reached before the run ended"] * 2
    )
    why = f'run {paused} was begun by version 0.0.9, whose stage "rank" this version does not have'
    assert (again.code, again.line) == (2, f"jarvis: {why}; submit a new run")
