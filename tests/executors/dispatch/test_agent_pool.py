"""The agent pool: many conversations in one process, called off without blame, and a poison found among them."""

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jarvis_workers.store import runs
from jarvis_workers.store.engine import Store
from tests.chaos.commands import until
from tests.executors.dispatch.sleeping import Sleeper, sleeper
from tests.executors.dispatch.talking import Place
from tests.support.servers import redis_server

pytestmark = pytest.mark.timing


@pytest.fixture
def place(tmp_path: Path, postgres_url: str, open_stores: Callable[..., Store]) -> Iterator[Place]:
    with redis_server() as broker:
        yield Place(open_stores(postgres_url), postgres_url, broker, tmp_path)


@pytest.fixture
def server() -> Iterator[Sleeper]:
    with sleeper() as here:
        yield here


@pytest.mark.slow
def test_conversations_of_a_process_are_held_all_at_once(place: Place, server: Sleeper) -> None:
    run = place.submit(jobs=40, rounds=3, seconds=1.0, port=server.port)
    with place.worker():
        assert place.ended(run) == "done"

    talks = place.talks(run)
    assert server.most == 40
    assert {(row.state, row.fence, row.crashes, row.attempts) for row in talks} == {("done", 1, 0, 0)}


@pytest.mark.slow
def test_sigterm_puts_conversations_back_without_blame_and_ends_within_three_seconds(
    place: Place, server: Sleeper
) -> None:
    run = place.submit_planned(jobs=40, rounds=1, seconds=600, port=server.port)
    with place.pool() as pool:
        place.ring()
        until(lambda: server.now == 40)
        told = time.monotonic()
        pool.signal(signal.SIGTERM)
        how = pool.wait(3.0)

    assert (how, time.monotonic() - told < 3.0) == ("exited with code 0", True)
    assert {(row.state, row.crashes, row.attempts, row.process) for row in place.talks(run)} == {
        ("pending", 0, 0, None)
    }


@pytest.mark.slow
def test_a_conversation_that_blocks_the_loop_does_not_keep_the_process_from_ending(
    place: Place, server: Sleeper
) -> None:
    run = place.submit_planned(jobs=5, rounds=1, seconds=0.5, port=server.port, poison=2, evil="block")
    with place.pool() as pool:
        place.ring()
        until(lambda: server.now >= 1)
        until(lambda: len(place.talks(run, "running")) == 5)
        told = time.monotonic()
        pool.signal(signal.SIGTERM)
        assert pool.wait(3.0) == "exited with code 0"

    assert time.monotonic() - told < 3.0
    assert {row.crashes for row in place.talks(run)} == {0}
    assert not place.talks(run, "running", "failed")


@pytest.mark.slow
def test_leases_are_renewed_as_long_as_a_conversation_lasts(place: Place, server: Sleeper) -> None:
    run = place.submit(jobs=3, rounds=1, seconds=5.0, port=server.port)
    with place.worker():
        assert place.ended(run) == "done"

    assert {(row.fence, row.crashes) for row in place.talks(run)} == {(1, 0)}


@pytest.mark.slow
def test_conversations_of_a_paused_run_are_called_off_and_put_back(place: Place, server: Sleeper) -> None:
    paused = place.submit_planned(jobs=10, rounds=1, seconds=600, port=server.port)
    other = place.submit_planned(jobs=1, rounds=1, seconds=600, port=server.port)
    with place.pool():
        place.ring()
        until(lambda: server.now == 11)
        with place.store.write() as session:
            runs.pause(session, paused, "enough")
        until(lambda: len(place.talks(paused, "pending")) == 10)
        assert len(place.talks(other, "running")) == 1

    assert {(row.fence, row.crashes, row.attempts) for row in place.talks(paused)} == {(1, 0, 0)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("evil", "said"),
    [
        ("raise", "ValueError: no such luck"),
        ("exit", "StepFailed: ended with SystemExit"),
        ("cancel", "StepFailed: ended with CancelledError"),
    ],
)
def test_what_a_conversation_raises_is_recorded_on_its_row(place: Place, server: Sleeper, evil: str, said: str) -> None:
    run = place.submit_planned(jobs=5, rounds=1, seconds=0.01, port=server.port, poison=2, evil=evil)
    with place.pool():
        place.ring()
        until(lambda: len(place.talks(run, "done")) == 4 and place.talks(run)[2].attempts)

    assert (place.talks(run)[2].state, place.talks(run)[2].reason) == ("pending", said)


@pytest.mark.slow
def test_a_conversation_without_room_is_put_back_and_the_others_go_on(place: Place, server: Sleeper) -> None:
    run = place.submit_planned(jobs=5, rounds=2, seconds=1.0, port=server.port, poison=2, evil="full")
    with place.pool():
        place.ring()
        until(lambda: len(place.talks(run, "done")) == 4)
        until(lambda: len(place.talks(run, "pending")) == 1)

    (put_back,) = place.talks(run, "pending")
    assert (put_back.crashes, put_back.attempts, put_back.process) == (0, 0, None)
    assert place.state(run) == "running"


@pytest.mark.slow
def test_a_conversation_past_its_deadline_has_failed(place: Place, server: Sleeper) -> None:
    run = place.submit_planned(jobs=1, rounds=1, seconds=600, port=server.port)
    with place.pool(deadline_seconds=0.2):
        place.ring()
        until(lambda: place.talks(run)[0].attempts)

    assert place.talks(run)[0].reason == "StepFailed: took longer than 0.2 s"


@pytest.mark.slow
@pytest.mark.parametrize(("many", "seconds"), [(25, 0.05), (200, 0.3)])
def test_a_poison_among_many_is_found_within_four_crashes_and_nobody_else_is_blamed(
    place: Place, server: Sleeper, many: int, seconds: float
) -> None:
    run = place.submit(jobs=many, rounds=2, seconds=seconds, port=server.port, poison=many // 2, evil="kill")
    with place.worker():
        assert place.ended(run) == "incomplete"

    (failed,) = place.talks(run, "failed")
    assert (failed.label, failed.crashes <= 4) == (f"conversation {many // 2}", True)
    assert len(place.talks(run, "done")) == many - 1
