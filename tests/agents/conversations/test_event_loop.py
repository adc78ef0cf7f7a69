"""The loop of a process: conversations begin, end, are called off, run out of time, and break nobody but themselves."""

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from concurrent.futures import CancelledError

import pytest

from jarvis_workers.agents.conversations.deadline import pause_deadline
from jarvis_workers.agents.conversations.event_loop import LAST_SECONDS, ConversationLoop
from jarvis_workers.errors import StepFailed
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit

pytestmark = pytest.mark.timing

SECONDS = 10.0
DONE = Commit(files=1)


@pytest.fixture
def loop() -> Iterator[ConversationLoop]:
    yield from running(ConversationLoop(SECONDS))


def running(loop: ConversationLoop) -> Iterator[ConversationLoop]:
    thread = threading.Thread(target=loop.run)
    thread.start()
    yield loop
    loop.stop()
    thread.join(SECONDS)
    assert not thread.is_alive()


def job(number: int, fence: int = 1) -> Claimed:
    return Claimed(number, "run", "converse", "converse", AGENT_QUEUE, fence, f"talk {number}", "", 0, 0)


class Waits:
    """A conversation that waits to be let go on; `began` and `ended` say how far it is."""

    def __init__(self) -> None:
        self.began, self.goes_on, self.ended = threading.Event(), asyncio.Event(), threading.Event()

    async def __call__(self) -> Commit:
        self.began.set()
        try:
            await self.goes_on.wait()
        finally:
            self.ended.set()
        return DONE


def ends(what: Callable[[], object]) -> Callable[[], Awaitable[Commit]]:
    """A conversation that does one thing."""

    async def converse() -> Commit:
        what()
        return DONE

    return converse


def test_conversations_go_on_at_the_same_time(loop: ConversationLoop) -> None:
    first, second = Waits(), Waits()
    futures = [loop.start(job(1), first), loop.start(job(2), second)]
    assert first.began.wait(SECONDS)
    assert second.began.wait(SECONDS)
    assert loop.start(job(3), ends(lambda: (first.goes_on.set(), second.goes_on.set()))).result(SECONDS) == DONE

    assert [future.result(SECONDS) for future in futures] == [DONE, DONE]


def test_one_that_is_called_off_ends_and_the_others_go_on(loop: ConversationLoop) -> None:
    off, on = Waits(), Waits()
    futures = [loop.start(job(1), off), loop.start(job(2), on)]
    assert off.began.wait(SECONDS)
    loop.cancel(job(1))
    assert off.ended.wait(SECONDS)
    with pytest.raises(CancelledError):
        futures[0].result(SECONDS)
    loop.start(job(3), ends(on.goes_on.set)).result(SECONDS)

    assert futures[1].result(SECONDS) == DONE


def test_one_that_has_only_just_begun_can_be_called_off(loop: ConversationLoop) -> None:
    for number in range(200):
        future = loop.start(job(number), Waits())
        loop.cancel(job(number))
        with pytest.raises(CancelledError):
            future.result(SECONDS)


def test_calling_off_what_is_over_or_of_an_earlier_claim_changes_nothing(loop: ConversationLoop) -> None:
    assert loop.start(job(1), ends(lambda: None)).result(SECONDS) == DONE
    loop.cancel(job(1))
    anew = Waits()
    future = loop.start(job(1, fence=2), anew)
    assert anew.began.wait(SECONDS)
    loop.cancel(job(1, fence=1))
    loop.start(job(2), ends(anew.goes_on.set)).result(SECONDS)

    assert future.result(SECONDS) == DONE


def test_when_all_are_called_off_none_begins_any_more(loop: ConversationLoop) -> None:
    on = Waits()
    futures = [loop.start(job(1), on)]
    assert on.began.wait(SECONDS)
    loop.cancel_all()
    futures.append(loop.start(job(2), Waits()))

    for future in futures:
        with pytest.raises(CancelledError):
            future.result(SECONDS)


def raises(error: BaseException) -> Callable[[], object]:
    def do() -> None:
        raise error

    return do


@pytest.mark.parametrize(
    ("does", "says"),
    [
        (lambda: sys.exit(3), "ended with SystemExit"),
        (raises(KeyboardInterrupt()), "ended with KeyboardInterrupt"),
        (raises(asyncio.CancelledError()), "ended with CancelledError"),
    ],
)
def test_one_that_tries_to_end_the_process_ends_itself_alone(
    loop: ConversationLoop, does: Callable[[], object], says: str
) -> None:
    other = Waits()
    future = loop.start(job(2), other)
    with pytest.raises(StepFailed, match=says):
        loop.start(job(1), ends(does)).result(SECONDS)
    loop.start(job(3), ends(other.goes_on.set)).result(SECONDS)

    assert future.result(SECONDS) == DONE


def test_what_one_raises_is_raised_where_it_is_waited_for(loop: ConversationLoop) -> None:
    with pytest.raises(ValueError, match="no such luck"):
        loop.start(job(1), ends(raises(ValueError("no such luck")))).result(SECONDS)
    with pytest.raises(TimeoutError, match="of its own"):
        loop.start(job(2), ends(raises(TimeoutError("of its own")))).result(SECONDS)


def test_one_that_takes_too_long_has_failed() -> None:
    for loop in running(ConversationLoop(0.05)):
        slow = Waits()
        with pytest.raises(StepFailed, match=r"took longer than 0\.05 s"):
            loop.start(job(1), slow).result(SECONDS)
        assert slow.ended.is_set()


def test_a_pause_does_not_count_towards_the_deadline() -> None:
    async def converse() -> Commit:
        with pause_deadline():
            await asyncio.sleep(0.1)
        return DONE

    async def slow_after_a_pause() -> Commit:
        with pause_deadline():
            await asyncio.sleep(0.01)
        await asyncio.Event().wait()
        return DONE

    for loop in running(ConversationLoop(0.05)):
        assert loop.start(job(1), converse).result(SECONDS) == DONE
        with pytest.raises(StepFailed, match=r"took longer than 0\.05 s"):
            loop.start(job(2), slow_after_a_pause).result(SECONDS)


def test_a_paused_conversation_can_be_cancelled(loop: ConversationLoop) -> None:
    waiting = Waits()

    async def converse() -> Commit:
        with pause_deadline():
            return await waiting()

    future = loop.start(job(1), converse)
    assert waiting.began.wait(SECONDS)
    loop.cancel(job(1))
    with pytest.raises(CancelledError):
        future.result(SECONDS)


@pytest.mark.slow
def test_a_loop_ends_although_a_conversation_does_not() -> None:
    loop, stubborn = ConversationLoop(SECONDS), threading.Event()

    async def never() -> Commit:
        while True:
            try:
                stubborn.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    thread = threading.Thread(target=loop.run)
    thread.start()
    loop.start(job(1), never)
    assert stubborn.wait(SECONDS)
    loop.cancel_all()
    loop.stop()
    thread.join(LAST_SECONDS + SECONDS)

    assert not thread.is_alive()


def test_what_conversations_have_opened_is_closed_when_the_loop_ends() -> None:
    opened: list[AsyncGenerator[None, None]] = []
    closed = threading.Event()

    async def open_it() -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            closed.set()

    async def converse() -> Commit:
        opened.append(open_it())
        await anext(opened[0])
        return DONE

    for loop in running(ConversationLoop(SECONDS)):
        assert loop.start(job(1), converse).result(SECONDS) == DONE
        assert not closed.is_set()

    assert closed.is_set()
