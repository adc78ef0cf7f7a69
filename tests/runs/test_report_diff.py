"""Two runs are compared by their reports, and by what the later one's snapshot holds."""

import json
import time

import pytest

from jarvis_workers.assistant.task.task_options import TaskOptions
from jarvis_workers.runs.request import RunInput
from jarvis_workers.runs.runs import find_run
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.sec.report_json import body_to_json
from jarvis_workers.sec.run_reports.diff import difference
from jarvis_workers.sec.runs.scan_runs import NotAScan, scan_of
from jarvis_workers.store import artifacts, runs
from tests.runs.test_submit import asking
from tests.sec.verdicts import COPY, judged_body, like

PLAIN = {"status": "heuristic"}


@pytest.fixture
def ended(store, blobs, tmp_path):
    """Let a run over a tree with one file end with a report."""
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "src" / "list.c").write_text("int a;\n")

    def end(name, body, **asked):
        run = submit(store, blobs, asking(tree, name, **asked))
        content = json.dumps(body_to_json(body) if isinstance(body, ReportBody) else body).encode()
        with store.write() as session:
            artifacts.save(session, run, [("report", blobs.put(content), len(content))])
            runs.finish(session, run, "done")
        return find_run(store, run)

    return end


def left(found):
    return {one.issue.candidate.file: one.reason for one in found.not_checked}, [
        one.candidate.file for one in found.fixed
    ]


def test_what_is_gone_from_a_file_of_the_snapshot_is_fixed_and_of_one_left_out_it_is_not(store, blobs, ended):
    before = ended("one", judged_body((COPY, PLAIN), (like(COPY, file="src/other.c"), PLAIN)))
    after = ended("two", judged_body(left_out={"excluded": 1}))

    found = difference(store, blobs, before, after).difference

    assert left(found) == ({"src/other.c": "may be omitted: excluded"}, ["src/list.c"])


def test_a_snapshot_that_is_gone_says_nothing_of_its_files(store, blobs, ended):
    before, after = ended("one", judged_body((COPY, PLAIN))), ended("two", judged_body(left_out={"excluded": 1}))
    assert blobs.delete(after.snapshot_id, unless_wanted_since=time.time() + 1)

    assert left(difference(store, blobs, before, after).difference) == ({"src/list.c": "may be omitted: excluded"}, [])


def test_what_a_report_does_not_list_is_noted(store, blobs, ended):
    body = judged_body((COPY, PLAIN))
    body = body._replace(summary=body.summary._replace(not_listed=9))
    sides = difference(store, blobs, ended("one", body), ended("two", judged_body((COPY, PLAIN))))

    assert sides.notes == ["the earlier run lists only its 1 highest-scoring findings: only these are compared"]
    assert (sides.before["id"], sides.after["id"]) == ("one", "two")


def test_a_run_that_has_no_findings_is_refused(store, blobs, ended):
    task = TaskOptions(task="Where is it?", model_group="m")
    agent = ended("one", {"answer": "here"}, kind="agent", run_input=RunInput(task))

    with pytest.raises(NotAScan, match=r"run one is no scan \(kind agent\)"):
        difference(store, blobs, scan_of(agent), scan_of(agent))
