"""The end of a run is notified once, signed, with bounded attempts, and to no other host."""

import hmac
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from jarvis_workers.errors import SettingsError, StoreError
from jarvis_workers.runs import wiring
from jarvis_workers.runs.submit import submit
from jarvis_workers.runs.webhook import ATTEMPTS, LEASE, Webhook, deliver_pending, webhook_of
from jarvis_workers.settings import Settings
from jarvis_workers.settings.schema import NotifySettings
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store import events, leases, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import PARTIAL_KINDS
from tests.runs.test_submit import asking
from tests.store.arrange import NO_SNAPSHOT, event_names
from tests.web.sample import add_report, issue, submitted


class Receiver:
    """What a server got, and the status with which it answers each request, the last one for all further ones."""

    def __init__(self, *statuses: int, location: str = "") -> None:
        self.statuses, self.location = list(statuses) or [204], location
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.url = ""

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        content = handler.rfile.read(int(handler.headers["Content-Length"]))
        self.requests.append((dict(handler.headers), content))
        handler.send_response(self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0])
        handler.send_header("Content-Length", "0")
        if self.location:
            handler.send_header("Location", self.location)
        handler.end_headers()

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(content) for _, content in self.requests]


@contextmanager
def receiving(receiver: Receiver) -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.take(self)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
        try:
            yield receiver
        finally:
            server.shutdown()


@pytest.fixture
def store(sqlite_url: str, open_stores: Callable[..., Store]) -> Store:
    return open_stores(sqlite_url)


@pytest.fixture
def ended(store: Store, blobs: DirectoryBlobs, tmp_path: Path) -> None:
    submitted(store, blobs, tmp_path / "tree", labels={"project": "kernel"})
    add_report(store, blobs, "one", [issue(1), issue(2, severity="low")])


def hook(receiver: Receiver, key: bytes | None = None) -> Webhook:
    return Webhook(receiver.url, key, sleep=lambda _: None)


@pytest.mark.usefixtures("ended")
def test_the_end_of_a_run_is_notified_once(store: Store, blobs: DirectoryBlobs) -> None:
    with receiving(Receiver()) as receiver:
        assert [deliver_pending(store, blobs, hook(receiver)) for _ in range(2)] == [1, 0]

    (message,) = receiver.messages
    assert (message["event"], message["run"]["id"], message["run"]["state"]) == ("run.ended", "one", "done")
    assert (message["run"]["project"], message["findings"]) == (
        "kernel",
        {"total": 2, "high": 1, "medium": 0, "low": 1},
    )


@pytest.mark.usefixtures("ended")
def test_a_notification_is_signed(store: Store, blobs: DirectoryBlobs) -> None:
    with receiving(Receiver()) as receiver:
        deliver_pending(store, blobs, hook(receiver, b"secret"))

    ((headers, content),) = receiver.requests
    signed = f"{headers['X-Jarvis-Timestamp']}.".encode() + content
    assert headers["X-Jarvis-Signature"] == f"sha256={hmac.digest(b'secret', signed, 'sha256').hex()}"


@pytest.mark.usefixtures("ended")
@pytest.mark.parametrize(
    ("statuses", "requests", "outcome"),
    [
        ((503, 429, 204), 3, "delivered"),
        ((500,), ATTEMPTS, "HTTP status 500"),
        ((400,), 1, "HTTP status 400"),
    ],
)
def test_attempts_are_bounded(
    store: Store, blobs: DirectoryBlobs, statuses: tuple[int, ...], requests: int, outcome: str
) -> None:
    with receiving(Receiver(*statuses)) as receiver:
        assert [deliver_pending(store, blobs, hook(receiver)) for _ in range(2)] == [1, 0]

    with store.read() as session:
        (told,) = (event for event in events.read(session, "one") if event["name"] == "notified")
    assert (len(receiver.requests), told["outcome"]) == (requests, outcome)
    assert len({headers["X-Jarvis-Delivery"] for headers, _ in receiver.requests}) == 1


@pytest.mark.usefixtures("ended")
def test_redirects_are_not_followed(store: Store, blobs: DirectoryBlobs) -> None:
    with receiving(Receiver()) as other, receiving(Receiver(307, location=other.url)) as receiver:
        deliver_pending(store, blobs, hook(receiver))

    assert (len(receiver.requests), other.requests) == (1, [])


