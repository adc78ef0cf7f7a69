"""Messages: forged, damaged or foreign ones never reach Celery, and a true one keeps nothing but the job it names."""

import base64
import json
from typing import Any

import kombu.transport
import pytest
import redis
from kombu.transport import TRANSPORT_ALIASES

from jarvis_workers.executors.dispatch.broker import Notification, Notifier, make_app
from jarvis_workers.executors.dispatch.messages import MESSAGE_BYTES_MAX, Client, distrust_broker, sanitize
from jarvis_workers.executors.dispatch.routing import queue_key, task_names
from tests.support.servers import Redis

QUEUE = queue_key("scan")
LABEL = "a\N{SNOWMAN}'\".c"


@pytest.fixture
def sent(notifier: Notifier, redis_here: Redis) -> dict[str, Any]:
    """A message as the doorbell sends it."""
    notifier.notify([Notification("sec.scan", "scan", 7, "r1", LABEL, 12.5)])
    with redis.Redis(port=redis_here.port) as client:
        message: dict[str, Any] = json.loads(client.lindex(QUEUE, 0))
    return message


def sanitized(message: Any) -> Any:
    raw = message if isinstance(message, bytes) else json.dumps(message).encode()
    clean = sanitize(raw, QUEUE, task_names())
    return clean and json.loads(clean)


def body_of(message: dict[str, Any]) -> Any:
    return json.loads(base64.b64decode(message["body"]))


def forged(sent: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """A message with another body."""
    args, named, embedded = body_of(sent)
    body = [parts.get("args", args), parts.get("named", named), parts.get("embedded", embedded)]
    return sent | {"body": base64.b64encode(json.dumps(body).encode()).decode()}


def test_a_message_of_ours_keeps_its_task_its_id_and_its_arguments(sent: dict[str, Any]) -> None:
    clean = sanitized(sent)

    assert body_of(clean) == body_of(sent)
    for name in ("task", "id", "argsrepr", "kwargsrepr", "root_id", "sent_at"):
        assert clean["headers"][name] == sent["headers"][name]
    assert sanitized(clean)["headers"] == clean["headers"]


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("timelimit", [0.001, 0.001]),
        ("eta", "2099-01-01T00:00:00"),
        ("expires", "1999-01-01T00:00:00"),
        ("shadow", "other"),
        ("group", "g"),
        ("stamps", {"a": 1}),
        ("stamped_headers", ["a"]),
        ("retries", 5),
        ("parent_id", [1]),
        ("ignore_result", False),
    ],
)
def test_a_forged_header_is_dropped(sent: dict[str, Any], header: str, value: object) -> None:
    clean = sanitized(sent | {"headers": sent["headers"] | {header: value}})

    assert clean["headers"] == sanitized(sent)["headers"]
    assert clean["headers"].get(header) != value


def test_forged_callbacks_and_properties_are_dropped(sent: dict[str, Any]) -> None:
    chain = [{"task": "sec.plan", "args": [1], "kwargs": {}, "options": {}}]
    clean = sanitized(forged(sent, embedded={"chain": chain, "callbacks": chain}) | {"properties": {"reply_to": "x"}})

    assert body_of(clean)[2] == {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
    assert "reply_to" not in clean["properties"]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"no JSON",
        b"\xff\xfe",
        b"null",
        b"[" * 60_000,
        b'{"headers": null, "body": ""}',
        b'{"headers": {"task": "sec.scan"}, "body": ""}',
        b"{" + b" " * MESSAGE_BYTES_MAX + b"}",
    ],
    ids=["empty", "no JSON", "no UTF-8", "null", "nested", "no headers", "no id", "too long"],
)
def test_what_is_no_message_is_dropped(raw: bytes) -> None:
    assert sanitized(raw) is None


@pytest.mark.parametrize(
    "parts",
    [
        {"args": []},
        {"args": [0]},
        {"args": [2**63]},
        {"args": ["7"]},
        {"args": [True]},
        {"args": [7, 8]},
        {"args": {"job": 7}},
        {"named": {"run": "r1"}},
        {"named": {"run": "r1", "label": "x" * 201}},
        {"named": {"run": "r1", "label": "a", "more": 1}},
    ],
    ids=json.dumps,
)
def test_what_names_no_job_is_dropped(sent: dict[str, Any], parts: dict[str, Any]) -> None:
    assert sanitized(forged(sent, **parts)) is None


@pytest.mark.parametrize("task", ["celery.chain", "celery.starmap", "sec.unknown", "", 7])
def test_a_task_that_is_not_ours_is_dropped(sent: dict[str, Any], task: object) -> None:
    assert sanitized(sent | {"headers": sent["headers"] | {"task": task}}) is None


@pytest.mark.parametrize("url", ["redis://h", "rediss://h", "unix:///run/redis.sock", "sentinel://h/0?master_name=m"])
def test_messages_are_sanitized_whatever_the_address(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("redis", "rediss", "sentinel"):
        monkeypatch.setitem(TRANSPORT_ALIASES, name, TRANSPORT_ALIASES[name])
    monkeypatch.setattr(kombu.transport, "_transport_cache", {})
    distrust_broker()

    transport = make_app(url).connection_for_read().get_transport_cls()
    assert transport.Channel._get_client(None) is Client
