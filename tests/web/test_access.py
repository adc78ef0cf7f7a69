"""Who may sign in, by each way, and what refuses the others."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from jarvis_workers.errors import SettingsError, UsageError
from jarvis_workers.service.store_keys import store_key
from jarvis_workers.settings import Settings
from jarvis_workers.settings.schema import WebSettings
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run
from jarvis_workers.web.access.credentials import FAILURES_MAX, CredentialFile, password_line
from jarvis_workers.web.app import create_app
from jarvis_workers.web.server import check_address
from tests.web.sample import TOKEN, application, csrf_token, signed_in, world_of

PROXY = {"auth": "proxy", "trusted_proxies": ("10.0.0.0/8",), "editor_groups": ("sec",)}
FINDING = "/runs/one/findings/C000001"


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"}


def status_from(app: Flask, address: str, headers: Mapping[str, str]) -> int:
    return app.test_client().get("/runs", headers=headers, environ_base={"REMOTE_ADDR": address}).status_code


@pytest.fixture
def users(tmp_path: Path) -> Path:
    lines = (password_line("ann", "editor", "correct horse"), password_line("bob", "viewer", "battery staple"))
    (tmp_path / "users").write_text("\n".join(lines))
    return tmp_path / "users"


def proxied(store: Store, blobs: DirectoryBlobs, **changes: Any) -> Flask:
    return application(store, blobs, WebSettings.model_validate(PROXY | changes))


def test_the_token_opens_a_session_and_leaves_the_address(app: Flask, run: Run) -> None:
    client = app.test_client()

    assert client.get("/runs").status_code == 401
    answer = client.get(f"/runs?token={TOKEN}&state=done")
    cookie = answer.headers["Set-Cookie"]
    assert answer.headers["Location"] == "/runs"
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and TOKEN not in cookie
    assert client.get("/runs").status_code == 200


def test_a_session_of_an_earlier_start_is_refused(app: Flask, store: Store, blobs: DirectoryBlobs) -> None:
    earlier = signed_in(application(store, blobs))
    cookie = earlier.get_cookie("jarvis_session")
    client = app.test_client()
    assert cookie is not None
    client.set_cookie("jarvis_session", cookie.value)

    assert client.get("/runs").status_code == 401


@pytest.mark.slow
def test_servers_of_one_store_accept_each_others_forms(
    store: Store, blobs: DirectoryBlobs, run: Run, users: Path, open_stores: Callable[..., Store]
) -> None:
    other = open_stores(store.engine.url.render_as_string())
    key, web = store_key(store, b"web session"), WebSettings(auth="basic", users_file=users)
    assert key == store_key(other, b"web session") != store_key(store, b"other")
    first, second = (create_app(world_of(store, blobs, web), key).test_client() for _ in range(2))
    ann = basic("ann", "correct horse")
    token = first.get(FINDING, headers=ann).text.partition('name="csrf_token" value="')[2].partition('"')[0]
    cookie = first.get_cookie("jarvis_session")
    assert cookie is not None
    second.set_cookie("jarvis_session", cookie.value)

    answer = second.post(f"{FINDING}/triage", headers=ann, data={"csrf_token": token, "verdict": "true"})
    assert answer.status_code == 303


def test_users_sign_in_with_passwords(store: Store, blobs: DirectoryBlobs, run: Run, users: Path) -> None:
    client = application(store, blobs, WebSettings(auth="basic", users_file=users)).test_client()

    assert client.get("/runs").headers["WWW-Authenticate"].startswith("Basic ")
    assert client.get("/runs", headers=basic("ann", "wrong")).status_code == 401
    assert client.get("/runs", headers=basic("eve", "correct horse")).status_code == 401
    assert "editor" in client.get("/runs", headers=basic("ann", "correct horse")).text


@pytest.mark.slow
def test_guessing_a_password_locks_the_user(store: Store, blobs: DirectoryBlobs, run: Run, users: Path) -> None:
    client = application(store, blobs, WebSettings(auth="basic", users_file=users)).test_client()
    for number in range(FAILURES_MAX):
        assert client.get("/runs", headers=basic("ann", f"guess {number}")).status_code == 401

    assert client.get("/runs", headers=basic("ann", "correct horse")).status_code == 401
    assert client.get("/runs", headers=basic("bob", "battery staple")).status_code == 200


def test_a_removed_user_is_refused_at_once(store: Store, blobs: DirectoryBlobs, run: Run, users: Path) -> None:
    client = application(store, blobs, WebSettings(auth="basic", users_file=users)).test_client()
    assert client.get("/runs", headers=basic("ann", "correct horse")).status_code == 200
    users.write_text(password_line("bob", "viewer", "battery staple"))

    assert client.get("/runs", headers=basic("ann", "correct horse")).status_code == 401


def test_only_the_proxy_names_the_user(store: Store, blobs: DirectoryBlobs, run: Run) -> None:
    app, ann = proxied(store, blobs), {"X-Forwarded-User": "ann"}

    assert status_from(app, "10.1.2.3", ann) == 200
    assert status_from(app, "10.1.2.3", {}) == 401
    assert status_from(app, "192.0.2.1", ann) == 401
    assert status_from(app, "10.1.2.3", {"X-Forwarded-User": "a" * 101}) == 401


@pytest.mark.parametrize(
    ("groups", "role"), [("sec,dev", "editor"), ("dev", "viewer"), ("ops", None), ("", None), ("securities", None)]
)
def test_groups_decide_the_role(store: Store, blobs: DirectoryBlobs, run: Run, groups: str, role: str | None) -> None:
    client = proxied(store, blobs, viewer_groups=("dev",)).test_client()
    headers = {"X-Forwarded-User": "ann", "X-Forwarded-Groups": groups}
    answer = client.get("/runs", headers=headers, environ_base={"REMOTE_ADDR": "10.1.2.3"})

    assert (f"<small>{role}</small>" in answer.text) if role else answer.status_code == 401


def test_the_cookie_is_for_https_alone_behind_a_proxy_with_https(store: Store, blobs: DirectoryBlobs, run: Run) -> None:
    headers = {"X-Forwarded-User": "ann", "X-Forwarded-Groups": "sec", "X-Forwarded-Proto": "https"}
    client = proxied(store, blobs).test_client()
    answer = client.get(FINDING, headers=headers, environ_base={"REMOTE_ADDR": "10.1.2.3"})

    assert "; Secure" in answer.headers["Set-Cookie"]


def test_a_viewer_sees_no_buttons_and_cannot_post(store: Store, blobs: DirectoryBlobs, run: Run, users: Path) -> None:
    client = application(store, blobs, WebSettings(auth="basic", users_file=users)).test_client()
    viewer = basic("bob", "battery staple")
    editor_page = client.get(FINDING, headers=basic("ann", "correct horse")).text
    token = editor_page.partition('name="csrf_token" value="')[2].partition('"')[0]

    assert 'name="verdict"' not in client.get(FINDING, headers=viewer).text
    answer = client.post(f"{FINDING}/triage", headers=viewer, data={"csrf_token": token, "verdict": "true"})
    assert answer.status_code == 403 and "viewer" in answer.text


def test_a_read_only_page_changes_nothing(store: Store, blobs: DirectoryBlobs, run: Run) -> None:
    client = signed_in(application(store, blobs, read_only=True))

    assert csrf_token(client, FINDING) == ""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert client.put("/api/v1/runs/one/findings/C000001/triage", headers=headers, json={}).status_code == 403


@pytest.mark.parametrize("line", ["ann", "ann:root:x", "a b:viewer:x", ":viewer:x", "ann:viewer:"])
def test_a_malformed_line_of_users_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "users").write_text(f"# users\n{line}\n")

    with pytest.raises(SettingsError, match="users:2: "):
        CredentialFile(tmp_path / "users")


@pytest.mark.parametrize(
    "settings",
    [{"auth": "basic"}, {"auth": "proxy"}, {"auth": "proxy", "trusted_proxies": ("nowhere",)}],
)
def test_incomplete_settings_are_refused(store: Store, blobs: DirectoryBlobs, settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        application(store, blobs, WebSettings.model_validate(settings))


def test_one_token_for_all_is_refused_beyond_this_machine() -> None:
    check_address(Settings(), "127.0.0.1", insecure=False)
    check_address(Settings(), "0.0.0.0", insecure=True)
    with pytest.raises(UsageError, match="allow-remote-token"):
        check_address(Settings(), "0.0.0.0", insecure=False)
