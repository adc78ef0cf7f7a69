"""The conversations of a command: begun, fetched when they have ended, called off, and no reason to wait at its end."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jarvis_workers.agents.conversations.resources import AgentSetup
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.errors import StoreFull, StoreUnavailable
from jarvis_workers.executors.local.outcomes import JobOutcome
from jarvis_workers.executors.local.pools import LAST_SECONDS, ConversationThread
from jarvis_workers.models.platforms.registry import Providers
from jarvis_workers.pipeline.attempt import AttemptOutcome, Done, Failed, Full, Released
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import AGENT_QUEUE, Commit
from tests.agents.conversations.test_event_loop import DONE, SECONDS, job
from tests.assistant.chat.asking import MODULE, Work

pytestmark = pytest.mark.timing

AWAY = StoreUnavailable("away")


@pytest.fixture
def woken() -> threading.Semaphore:
    """Counts how often the command was woken."""
    return threading.Semaphore(0)


@pytest.fixture
def opened(
    tmp_path: Path, sqlite_url: str, open_stores: Callable[..., Store], woken: threading.Semaphore
) -> ConversationThread:
    """Somebody has to close them."""
    means = AgentSetup(Providers({}), {}, tmp_path / "sources")
    return ConversationThread(
        AgentRuntime(open_stores(sqlite_url, durable=True), means), DirectoryBlobs(tmp_path), woken.release
    )


@pytest.fixture
def talkers(opened: ConversationThread) -> Iterator[ConversationThread]:
    yield opened
    opened.close()


def does(what: Callable[[], Commit]) -> Work:
    async def work(_: AgentRuntime) -> Commit:
        return what()

    return work


def fails(error: Exception) -> Work:
    def do() -> Commit:
        raise error

    return does(do)


def lasts(until: threading.Event, began: threading.Event | None = None) -> Work:
    """A conversation with a tool that nobody can interrupt."""

    def wait() -> Commit:
        if began:
            began.set()
        until.wait()
        return DONE

    async def work(_: AgentRuntime) -> Commit:
        return await in_thread(wait)

    return work


def fetched(talkers: ConversationThread, woken: threading.Semaphore) -> list[JobOutcome]:
    assert woken.acquire(timeout=SECONDS)
    return talkers.take()


def test_what_came_of_a_conversation_is_fetched_once(talkers: ConversationThread, woken: threading.Semaphore) -> None:
    talkers.start(job(1), MODULE, does(lambda: DONE))

    assert fetched(talkers, woken) == [JobOutcome(job(1), Done(DONE))]
    assert (talkers.take(), talkers.claims, talkers.free(AGENT_QUEUE)) == ([], [], 200)


def test_a_conversation_is_held_until_it_is_fetched(talkers: ConversationThread, woken: threading.Semaphore) -> None:
    goes_on = threading.Event()
    talkers.start(job(1), MODULE, lasts(goes_on))
    assert (talkers.take(), talkers.claims, talkers.free(AGENT_QUEUE)) == ([], [job(1)], 199)
    assert talkers.free("translate") == 16 * (os.cpu_count() or 1)
    goes_on.set()
    assert woken.acquire(timeout=SECONDS)
    assert talkers.claims == [job(1)]

    assert [answer.outcome for answer in talkers.take()] == [Done(DONE)]


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ValueError("no luck"), Failed("ValueError: no luck")),
        (StoreFull("no room"), Full("no room")),
        (AWAY, Released(AWAY)),
    ],
)
def test_what_a_conversation_raises_is_told_of_its_job(
    talkers: ConversationThread, woken: threading.Semaphore, error: Exception, outcome: AttemptOutcome
) -> None:
    talkers.start(job(1), MODULE, fails(error))

    assert fetched(talkers, woken) == [JobOutcome(job(1), outcome)]


def test_a_conversation_that_is_lost_is_called_off_and_forgotten(
    talkers: ConversationThread, woken: threading.Semaphore
) -> None:
    began, goes_on = threading.Event(), threading.Event()
    talkers.start(job(1), MODULE, lasts(goes_on, began))
    talkers.start(job(2), MODULE, does(lambda: DONE))
    assert began.wait(SECONDS)
    talkers.drop([job(1)])
    assert all(woken.acquire(timeout=SECONDS) for _ in range(2))

    assert [answer.job for answer in talkers.take()] == [job(2)]
    goes_on.set()


def test_slow_tools_hold_up_no_other_conversation(talkers: ConversationThread, woken: threading.Semaphore) -> None:
    goes_on = threading.Event()
    for number in range(60):
        talkers.start(job(number), MODULE, lasts(goes_on))
    talkers.start(job(100), MODULE, lasts(goes_on, began := threading.Event()))

    assert began.wait(SECONDS)
    goes_on.set()


def test_the_end_does_not_wait_for_a_tool_that_hangs(opened: ConversationThread) -> None:
    began, never = threading.Event(), threading.Event()
    opened.start(job(1), MODULE, lasts(never, began))
    assert began.wait(SECONDS)
    at = time.monotonic()
    opened.close()

    assert time.monotonic() - at < LAST_SECONDS
    never.set()
