"""What the pages of runs and findings show."""

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from jarvis_workers.sec.fix.fixable import FixFinding, FixLine, FixPlan
from jarvis_workers.sec.fix.result import FixResult, FixResults
from jarvis_workers.sec.fix_runs.fix_request import FixInput
from jarvis_workers.sec.stages.fix_options import FixOptions
from jarvis_workers.sec.triage.records import stored_judgements
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store import artifacts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from tests.c2rust.stages.symbol_scans import start_symbol_scan
from tests.sec.stages.pipeline import Pipeline
from tests.web.sample import add_report, csrf_token, issue, submitted

FINDING = "/runs/one/findings/C000001"


def text_of(client: FlaskClient, address: str, status: int = 200) -> str:
    answer = client.get(address)
    text: str = answer.get_data(as_text=True)
    assert answer.status_code == status, text
    return text


def test_the_list_of_runs_is_filtered_by_state_root_and_label(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    submitted(store, blobs, tmp_path / "other", "two", labels={"team": "network"})

    assert "/runs/one" in text_of(client, "/runs") and "/runs/two" in text_of(client, "/runs")
    for query in ("state=planning", f"root={tmp_path}/other", "label=team=network", "label=team"):
        text = text_of(client, f"/runs?{query}")
        assert "/runs/two" in text and 'href="/runs/one"' not in text, query
    assert "No run matches" in text_of(client, "/runs?label=team=storage")


def test_a_run_lists_its_findings_worst_first(client: FlaskClient) -> None:
    text = text_of(client, "/runs/one")

    assert text.index("C000001") < text.index("C000002")
    assert "strcpy(d, s);" in text and "a.c:1" in text and "lib/b.c:2" in text


@pytest.mark.parametrize(
    "query",
    [
        "severity=low",
        "rule=weak_random",
        "rule=gcc:x",
        "analyzer=gcc",
        "category=crypto",
        "path=LIB/",
        "severity=low&status=heuristic",
    ],
)
def test_findings_are_filtered(client: FlaskClient, query: str) -> None:
    text = text_of(client, f"/runs/one?{query}")

    assert "/findings/C000002" in text and "/findings/C000001" not in text


def test_findings_are_paged(client: FlaskClient) -> None:
    first, second = (text_of(client, f"/runs/one?size=1&page={page}") for page in (1, 2))

    assert "/findings/C000001" in first and "Page 1 of 2" in first
    assert "/findings/C000002" in second and "/findings/C000001" not in second


def test_a_finding_is_shown_with_its_code(client: FlaskClient) -> None:
    text = text_of(client, FINDING)

    assert "int a1;" in text and "copies without a bound" in text and "CWE-120" in text


def test_a_verdict_is_stored_with_reason_and_user(client: FlaskClient, store: Store) -> None:
    form = {"csrf_token": csrf_token(client, FINDING), "verdict": "false", "reason": "bounded above", "then": "next"}
    answer = client.post(f"{FINDING}/triage", data=form)

    assert answer.headers["Location"] == "/runs/one/findings/C000002"
    (said,) = stored_judgements(store).values()
    assert (said.verdict, said.reason, said.by, said.file) == ("false", "bounded above", "ann", "a.c")
    page = text_of(client, FINDING)
    assert "bounded above" in page and "web: mark C000001=false" in page
    assert "/findings/C000001" in text_of(client, "/runs/one?triage=false")
    assert "/findings/C000001" not in text_of(client, "/runs/one?triage=none")


def test_a_verdict_that_needs_a_reason_is_refused_without_one(client: FlaskClient, store: Store) -> None:
    form = {"csrf_token": csrf_token(client, FINDING), "verdict": "wontfix", "reason": " "}
    answer = client.post(f"{FINDING}/triage", data=form)

    assert answer.status_code == 400 and "requires a reason" in answer.get_data(as_text=True)
    assert stored_judgements(store) == {}


def test_a_verdict_is_withdrawn(client: FlaskClient, store: Store) -> None:
    token = csrf_token(client, FINDING)
    for verdict in ("true", "withdraw"):
        client.post(f"{FINDING}/triage", data={"csrf_token": token, "verdict": verdict})

    assert stored_judgements(store) == {}
    assert "before: true by ann" in text_of(client, FINDING)


def test_files_that_were_not_checked_are_listed(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    submitted(store, blobs, tmp_path / "tree", "two")
    gaps = [{"file": "broken.c", "reason": "not valid UTF-8"}]
    add_report(store, blobs, "two", [], summary={"not_checked": gaps})

    assert "/runs/two/not-checked" in text_of(client, "/runs/two")
    assert "broken.c" in text_of(client, "/runs/two/not-checked")


def test_an_active_run_is_polled_and_an_ended_one_is_not(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    submitted(store, blobs, tmp_path / "tree", "two")

    assert 'data-poll="/runs/two/progress"' in text_of(client, "/runs/two")
    assert client.get("/runs/two/progress").headers["X-Run-Ended"] == "0"
    assert "data-poll" not in text_of(client, "/runs/one")


def test_a_new_report_of_a_run_is_read_again(client: FlaskClient, store: Store, blobs: DirectoryBlobs) -> None:
    assert "C000009" not in text_of(client, "/runs/one")
    add_report(store, blobs, "one", [issue(9)])

    assert "C000009" in text_of(client, "/runs/one")


@pytest.mark.parametrize("address", ["/runs/none", "/runs/on", "/runs/one/findings/C1", "/runs/one/conversations/7"])
def test_what_does_not_exist_is_not_found(client: FlaskClient, address: str) -> None:
    assert "Error 404" in text_of(client, address, 404)


def test_the_application_is_healthy_without_a_sign_in(app: Flask, run: Run) -> None:
    assert app.test_client().get("/healthz", headers={"Host": "10.1.2.3"}).data == b"ok\n"


def test_a_run_that_fixes_findings_shows_its_patches(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    place = FixLine(file="src/<a>.c", line=3)
    facts = {"fingerprint": "f", "pattern": "unsafe_api", "language": "c/cpp", "cwe": 120, "severity": "high"}
    texts = {"status": "confirmed", "description": "", "suggestion": "", "place": place}
    finding = FixFinding(id="C1", gid=1, **facts, **texts)
    run_input = FixInput(FixOptions(scanned="one"), b"", FixPlan(findings=(finding,)))
    run = submitted(store, blobs, tmp_path / "fixed", "f1", kind="fix", run_input=run_input)
    waiting = client.get(f"/runs/{run.id}").text
    result = FixResult(finding=finding, state="refused", reason="tests: it fails")
    document = FixResults(results=(result,)).model_dump_json().encode()
    with store.write() as session:
        artifacts.save(session, run.id, [("fixes", blobs.put(document), len(document))])

    assert "C1 src/&lt;a&gt;.c:3 unsafe_api: not done" in waiting
    assert "C1 src/&lt;a&gt;.c:3 unsafe_api: refused" in client.get(f"/runs/{run.id}").text
    assert "tests: it fails" in client.get(f"/runs/{run.id}").text
    assert run.id in client.get("/runs?kind=fix").text


@pytest.mark.slow
def test_a_run_that_read_a_c_project_shows_its_numbers(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    pipeline = Pipeline(store, blobs)
    run = start_symbol_scan(pipeline, tmp_path / "c", {"a.c": "int f(void) { return 1; }\n", "b.c": "#error <b>\n"})
    pipeline.go_on(run)

    page = client.get(f"/runs/{run}").text

    assert "1 function (1 line)" in page
    assert "b.c: b.c:1: &lt;b&gt;" in page
    assert "c2rust.scan" in client.get("/runs?kind=c2rust.scan").text
    assert f'href="/runs/{run}/graph">Interactive page</a>' in page


@pytest.mark.slow
def test_the_page_of_a_graph_has_no_access_to_the_session(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    pipeline = Pipeline(store, blobs)
    run = start_symbol_scan(pipeline, tmp_path / "c", {"a.c": "int f(void) { return 1; }\n"})
    pipeline.go_on(run)

    answer = client.get(f"/runs/{run}/graph")

    assert (answer.status_code, answer.mimetype) == (200, "text/html")
    assert "Symbol graph" in answer.text or "symbol graph" in answer.text
    assert answer.headers["Content-Security-Policy"].startswith("sandbox allow-scripts; default-src 'none'")


def test_a_scan_for_findings_has_no_graph(client: FlaskClient) -> None:
    assert "run one has no graph" in text_of(client, "/runs/one/graph", 400)


def test_the_page_of_a_run_says_what_was_fuzzed(client: FlaskClient, store: Store, blobs: DirectoryBlobs) -> None:
    assert "Fuzzing" not in text_of(client, "/runs/one")
    targets = [{"target": "<b>.c", "reason": "it does not compile"}]
    add_report(store, blobs, "one", [], summary={"fuzzing": {"targets": targets}})

    assert "Fuzzing: &lt;b&gt;.c was not fuzzed, because it does not compile." in text_of(client, "/runs/one")
