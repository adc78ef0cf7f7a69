"""The sender: a window, fair shares, and another ring for what nobody heard."""

from collections.abc import Callable

import pytest
import redis

from jarvis_workers.executors.dispatch.broker import Notifier
from jarvis_workers.executors.dispatch.routing import queue_key
from jarvis_workers.executors.dispatch.sender import LARGEST_WINDOW, MEAN_SECONDS, Sender, window
from jarvis_workers.store import crash_attribution, dispatching
from jarvis_workers.store.engine import Store
from tests.store.arrange import add_planned_run, commit, enrol, job_rows, states
from tests.store.clocks import FakeClock
from tests.support.servers import Redis

pytestmark = pytest.mark.timing

TICK, RESEND = 2.0, 60.0
NO_WORKER_WINDOW = window(2, TICK, None)


@pytest.fixture
def sender(timed_store: Store, notifier: Notifier) -> Sender:
    return Sender(timed_store, notifier, lease_seconds=30.0, tick_seconds=TICK, resend_seconds=RESEND)


@pytest.fixture
def take_all(redis_here: Redis) -> Callable[[], int]:
    """Lose every message of the queue; return how many there were."""

    def take() -> int:
        with redis.Redis(port=redis_here.port) as client:
            lost = int(client.llen(queue_key("scan")))
            client.delete(queue_key("scan"))
            return lost

    return take


@pytest.mark.parametrize(
    ("slots", "mean", "jobs"),
    [(4, 0.5, 24), (4, None, 24), (1, 20.0, 3), (2, 0.0, 404), (200, 0.001, LARGEST_WINDOW)],
)
def test_the_window_keeps_slots_busy_until_the_next_tick(slots: int, mean: float | None, jobs: int) -> None:
    assert window(slots, TICK, mean) == jobs


def test_it_sends_a_window_and_then_nothing(timed_store: Store, notifier: Notifier, sender: Sender) -> None:
    run = add_planned_run(timed_store, NO_WORKER_WINDOW + 5, executor="cluster")

    assert [sender.send(), sender.send()] == [NO_WORKER_WINDOW, 0]
    assert notifier.depth("scan") == NO_WORKER_WINDOW
    assert states(timed_store, run).count("sent") == NO_WORKER_WINDOW


def test_runs_of_others_are_not_sent(timed_store: Store, sender: Sender) -> None:
    add_planned_run(timed_store, 3, executor="local:somebody")

    assert sender.send() == 0


def test_a_small_run_comes_before_the_rest_of_a_large_one(timed_store: Store, clock: FakeClock, sender: Sender) -> None:
    large = add_planned_run(timed_store, 100, executor="cluster")
    sender.send()
    small = add_planned_run(timed_store, 2, executor="cluster")
    for job in [row.id for row in job_rows(timed_store, large) if row.state == "sent"][:2]:
        enrol(timed_store, "w")
        with timed_store.write() as session:
            claimed = dispatching.claim_sent(
                session, job, worker_id="w", process="w/1", lease_seconds=60.0, worker_lease_seconds=30.0
            )
        assert claimed
        clock.advance(MEAN_SECONDS)
        commit(timed_store, claimed)

    assert (sender.send(), states(timed_store, small)) == (2, ["sent", "sent"])


def test_a_crashed_job_is_sent_although_fewer_workers_have_a_smaller_window(
    timed_store: Store, clock: FakeClock, notifier: Notifier, sender: Sender
) -> None:
    for name in ("here", "also here", "gone", "gone as well"):
        enrol(timed_store, name)
    run = add_planned_run(timed_store, 100, executor="cluster")
    assert (sender.send_again(), sender.send()) == (0, window(4, TICK, None))
    job = next(row.id for row in job_rows(timed_store, run) if row.state == "sent")
    with timed_store.write() as session:
        dispatching.claim_sent(
            session, job, worker_id="gone", process="gone/1", lease_seconds=600.0, worker_lease_seconds=30.0
        )
    clock.advance(31.0)
    for name in ("here", "also here"):
        enrol(timed_store, name)
    with timed_store.write() as session:
        (lost,) = crash_attribution.recover_dead_workers(session, 30.0)
    assert lost.id == job
    assert sender.send() == 0

    depth = notifier.depth("scan")
    assert (sender.send_again(), sender.send_again()) == (1, 0)
    assert notifier.depth("scan") == depth + 1
    assert next(row.state for row in job_rows(timed_store, run) if row.id == job) == "sent"


def test_what_was_lost_is_rung_again_when_the_queue_was_empty_twice(
    timed_store: Store, clock: FakeClock, sender: Sender, take_all: Callable[[], int]
) -> None:
    add_planned_run(timed_store, 3, executor="cluster")
    sender.send_again()
    assert (sender.send(), take_all()) == (3, 3)
    again = []
    for _ in range(3):
        clock.advance(TICK)
        again.append(sender.send_again())

    assert again == [3, 0, 0]


def test_a_queue_that_is_empty_once_is_not_enough(
    timed_store: Store, clock: FakeClock, sender: Sender, take_all: Callable[[], int]
) -> None:
    add_planned_run(timed_store, 3, executor="cluster")
    sender.send()
    sender.send_again()
    take_all()
    clock.advance(TICK)

    assert [sender.send_again(), sender.send_again()] == [0, 3]


def test_everything_is_rung_again_when_redis_has_forgotten(
    timed_store: Store, clock: FakeClock, sender: Sender, redis_here: Redis
) -> None:
    add_planned_run(timed_store, 3, executor="cluster")
    sender.send()
    sender.send_again()
    redis_here.flush()
    clock.advance(TICK)

    assert [sender.send_again(), sender.send_again()] == [3, 0]


def test_a_message_lost_while_others_wait_is_rung_again(
    timed_store: Store, clock: FakeClock, sender: Sender, take_all: Callable[[], int]
) -> None:
    add_planned_run(timed_store, 3, executor="cluster")
    sender.send()
    sender.send_again()
    take_all()
    clock.advance(TICK + 1)
    add_planned_run(timed_store, 2, executor="cluster")

    assert [sender.send(), sender.send_again(), sender.send_again()] == [2, 3, 0]


def test_what_nobody_claims_is_rung_again_after_a_while(timed_store: Store, clock: FakeClock, sender: Sender) -> None:
    add_planned_run(timed_store, 3, executor="cluster")
    sender.send()
    sender.send_again()
    clock.advance(RESEND - 1)
    assert sender.send_again() == 0
    clock.advance(1)

    assert [sender.send_again(), sender.send_again()] == [3, 0]
