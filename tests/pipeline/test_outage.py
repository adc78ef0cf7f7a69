"""An outage of the blob store or of this machine is reported once, and charged to jobs only after its limit."""

import threading

import pytest

from jarvis_workers.errors import BlobsUnavailable, HostExhausted
from jarvis_workers.pipeline.attempt import AttemptOutcome, Done, Failed, Full, Released
from jarvis_workers.pipeline.outage import QUIET_SECONDS, Outage, OutageLimits
from jarvis_workers.store.values import Claimed, Commit
from tests.store.clocks import FakeClock

AWAY, NO_MEMORY = Released(BlobsUnavailable("no blobs")), Released(HostExhausted("no memory"))
LIMITS = OutageLimits(blobs=50.0, host=30.0, full=20.0, blob_pause=0.0, host_pause=0.0)


def job(number: int) -> Claimed:
    return Claimed(number, "r1", "scan", "sec.scan", "scan", 1, "a.c", "{}", 0, 0)


@pytest.fixture
def outage(clock: FakeClock) -> Outage:
    return Outage([].append, LIMITS, clock.monotonic)


@pytest.mark.parametrize(
    ("met", "seconds", "after"),
    [(AWAY, 50.0, Failed), (NO_MEMORY, 30.0, Failed), (Full("no space"), 20.0, Full)],
)
def test_an_outage_is_charged_after_its_limit(
    outage: Outage, clock: FakeClock, met: AttemptOutcome, seconds: float, after: type[AttemptOutcome]
) -> None:
    assert isinstance(outage.judge(job(1), met), Released)
    clock.advance(seconds)
    assert isinstance(outage.judge(job(1), met), Released)
    clock.advance(1.0)
    assert isinstance(outage.judge(job(1), met), after)


def test_an_outage_of_blobs_ends_with_a_job_that_is_done_and_a_lack_of_memory_with_its_own(
    outage: Outage, clock: FakeClock
) -> None:
    for met in (AWAY, NO_MEMORY):
        outage.judge(job(1), met)
    clock.advance(45.0)
    outage.judge(job(2), Done(Commit()))

    assert outage.judge(job(1), AWAY) == AWAY
    assert isinstance(outage.judge(job(1), NO_MEMORY), Failed)


def test_an_outage_is_reported_once(clock: FakeClock) -> None:
    said: list[str] = []
    outage = Outage(said.append, LIMITS, clock.monotonic)
    for number in range(3):
        outage.judge(job(number), AWAY)
        clock.advance(1.0)
    assert said == ["no blobs; jobs that meet this are released for up to 50 s"]
    clock.advance(QUIET_SECONDS)
    outage.judge(job(1), NO_MEMORY)
    assert len(said) == 2


def test_a_pause_for_blobs_ends_when_they_can_be_read() -> None:
    asked: list[int] = []
    Outage([].append, OutageLimits(blob_pause=60.0)).pause(
        AWAY.error, lambda: bool(asked.append(1) or True), threading.Event()
    )
    assert asked == [1]
