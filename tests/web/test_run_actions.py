"""Runs are cancelled, resumed and retried in the page, compared, and shown over time."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from jarvis_workers.runs.runs import find_run
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store import crash_attribution, runs, transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.transcripts import ModelCall
from jarvis_workers.web.context import EXTENSION
from tests.store import arrange
from tests.web.sample import add_report, csrf_token, issue, submitted
from tests.web.test_pages import text_of


def post(client: FlaskClient, page: str, action: str, **form: str) -> int:
    return client.post(f"{page}/{action}", data={"csrf_token": csrf_token(client, page), **form}).status_code


def test_a_run_is_cancelled(client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path) -> None:
    submitted(store, blobs, tmp_path / "tree", "two")

    assert post(client, "/runs/two", "cancel") == 303
    assert find_run(store, "two").state == "cancelled"
    assert "Cancel</button>" not in text_of(client, "/runs/two")


@pytest.mark.slow
def test_a_paused_local_run_is_resumed_and_executed_here(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    submitted(store, blobs, tmp_path / "tree", "two")
    with store.write() as session:
        runs.pause(session, "two", "interrupted")

    assert "Resume</button>" in text_of(client, "/runs/two")
    assert post(client, "/runs/two", "resume") == 303
    client.application.extensions[EXTENSION].background.wait()
    assert find_run(store, "two").state == "done"


def test_failed_jobs_of_a_cluster_are_retried_by_its_workers(client: FlaskClient, store: Store) -> None:
    run_id = arrange.add_planned_run(store, 1, executor="cluster")
    for _ in range(crash_attribution.CRASHES_ALONE):
        arrange.claim(store, run_id)
        with store.write() as session:
            crash_attribution.crash_process(session, run_id, "killed by SIGKILL")
    arrange.run_to_its_end(store, run_id)
    text = text_of(client, f"/runs/{run_id}")

    assert "Retry 1 failed job<" in text and "The findings cannot be read" in text
    form = {"csrf_token": csrf_token(client, f"/runs/{run_id}")}
    assert client.post(f"/runs/{run_id}/retry", data=form).status_code == 303
    assert (find_run(store, run_id).state, arrange.states(store, run_id)) == ("running", ["pending"])


def test_a_run_that_cannot_be_resumed_is_refused(client: FlaskClient) -> None:
    for action in ("resume", "retry"):
        form = {"csrf_token": csrf_token(client, "/runs/one/findings/C000001")}
        assert client.post(f"/runs/one/{action}", data=form).status_code == 400


def test_two_runs_are_compared(client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path) -> None:
    submitted(store, blobs, tmp_path / "tree", "two")
    add_report(store, blobs, "two", [issue(1), issue(3, evidence="gets(line);")])
    text = text_of(client, "/compare?after=two")

    new = text.partition('id="new"')[2].partition("</section>")[0]
    assert "gets(line);" in new and "strcpy" not in new
    assert "/runs/two/findings/C000003" in new


def test_the_trend_draws_each_run_of_a_source(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    submitted(store, blobs, tmp_path / "tree", "two")
    add_report(store, blobs, "two", [issue(number) for number in range(1, 6)])
    chart = text_of(client, "/trend").partition("<svg")[2].partition("</svg>")[0]

    assert chart.index("/runs/one") < chart.index("/runs/two")
    assert "2 findings, 1 high" in chart and "5 findings, 5 high" in chart


def test_the_cost_of_runs_is_shown(client: FlaskClient, store: Store) -> None:
    assert "None of these runs asked a model" in text_of(client, "/cost")
    call = ModelCall("one", 1, "m", prompt=900, cached=0, completion=100, cost=1.5, seconds=1.0, tries=1)
    with store.write() as session:
        transcripts.save(session, [call, call])

    text = text_of(client, "/cost")
    assert "$3.00" in text and "2,000" in text


def test_a_cost_without_prices_is_unknown(client: FlaskClient, store: Store) -> None:
    call = ModelCall("one", 1, "m", prompt=900, cached=0, completion=100, cost=None, seconds=1.0, tries=1)
    with store.write() as session:
        transcripts.save(session, [call])

    text = text_of(client, "/cost")
    assert "unknown: no prices" in text and "$0" not in text
    assert "without 1 run of unknown cost" in text


def test_a_run_gets_a_name(client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path) -> None:
    submitted(store, blobs, tmp_path / "tree", "two")

    assert post(client, "/runs/two", "name", name="release 1.2") == 303
    assert "release 1.2" in text_of(client, "/runs")
