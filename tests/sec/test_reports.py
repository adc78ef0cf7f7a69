"""A report is what the report stage wrote or, before that, what there is by now."""

import json
from dataclasses import asdict, replace

import pytest

from jarvis_workers.runs.run_facts import RunCosts, run_facts
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.runs.runs import find_run
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.report import FORMATS
from jarvis_workers.sec.run_reports.reports import read_body, render
from jarvis_workers.sec.stages.options import RuleFacts
from jarvis_workers.store import artifacts, runs
from tests.runs.test_submit import asking
from tests.support.issues import body_of


@pytest.fixture
def run(store, blobs, tmp_path):
    (tmp_path / "tree").mkdir()
    for name in ("a.c", "b.c"):
        (tmp_path / "tree" / name).write_text("int a;\n")
    return find_run(store, submit(store, blobs, asking(tmp_path / "tree")))


def test_before_its_end_a_report_names_everything_as_not_reached(store, blobs, run):
    body = read_body(store, blobs, run)

    assert body.summary.scanned_files == 0
    assert [tuple(gap) for gap in body.summary.not_checked] == [
        ("a.c", "not reached before the run ended"),
        ("b.c", "not reached before the run ended"),
    ]


def test_at_its_end_a_report_is_what_was_written(store, blobs, run):
    with store.write() as session:
        artifacts.save(session, run.id, [("report", blobs.put(b'{"summary": {"total": 7}, "issues": []}'), 39)])
        runs.finish(session, run.id, "done")

    assert read_body(store, blobs, find_run(store, run.id)) == body_of({"total": 7})


def test_a_run_that_ended_without_a_report_has_what_there_is(store, blobs, run):
    with store.write() as session:
        runs.finish(session, run.id, "failed", "could not plan scan")

    body = read_body(store, blobs, find_run(store, run.id))

    assert len(body.summary.not_checked) == 2


@pytest.mark.timing
def test_the_run_part_holds_what_differs_between_two_runs(store, run):
    with store.write() as session:
        runs.start(session, run.id)
    before = run_part(store, find_run(store, run.id))
    with store.write() as session:
        runs.finish(session, run.id, "done")
    after = run_part(store, find_run(store, run.id))

    assert before["seconds"] is None
    assert (before["ended_at"], before["state"]) == (None, "running")
    assert after["seconds"] >= 0
    assert after["created_at"] <= after["started_at"] <= after["ended_at"]
    assert after["ended_at"].endswith("+00:00")
    assert set(after["stages"]) == {"scan", "summarize", "flow", "report"}
    assert after["stages"]["scan"]["jobs"] == 0
    assert json.loads(json.dumps(after)) == after


def test_the_run_part_of_a_run_without_rules_has_those_of_a_default_scan(run):
    rules = asdict(RuleFacts())
    del rules["blob"]

    assert run_facts(replace(run, kind="agent", options={}), (), RunCosts())["rules"] == rules


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_every_format_renders(store, blobs, run, form):
    assert "not reached before the run ended" in render(store, blobs, run, form)
