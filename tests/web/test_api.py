"""The JSON API: the data of the pages, for programs with tokens."""

from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from jarvis_workers.sec.triage.records import stored_judgements
from jarvis_workers.settings.schema import WebSettings
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.web.access.credentials import new_token, token_line
from tests.web.sample import add_report, application, issue, submitted

TRIAGE = "/api/v1/runs/one/findings/C000001/triage"


class Program:
    """A client of the API with a token."""

    def __init__(self, app: Flask, token: str) -> None:
        self._client = app.test_client()
        self._headers = {"Authorization": f"Bearer {token}"}

    def ask(self, method: str, path: str, status: int = 200, **more: Any) -> Any:
        answer = self._client.open(f"/api/v1{path}", method=method, headers=self._headers, **more)
        assert answer.status_code == status, answer.get_data(as_text=True)
        return answer.json


@pytest.fixture
def programs(store: Store, blobs: DirectoryBlobs, run: Run, tmp_path: Path) -> tuple[Program, Program]:
    """A program that may change something, and one that may only read."""
    tokens = new_token(), new_token()
    lines = (token_line("ci", "editor", tokens[0]), token_line("board", "viewer", tokens[1]))
    (tmp_path / "tokens").write_text("# of the team\n" + "\n".join(lines) + "\n")
    app = application(store, blobs, WebSettings(tokens_file=tmp_path / "tokens"))
    return Program(app, tokens[0]), Program(app, tokens[1])


def test_runs_and_their_findings_are_listed(programs: tuple[Program, Program]) -> None:
    _, reader = programs
    (run,) = reader.ask("GET", "/runs")["runs"]
    found = reader.ask("GET", "/runs/last/findings?severity=low")

    assert (run["id"], run["state"], run["findings"]) == ("one", "done", {"high": 1, "medium": 0, "low": 1})
    assert [one["id"] for one in found["findings"]] == ["C000002"]
    assert reader.ask("GET", "/runs/one")["summary"]["total"] == 2
    detail = reader.ask("GET", "/runs/one/findings/C000001")
    assert detail["finding"]["evidence"] == "strcpy(d, s);" and detail["code"][0]["lines"][0] == "int a1;"


def test_a_verdict_is_given_and_withdrawn(programs: tuple[Program, Program], store: Store) -> None:
    editor, _ = programs
    said = editor.ask("PUT", TRIAGE.removeprefix("/api/v1"), json={"verdict": "wontfix", "reason": "test code"})

    assert (said["verdict"], said["reason"], said["by"]) == ("wontfix", "test code", "ci")
    editor.ask("DELETE", TRIAGE.removeprefix("/api/v1"), 204)
    assert stored_judgements(store) == {}


def test_a_viewer_changes_nothing(programs: tuple[Program, Program], store: Store) -> None:
    _, reader = programs
    problem = reader.ask("PUT", TRIAGE.removeprefix("/api/v1"), 403, json={"verdict": "true"})

    assert "viewer" in problem["error"] and stored_judgements(store) == {}
    reader.ask("POST", "/runs/one/cancel", 403)


def test_a_wrong_token_is_refused(programs: tuple[Program, Program], app: Flask) -> None:
    assert "token" in Program(app, "wrong").ask("GET", "/runs", 401)["error"]
    assert app.test_client().get("/api/v1/runs").status_code == 401


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/runs?page=0", "page"),
        ("/runs?size=100000", "size"),
        ("/runs/one/findings?severity=worst", "severity"),
        ("/runs/one/gate?fail_on=none", "fail_on"),
        (f"/runs?root={'x' * 5000}", "root"),
        ("/runs/one/gate?fail-on=low", 'unknown parameter "fail-on" (did you mean "fail_on"?)'),
        ("/runs/one/gate?fail_on=high&fail_on=low", 'parameter "fail_on" is given 2 times'),
        ("/runs/one/findings?severty=high", '(did you mean "severity"?)'),
        ("/runs?state=done&zz=1", 'unknown parameter "zz"; parameters: page, size, state, kind, root, label'),
        ("/runs/one?verbose=1", 'unknown parameter "verbose"; parameters: none'),
        ("/diff?befor=one", '(did you mean "before"?)'),
        ("/trend?projekt=x", '(did you mean "project"?)'),
        (f"/runs?{'x' * 5000}=1", "unknown parameter"),
    ],
)
def test_an_invalid_parameter_is_named(programs: tuple[Program, Program], path: str, problem: str) -> None:
    assert problem in programs[0].ask("GET", path, 400)["error"]


def test_a_gate_counts_new_findings(
    programs: tuple[Program, Program], store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    _, reader = programs
    submitted(store, blobs, tmp_path / "tree", "two")
    add_report(store, blobs, "two", [issue(1), issue(3)])
    gate = reader.ask("GET", "/runs/two/gate?baseline=last&fail_on=high")

    assert (gate["outcome"], gate["number"], gate["baseline"]) == ("failed", 1, "one")
    assert [one["id"] for one in gate["findings"]] == ["C000003"]
    assert reader.ask("GET", "/runs/one/gate?fail_on=high")["reason"] == "1 finding at or above high"
    assert reader.ask("GET", "/runs/one/gate?baseline=one")["outcome"] == "passed"


def test_a_gate_is_not_passed_by_a_run_that_has_not_ended(
    programs: tuple[Program, Program], store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    submitted(store, blobs, tmp_path / "tree", "two")

    assert programs[1].ask("GET", "/runs/two/gate")["outcome"] == "incomplete"


def test_two_runs_are_compared(
    programs: tuple[Program, Program], store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    submitted(store, blobs, tmp_path / "tree", "two")
    add_report(store, blobs, "two", [issue(1)])
    found = programs[1].ask("GET", "/diff?after=two")

    assert (found["before"], found["after"]) == ("one", "two")
    assert found["counts"]["unchanged"] == 1 and found["counts"]["new"] == 0
    assert [run["id"] for run in programs[1].ask("GET", f"/trend?root={tmp_path}/tree")["runs"]] == ["one", "two"]


def test_a_run_is_cancelled(
    programs: tuple[Program, Program], store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    submitted(store, blobs, tmp_path / "tree", "two")

    assert programs[0].ask("POST", "/runs/two/cancel")["state"] == "cancelled"
    assert "ended already" in programs[0].ask("POST", "/runs/two/cancel", 400)["error"]


def test_every_operation_is_described(client: FlaskClient) -> None:
    described = client.get("/api/v1/openapi.json").json

    assert described is not None
    paths = described["paths"]
    assert {"/api/v1/runs", "/api/v1/runs/{run_id}/gate", "/api/v1/diff"} <= set(paths)
    assert set(paths["/api/v1/runs/{run_id}/findings/{finding_id}/triage"]) == {"put", "delete"}
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert all(
        "200" in one["responses"] or "204" in one["responses"] for path in paths.values() for one in path.values()
    )