@pytest.mark.usefixtures("ended")
def test_processes_that_send_at_once_notify_once(
    store: Store, blobs: DirectoryBlobs, open_stores: Callable[..., Store]
) -> None:
    stores = [store, *(open_stores(store.engine.url.render_as_string()) for _ in range(3))]
    with receiving(Receiver()) as receiver:
        threads = [threading.Thread(target=deliver_pending, args=(one, blobs, hook(receiver))) for one in stores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(receiver.requests) == 1
    assert event_names(store, "one").count("notified") == 1


def test_a_run_that_ends_again_is_notified_again(store: Store, blobs: DirectoryBlobs, tmp_path: Path) -> None:
    submitted(store, blobs, tmp_path / "tree")
    with receiving(Receiver()) as receiver:
        for state in ("incomplete", "done"):
            with store.write() as session:
                runs.finish(session, "one", state)
            deliver_pending(store, blobs, hook(receiver))

    assert [message["run"]["state"] for message in receiver.messages] == ["incomplete", "done"]


@pytest.mark.parametrize("kind", PARTIAL_KINDS)
def test_the_run_that_makes_the_crate_of_a_paused_run_is_not_notified(
    store: Store, blobs: DirectoryBlobs, tmp_path: Path, kind: str
) -> None:
    run = submitted(store, blobs, tmp_path / "tree")
    with store.write() as session:
        runs.add(session, replace(run, id="made", kind=kind), NO_SNAPSHOT, ["merge"])
        runs.finish(session, "made", "done")

    with receiving(Receiver()) as receiver:
        assert deliver_pending(store, blobs, hook(receiver)) == 0


@pytest.mark.usefixtures("ended")
def test_a_run_that_is_removed_while_its_notification_is_sent_keeps_no_lease(
    store: Store, blobs: DirectoryBlobs
) -> None:
    def remove(_: float) -> None:
        with store.write() as session:
            runs.remove(session, "one")

    with receiving(Receiver(503, 204)) as receiver, pytest.raises(StoreError):
        deliver_pending(store, blobs, Webhook(receiver.url, sleep=remove))

    with store.read() as session:
        assert leases.is_free(session, LEASE, "another process")


def test_a_command_that_executes_a_run_notifies_of_its_end_and_of_no_other_run(
    store: Store, blobs: DirectoryBlobs, tmp_path: Path
) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.c").write_text("int a;\n")
    submitted(store, blobs, tmp_path / "other", run_id="other")
    add_report(store, blobs, "other", [issue(1)])
    with receiving(Receiver()) as receiver:
        notify = NotifySettings(webhook_url=receiver.url)
        settings = Settings(notify=notify, data_dir=blobs.root.parent, processes=0)
        with wiring.executor_of(settings, store, tell=print, show=lambda *_: None) as local:
            local.carry_out(submit(store, blobs, asking(tmp_path / "tree", executor=local.executor)))

        assert [message["run"]["id"] for message in receiver.messages] == ["one"]
        assert deliver_pending(store, blobs, hook(receiver)) == 1  # as a worker does

    assert [message["run"]["id"] for message in receiver.messages] == ["one", "other"]


@pytest.mark.usefixtures("ended")
def test_a_command_waits_until_another_process_has_sent(store: Store, blobs: DirectoryBlobs) -> None:
    def end(_: float) -> None:
        with store.write() as session:
            leases.release(session, LEASE, "another process")

    with store.write() as session:
        leases.take(session, LEASE, "another process", 90.0)
    with receiving(Receiver()) as receiver:
        assert deliver_pending(store, blobs, hook(receiver)) == 0
        assert deliver_pending(store, blobs, hook(receiver), ["one"]) == 0
        assert deliver_pending(store, blobs, Webhook(receiver.url, sleep=end), ["one"]) == 1


def test_the_key_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret\n")
    settings = NotifySettings(webhook_url="https://hooks.example.com/x", webhook_secret_file=tmp_path / "key")

    assert webhook_of(Settings(notify=settings)) == Webhook("https://hooks.example.com/x", b"secret")
    with pytest.raises(SettingsError, match="webhook_secret_file"):
        webhook_of(Settings(notify=settings.model_copy(update={"webhook_secret_file": tmp_path / "none"})))
    assert webhook_of(Settings()) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://user:S3cret@hooks.example.com/x",
        "https://hooks.example.com/a S3cret",
        "https://hooks.example.com/\u00fcS3cret",
        "https://[S3cret/x",
        "ftp://hooks.example.com/S3cret",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_and_never_quoted(url: str) -> None:
    with pytest.raises(ValidationError) as refused:
        NotifySettings(webhook_url=url)

    assert "S3cret" not in str(refused.value)
    assert "S3cret" not in Webhook(url, sleep=lambda _: None).send("one-1", b"{}")
