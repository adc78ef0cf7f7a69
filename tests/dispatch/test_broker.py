"""The doorbell: it rings, forgets without harm, and says in one line that it is away."""

import json
import time

import pytest
import redis

from jarvis_workers.dispatch.broker import Doorbell, Ring
from jarvis_workers.errors import BrokerUnavailable
from tests.servers import Redis, free_port, redis_server

WITHIN_SECONDS = 5.0


def ring(job: int, sent_at: float = 1.0) -> Ring:
    return Ring("sec.scan", "scan", job, "run", "a.c", sent_at)


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
    with redis.Redis(port=redis_here.port) as client:
        waiting = [json.loads(message)["headers"]["argsrepr"] for message in client.lrange("scan", 0, -1)]
    assert waiting == ["[2]", "[1]", "[3]"]


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
        assert "is Redis there? see JARVIS_BROKER_URL" in str(problem.value)
        assert "secret" not in str(problem.value)

    assert time.monotonic() - start < WITHIN_SECONDS
    away.close()


@pytest.mark.parametrize(
    "url", ["nonsense", "redis://host:port/0", "http://127.0.0.1:1/0", "redis://nowhere.invalid/0"]
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
    with redis.Redis(port=redis_here.port) as client:
        message = client.lindex("scan", 0)

    assert b'"task": "sec.scan"' in message
    assert len(message) < 1500
