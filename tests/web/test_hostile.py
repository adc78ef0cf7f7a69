"""Hostile requests, and hostile texts from scanned trees, models and users, do nothing."""

from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from jarvis_workers.runs.runs import find_run
from jarvis_workers.sec.triage.records import stored_judgements
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from tests.web.sample import TOKEN, add_report, csrf_token, issue, submitted

FINDING = "/runs/one/findings/C000001"
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(1)>\"' onmouseover=alert(1) x='"
UNSEEN = "user\u202eexe.c"
VERDICT = {"has_risk": True, "status": "confirmed", "preconditions": MARKUP, "trigger_path": MARKUP}
PLACES: list[dict[str, Any]] = [
    {"file": MARKUP},
    {"evidence": MARKUP},
    {"description": MARKUP, "suggestion": MARKUP},
    {"pattern": MARKUP, "category": MARKUP},
    {"witnesses": [{"rule": MARKUP, "line": 3, "text": MARKUP}]},
    {"path": [{"file": MARKUP, "line": 3, "note": MARKUP}]},
    VERDICT | {"consequences": MARKUP, "suggestions": MARKUP, "verification": MARKUP, "reason": MARKUP},
    VERDICT | {"evidence_quotes": [], "quotes": [{"file": MARKUP, "line": 1, "quote": MARKUP}]},
    VERDICT | {"commands": [{"interpreter": MARKUP, "script": MARKUP}]},
]


def pages_of(client: FlaskClient, store: Store) -> str:
    found = ("/runs", "/runs/two", "/runs/two/findings/C000001", "/compare?before=one&after=two", "/trend", "/cost")
    texts = []
    for page in found:
        answer = client.get(page)
        assert answer.status_code == 200, (page, answer.text)
        texts.append(answer.text)
    return "".join(texts)


def is_harmless(text: str) -> bool:
    inside = text.replace('<script defer src="/static/web.js"></script>', "")
    return "<script" not in inside and "<img" not in inside and "' onmouseover" not in inside


@pytest.mark.slow
@pytest.mark.parametrize("facts", PLACES, ids=lambda facts: ",".join(facts))
def test_markup_in_a_finding_stays_text(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path, facts: dict[str, Any]
) -> None:
    submitted(store, blobs, tmp_path / "tree", "two")
    add_report(store, blobs, "two", [issue(1, **facts)])
    text = pages_of(client, store)

    assert is_harmless(text) and "&lt;script&gt;" in text


def test_markup_in_roots_names_labels_and_gaps_stays_text(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    submitted(store, blobs, tmp_path / "<script>x", "two", labels={"team": MARKUP, "project": MARKUP})
    add_report(store, blobs, "two", [], summary={"not_checked": [{"file": MARKUP, "reason": MARKUP}]})
    form = {"csrf_token": csrf_token(client, FINDING), "name": MARKUP[:60]}
    client.post("/runs/two/name", data=form)
    text = "".join(client.get(page).text for page in ("/runs", "/runs/two", "/runs/two/not-checked", "/trend", "/cost"))

    assert is_harmless(text) and "&lt;script&gt;" in text


def test_markup_in_a_reason_stays_text(client: FlaskClient, store: Store) -> None:
    form = {"csrf_token": csrf_token(client, FINDING), "verdict": "false", "reason": MARKUP}

    assert client.post(f"{FINDING}/triage", data=form).status_code == 303
    client.post(f"{FINDING}/triage", data=form | {"reason": "again"})
    text = client.get(FINDING).text
    assert is_harmless(text) and text.count("&lt;script&gt;") == 1


@pytest.mark.slow
def test_invisible_characters_are_made_visible(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    submitted(store, blobs, tmp_path / "tree", "two")
    add_report(store, blobs, "two", [issue(1, file=UNSEEN)])

    assert "\u202e" not in pages_of(client, store)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://localhost:9999"},
    ],
)
def test_a_form_of_another_site_is_refused(client: FlaskClient, store: Store, headers: dict[str, str]) -> None:
    form = {"csrf_token": csrf_token(client, FINDING), "verdict": "true"}

    assert client.post(f"{FINDING}/triage", data=form, headers=headers).status_code == 403
    assert stored_judgements(store) == {}


@pytest.mark.parametrize("token", [None, "", "forged", "x" * 5000])
def test_a_forged_form_is_refused(client: FlaskClient, store: Store, token: str | None) -> None:
    form = {"verdict": "true"} | ({} if token is None else {"csrf_token": token})

    assert client.post(f"{FINDING}/triage", data=form).status_code == 400
    assert client.post("/runs/one/cancel", data=form).status_code == 400
    assert stored_judgements(store) == {}


