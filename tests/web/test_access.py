"""Who may sign in, by each way, and what refuses the others."""

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from pathlib import Path
from threading import Event, Semaphore
from typing import Any

import pytest
from flask import Flask, Request
from werkzeug.exceptions import TooManyRequests
from werkzeug.security import check_password_hash, generate_password_hash
from werkzeug.test import create_environ

from jarvis_workers.errors import SettingsError, UsageError
from jarvis_workers.runs.store_keys import store_key
from jarvis_workers.settings import Settings
from jarvis_workers.settings.schema import WebSettings
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.web.access.credentials import HASHING_MAX, CredentialFile, Passwords, password_line
from jarvis_workers.web.access.guess_limits import (
    ADDRESSES_MAX,
    DELAY_SECONDS_MAX,
    FORGOTTEN_AFTER_SECONDS,
    FREE_FAILURES,
    Address,
    GuessLimits,
)
from jarvis_workers.web.access.sign_in import client_address
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


FAST = "pbkdf2:sha256:1"


@pytest.fixture
def few(tmp_path: Path) -> CredentialFile:
    """Users whose passwords are hashed in no time."""
    hashes = {"ann": generate_password_hash("correct horse", FAST), "bob": generate_password_hash("staple", FAST)}
    (tmp_path / "few").write_text("".join(f"{name}:viewer:{one}\n" for name, one in hashes.items()))
    return CredentialFile(tmp_path / "few")


HERE, THERE = ip_address("192.0.2.1"), ip_address("198.51.100.7")


def guess(passwords: Passwords, address: Address, many: int = FREE_FAILURES) -> None:
    for number in range(many):
        assert passwords.verify("ann", f"guess {number}", address) is None


def test_guessing_a_password_delays_the_address_and_locks_nobody_out(few: CredentialFile) -> None:
    moment = [0.0]
    passwords = Passwords(few, monotonic=lambda: moment[0])
    assert passwords.verify("bob", "staple", HERE)
    guess(passwords, HERE)

    with pytest.raises(TooManyRequests) as refused:
        passwords.verify("ann", "correct horse", HERE)
    assert refused.value.retry_after == 1
    assert passwords.verify("bob", "staple", HERE)  # as it is cached
    assert passwords.verify("ann", "correct horse", THERE)
    moment[0] = 1.0
    assert passwords.verify("ann", "wrong", HERE) is None
    with pytest.raises(TooManyRequests) as again:
        passwords.verify("ann", "wrong", HERE)
    assert again.value.retry_after == 2


def test_the_delay_of_an_address_is_bounded_and_forgotten(few: CredentialFile) -> None:
    moment = [0.0]
    limits = GuessLimits(lambda: moment[0])
    for _ in range(100):
        limits.add_failure(HERE)

    assert limits.seconds_left(HERE) == DELAY_SECONDS_MAX
    moment[0] = FORGOTTEN_AFTER_SECONDS + 1
    limits.add_failure(HERE)
    assert limits.seconds_left(HERE) == 0


def test_addresses_that_a_host_has_at_will_count_as_one(few: CredentialFile) -> None:
    limits = GuessLimits(lambda: 0.0)
    for number in range(FREE_FAILURES):
        limits.add_failure(ip_address(f"2001:db8::{number}"))
        limits.add_failure(ip_address("::ffff:192.0.2.1" if number % 2 else "192.0.2.1"))

    assert limits.seconds_left(ip_address("2001:db8::ffff")) > 0
    assert limits.seconds_left(ip_address("2001:db8:1::1")) == 0
    assert limits.seconds_left(HERE) > 0


def test_the_addresses_of_guessers_take_little_memory(few: CredentialFile) -> None:
    limits = GuessLimits(lambda: 0.0)
    for number in range(ADDRESSES_MAX + 5):
        limits.add_failure(ip_address(number))

    assert len(limits._failures) == ADDRESSES_MAX


def test_guessers_do_not_keep_those_waiting_who_have_signed_in(few: CredentialFile) -> None:
    """While one password is hashed, few guesses wait for it, and a cached one does not."""
    hashing, may_end = Semaphore(0), Event()

    def check(stored: str, password: str) -> bool:
        if password.startswith("guess"):
            hashing.release()
            assert may_end.wait(60)
        return check_password_hash(stored, password)

    passwords = Passwords(few, check=check)
    assert passwords.verify("ann", "correct horse", HERE)
    refused = Semaphore(0)

    def sends(number: int) -> str:
        try:
            passwords.verify("nobody", f"guess {number}", ip_address(number))
        except TooManyRequests:
            refused.release()
            return "429"
        return "401"

    with ThreadPoolExecutor(24) as guessers:
        answers = [guessers.submit(sends, number) for number in range(24)]
        hashing.acquire()
        for _ in range(24 - HASHING_MAX):
            refused.acquire()
        assert passwords.verify("ann", "correct horse", HERE)
        may_end.set()

    assert Counter(one.result() for one in answers) == {"429": 24 - HASHING_MAX, "401": HASHING_MAX}


def test_a_guesser_is_told_when_to_try_again(
    store: Store, blobs: DirectoryBlobs, run: Run, few: CredentialFile, tmp_path: Path
) -> None:
    app = application(store, blobs, WebSettings(auth="basic", users_file=tmp_path / "few"))
    client = app.test_client()
    statuses = [client.get("/runs", headers=basic("ann", str(number))).status_code for number in range(FREE_FAILURES)]
    refused = client.get("/api/v1/runs", headers=basic("ann", "correct horse"))

    assert set(statuses) == {401}
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    assert refused.get_json() == {"error": "Too many wrong passwords; try again in 1 s."}


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("192.0.2.1", "", "192.0.2.1"),
        ("192.0.2.1", "198.51.100.7", "192.0.2.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9, 198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "203.0.113.9, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", ", ".join(["10.0.0.2"] * 99), "10.0.0.2"),
    ],
)
def test_only_a_trusted_proxy_names_the_address_of_a_client(peer: str, forwarded: str, expected: str) -> None:
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    request = Request(create_environ(headers=headers, environ_base={"REMOTE_ADDR": peer}))

    assert str(client_address(WebSettings(trusted_proxies=("10.0.0.0/8",)), request)) == expected


def test_a_path_with_a_line_end_is_refused(store: Store, blobs: DirectoryBlobs, run: Run) -> None:
    client = application(store, blobs).test_client()

    for path in (f"/a%0d%0aX:y?token={TOKEN}", f"/runs%00?token={TOKEN}", "/runs/%0a"):
        assert client.get(path).status_code == 400


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
