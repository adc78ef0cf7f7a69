"""The notifier: it sends notifications, loses them without harm, and says in one line that Redis is away."""

import json
import threading
import time

import pytest
import redis

from jarvis_workers.errors import BrokerUnavailable
from jarvis_workers.executors.dispatch.broker import MOST_BETWEEN, Notification, Notifier
from jarvis_workers.executors.dispatch.routing import queue_key
from tests.support.servers import Redis, free_port, redis_server

pytestmark = pytest.mark.timing

WITHIN_SECONDS = 5.0
URGENT = 50


def notification(job: int, sent_at: float = 1.0) -> Notification:
    return Notification("sec.scan", "scan", job, "run", "a.c", sent_at)


def messages(server: Redis) -> list[bytes]:
    """What waits on the queue; the last is the next."""
    with redis.Redis(port=server.port) as client:
        return list(client.lrange(queue_key("scan"), 0, -1))


def test_what_is_rung_waits_on_its_queue(notifier: Notifier) -> None:
    assert (notifier.depth("scan"), notifier.waits_since("scan")) == (0, None)
    notifier.notify([notification(1, 10.0), notification(2, 20.0)])

    assert (notifier.depth("scan"), notifier.depth("control")) == (2, 0)
    assert notifier.waits_since("scan") == 10.0


def test_what_is_urgent_is_rung_for_first_and_says_nothing_of_what_was_sent_before(
    notifier: Notifier, redis_here: Redis
) -> None:
    notifier.notify([notification(1, 10.0), notification(2, 20.0), notification(3, 30.0)._replace(urgent=True)])

    assert notifier.waits_since("scan") == 10.0
    waiting = [json.loads(message)["headers"]["argsrepr"] for message in messages(redis_here)]
    assert waiting == ["[2]", "[1]", "[3]"]


def test_what_is_urgent_overtakes_though_others_ring_meanwhile(notifier: Notifier, redis_here: Redis) -> None:
    notifier.notify([notification(0, 10.0)])
    (newer,) = messages(redis_here)
    newer = newer.replace(b"10.0", b"99.0")

    def ring_meanwhile() -> None:
        with redis.Redis(port=redis_here.port) as client:
            for _ in range(MOST_BETWEEN - URGENT):
                client.lpush(queue_key("scan"), newer)

    other = threading.Thread(target=ring_meanwhile)
    other.start()
    for job in range(1, URGENT):
        notifier.notify([notification(job, 50.0)._replace(urgent=True)])
    other.join()

    first = [json.loads(message)["headers"] for message in messages(redis_here)[-URGENT:]]
    assert [header["argsrepr"] for header in first] == [f"[{job}]" for job in range(URGENT)]
    assert notifier.waits_since("scan") == 10.0


@pytest.mark.parametrize("foreign", ["nonsense", "[]", '{"headers": null}', '{"headers": {"sent_at": "x"}}'])
def test_a_message_of_somebody_else_says_nothing_of_what_was_sent(
    notifier: Notifier, redis_here: Redis, foreign: str
) -> None:
    with redis.Redis(port=redis_here.port) as client:
        client.rpush(queue_key("scan"), foreign)

    assert notifier.waits_since("scan") == 0.0


def test_a_queue_that_others_call_scan_too_is_left_alone(notifier: Notifier, redis_here: Redis) -> None:
    with redis.Redis(port=redis_here.port) as client:
        client.rpush("scan", "theirs")
        notifier.notify([notification(1), notification(2)._replace(urgent=True)])

        assert (client.lrange("scan", 0, -1), notifier.depth("scan")) == ([b"theirs"], 2)


def test_how_full_redis_is_can_be_told(notifier: Notifier, redis_here: Redis) -> None:
    assert float(notifier.describe()["share"]) == 0.0
    with redis.Redis(port=redis_here.port) as client:
        client.config_set("maxmemory", "1mb")
        try:
            share = float(notifier.describe()["share"])
        finally:
            client.config_set("maxmemory", 0)

    assert 0.5 < share < 50


def test_an_epoch_is_new_once_until_redis_forgets(notifier: Notifier, redis_here: Redis) -> None:
    assert [notifier.is_new(), notifier.is_new()] == [True, False]
    redis_here.flush()

    assert [notifier.is_new(), notifier.is_new()] == [True, False]


def test_a_redis_that_is_not_there_is_one_line_and_soon() -> None:
    away = Notifier(f"redis://:secret@127.0.0.1:{free_port()}/0")
    start = time.monotonic()
    for ask in (away.check, away.is_new, lambda: away.depth("scan"), lambda: away.notify([notification(1)])):
        with pytest.raises(BrokerUnavailable) as problem:
            ask()
        assert "\n" not in str(problem.value)
        assert "is Redis running? see JARVIS_BROKER_URL" in str(problem.value)
        assert "secret" not in str(problem.value)

    assert time.monotonic() - start < WITHIN_SECONDS
    away.close()


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "redis://host:port/0",
        "http://127.0.0.1:1/0",
        "redis://nowhere.invalid/0",
        "unix:///tmp/redis.sock",
        "redis://127.0.0.1:1/0?password=x",
        "redis://127.0.0.1:1/abc",
        "rediss://127.0.0.1:1/0?ssl_cert_reqs=x",
    ],
)
def test_a_wrong_address_is_one_line_and_soon(url: str) -> None:
    start = time.monotonic()
    with pytest.raises(BrokerUnavailable) as problem:
        Notifier(url).check()

    assert "\n" not in str(problem.value)
    assert time.monotonic() - start < WITHIN_SECONDS


def test_it_rings_again_after_redis_was_away() -> None:
    with redis_server() as server:
        notifier = Notifier(server.url)
        notifier.notify([notification(1)])
        server.kill()
        with pytest.raises(BrokerUnavailable):
            notifier.notify([notification(2)])
        server.start()
        notifier.notify([notification(3)])

        assert notifier.depth("scan") == 1
        notifier.close()


def test_a_message_is_a_job_and_what_people_see_of_it(notifier: Notifier, redis_here: Redis) -> None:
    notifier.notify([notification(7)])
    (message,) = messages(redis_here)

    assert b'"task": "sec.scan"' in message
    assert len(message) < 1500