def test_a_session_does_not_authorize_the_api_without_a_csrf_token(client: FlaskClient, store: Store) -> None:
    answer = client.put("/api/v1/runs/one/findings/C000001/triage", json={"verdict": "true"})

    assert answer.status_code == 400 and stored_judgements(store) == {}


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8765", "", "a b"])
def test_a_page_under_another_name_is_refused(app: Flask, host: str) -> None:
    answer = app.test_client().get(f"/?token={TOKEN}", headers={"Host": host})

    assert answer.status_code in (400, 421) and "Set-Cookie" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2f..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/runs/..%2f..%2fetc%2fpasswd",
        "/runs/one/findings/..%2f..%2fC000001",
        "/runs/one%00/findings/C000001",
        "/api/v1/runs/..%2fone",
        "/api/v1/runs/%27%20OR%201=1--",
    ],
)
def test_a_path_leads_nowhere_else(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code in (400, 404, 405)


@pytest.mark.parametrize(
    "query",
    [
        "page=99999999999999999999",
        "page=-1",
        "size=1e9",
        "page=NaN",
        "severity=%3Cscript%3E",
        "rule='%20OR%201=1",
        f"path={'x' * 5000}",
        "rule=%ff%fe",
    ],
)
def test_an_oversized_or_malformed_parameter_is_refused(client: FlaskClient, query: str) -> None:
    answer = client.get(f"/runs/one?{query}")

    assert answer.status_code == 400 and is_harmless(answer.text)


def test_a_page_beyond_the_last_is_empty(client: FlaskClient) -> None:
    assert "No finding matches" in client.get("/runs/one?page=90000").text


@pytest.mark.slow
def test_an_oversized_form_is_refused(client: FlaskClient, store: Store) -> None:
    token = csrf_token(client, FINDING)
    for form in ({"reason": "x" * 100_000}, {f"field{number}": "x" for number in range(50_000)}):
        answer = client.post(f"{FINDING}/triage", data={"csrf_token": token, "verdict": "false"} | form)
        assert answer.status_code == 413
    long = {"csrf_token": token, "verdict": "false", "reason": "x" * 1001}
    assert client.post(f"{FINDING}/triage", data=long).status_code == 400
    assert stored_judgements(store) == {}


@pytest.mark.parametrize("reason", ["a\x00b", "a\x1b[31mb", "a\u202eb"])
def test_control_characters_in_a_reason_are_refused(client: FlaskClient, store: Store, reason: str) -> None:
    form = {"csrf_token": csrf_token(client, FINDING), "verdict": "false", "reason": reason}

    assert client.post(f"{FINDING}/triage", data=form).status_code == 400
    assert stored_judgements(store) == {}


def test_ids_of_other_runs_do_nothing(
    client: FlaskClient, store: Store, blobs: DirectoryBlobs, run: Run, tmp_path: Path
) -> None:
    submitted(store, blobs, tmp_path / "tree", "two")
    add_report(store, blobs, "two", [issue(7)])
    form = {"csrf_token": csrf_token(client, FINDING), "verdict": "true"}

    assert client.post("/runs/one/findings/C000007/triage", data=form).status_code == 404
    assert client.post("/runs/none/cancel", data=form).status_code == 404
    assert client.get("/runs/one/conversations/1").status_code == 404
    assert stored_judgements(store) == {} and find_run(store, "one").state == "done"


def test_changes_are_not_made_by_get(client: FlaskClient, store: Store) -> None:
    for path in (f"{FINDING}/triage?verdict=true", "/runs/one/cancel", "/runs/one/name?name=x"):
        assert client.get(path).status_code in (404, 405)
    assert stored_judgements(store) == {}


@pytest.mark.parametrize(
    "path", ["/runs", "/runs/none", "/healthz", "/static/web.js", "/api/v1/runs", "/style/report.css"]
)
def test_every_answer_has_the_headers_of_protection(client: FlaskClient, path: str) -> None:
    headers = client.get(path).headers

    assert (
        "script-src 'self'" in headers["Content-Security-Policy"] and "unsafe" not in headers["Content-Security-Policy"]
    )
    assert (headers["X-Frame-Options"], headers["X-Content-Type-Options"]) == ("DENY", "nosniff")
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_is_changed_without_a_sign_in(app: Flask, store: Store, method: str) -> None:
    for path in (f"{FINDING}/triage", "/runs/one/cancel", f"/api/v1{FINDING}/triage"):
        assert app.test_client().open(path, method=method, data={"verdict": "true"}).status_code == 401
    assert stored_judgements(store) == {}


def test_no_page_has_an_inline_script_or_style(client: FlaskClient) -> None:
    for page in ("/runs", "/runs/one", FINDING, "/trend", "/cost", "/compare?after=one"):
        text = client.get(page).text
        assert " style=" not in text and "<style" not in text and " onclick" not in text
        assert "http://" not in text.replace("http://www.w3.org", "")
