"""The doorbell: it rings, forgets without harm, and says in one line that it is away."""

import json
import threading
import time

import pytest
import redis

from jarvis_workers.dispatch.broker import MOST_BETWEEN, Doorbell, Ring
from jarvis_workers.dispatch.routing import queue_key
from jarvis_workers.errors import BrokerUnavailable
from tests.servers import Redis, free_port, redis_server

pytestmark = pytest.mark.timing

WITHIN_SECONDS = 5.0
URGENT = 50


def ring(job: int, sent_at: float = 1.0) -> Ring:
    return Ring("sec.scan", "scan", job, "run", "a.c", sent_at)


def messages(server: Redis) -> list[bytes]:
    """What waits on the queue; the last is the next."""
    with redis.Redis(port=server.port) as client:
        return list(client.lrange(queue_key("scan"), 0, -1))


def test_what_is_rung_waits_on_its_queue(bell: Doorbell) -> None:
    assert (bell.depth("scan"), bell.waits_since("scan")) == (0, None)
    bell.ring([ring(1, 10.0), ring(2, 20.0)])

    assert (bell.depth("scan"), bell.depth("control")) == (2, 0)
    assert bell.waits_since("scan") == 10.0


def test_what_is_urgent_is_rung_for_first_and_says_nothing_of_what_was_sent_before(
    bell: Doorbell, redis_here: Redis
) -> None:
    bell.ring([ring(1, 10.0), ring(2, 20.0), ring(3, 30.0)._replace(urgent=True)])

    assert bell.waits_since("scan") == 10.0
    waiting = [json.loads(message)["headers"]["argsrepr"] for message in messages(redis_here)]
    assert waiting == ["[2]", "[1]", "[3]"]


def test_what_is_urgent_overtakes_though_others_ring_meanwhile(bell: Doorbell, redis_here: Redis) -> None:
    bell.ring([ring(0, 10.0)])
    (newer,) = messages(redis_here)
    newer = newer.replace(b"10.0", b"99.0")

    def ring_meanwhile() -> None:
        with redis.Redis(port=redis_here.port) as client:
            for _ in range(MOST_BETWEEN - URGENT):
                client.lpush(queue_key("scan"), newer)

    other = threading.Thread(target=ring_meanwhile)
    other.start()
    for job in range(1, URGENT):
        bell.ring([ring(job, 50.0)._replace(urgent=True)])
    other.join()

    first = [json.loads(message)["headers"] for message in messages(redis_here)[-URGENT:]]
    assert [header["argsrepr"] for header in first] == [f"[{job}]" for job in range(URGENT)]
    assert bell.waits_since("scan") == 10.0


@pytest.mark.parametrize("foreign", ["nonsense", "[]", '{"headers": null}', '{"headers": {"sent_at": "x"}}'])
def test_a_message_of_somebody_else_says_nothing_of_what_was_sent(
    bell: Doorbell, redis_here: Redis, foreign: str
) -> None:
    with redis.Redis(port=redis_here.port) as client:
        client.rpush(queue_key("scan"), foreign)

    assert bell.waits_since("scan") == 0.0


def test_a_queue_that_others_call_scan_too_is_left_alone(bell: Doorbell, redis_here: Redis) -> None:
    with redis.Redis(port=redis_here.port) as client:
        client.rpush("scan", "theirs")
        bell.ring([ring(1), ring(2)._replace(urgent=True)])

        assert (client.lrange("scan", 0, -1), bell.depth("scan")) == ([b"theirs"], 2)


def test_how_full_redis_is_can_be_told(bell: Doorbell, redis_here: Redis) -> None:
    assert float(bell.describe()["share"]) == 0.0
    with redis.Redis(port=redis_here.port) as client:
        client.config_set("maxmemory", "1mb")
        try:
            share = float(bell.describe()["share"])
        finally:
            client.config_set("maxmemory", 0)

    assert 0.5 < share < 50


def test_an_epoch_is_new_once_until_redis_forgets(bell: Doorbell, redis_here: Redis) -> None:
    assert [bell.is_new(), bell.is_new()] == [True, False]
    redis_here.flush()

    assert [bell.is_new(), bell.is_new()] == [True, False]


def test_a_redis_that_is_not_there_is_one_line_and_soon() -> None:
    away = Doorbell(f"redis://:secret@127.0.0.1:{free_port()}/0")
    start = time.monotonic()
    for ask in (away.check, away.is_new, lambda: away.depth("scan"), lambda: away.ring([ring(1)])):
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
        Doorbell(url).check()

    assert "\n" not in str(problem.value)
    assert time.monotonic() - start < WITHIN_SECONDS


def test_it_rings_again_after_redis_was_away() -> None:
    with redis_server() as server:
        bell = Doorbell(server.url)
        bell.ring([ring(1)])
        server.kill()
        with pytest.raises(BrokerUnavailable):
            bell.ring([ring(2)])
        server.start()
        bell.ring([ring(3)])

        assert bell.depth("scan") == 1
        bell.close()


def test_a_message_is_a_job_and_what_people_see_of_it(bell: Doorbell, redis_here: Redis) -> None:
    bell.ring([ring(7)])
    (message,) = messages(redis_here)

    assert b'"task": "sec.scan"' in message
    assert len(message) < 1500
