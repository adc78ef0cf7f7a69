"""One thread that saves for many conversations: together in the store, apart when they are taken up."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from jarvis_workers.agents.loop.group_commit import Journal
from jarvis_workers.errors import StoreFull, StoreUnavailable

pytestmark = pytest.mark.timing

COUNT = 50


async def append_all(journal: Journal[int]) -> None:
    async def one(number: int) -> None:
        journal.append(number)
        await journal.wait()

    await asyncio.gather(*map(one, range(COUNT)))


def test_what_comes_together_is_saved_together_and_in_order() -> None:
    saved: list[list[int]] = []
    journal = Journal(saved.append)

    asyncio.run(append_all(journal))
    journal.close()

    assert [item for batch in saved for item in batch] == list(range(COUNT))
    assert len(saved) < COUNT / 2


def test_event_loops_of_several_threads_share_it() -> None:
    saved: list[int] = []
    journal = Journal(saved.extend)

    def one(number: int) -> bool:
        journal.append(number)
        asyncio.run(wait(journal))
        return number in saved

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(COUNT)))
    journal.close()


def test_what_was_not_waited_for_is_saved_at_the_end() -> None:
    saved: list[str] = []
    journal = Journal(saved.extend)

    journal.append("last")
    journal.close()

    assert saved == ["last"]


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (StoreFull("no room"), ["first", "second", "third"]),
        (StoreUnavailable("away"), ["first", "second", "third"]),
        (ValueError("a fault of ours"), ["third"]),
    ],
)
def test_what_goes_wrong_is_told_to_all_who_wait_and_what_may_yet_be_saved_stays(
    error: Exception, kept: list[str]
) -> None:
    saved: list[str] = []
    fails = threading.Event()

    def save(items: list[str]) -> None:
        if fails.is_set():
            raise error
        saved.extend(items)

    journal = Journal(save)
    fails.set()
    journal.append("first")
    with pytest.raises(type(error), match=str(error)):
        asyncio.run(wait(journal))
    journal.append("second")
    with pytest.raises(type(error), match=str(error)):
        asyncio.run(wait(journal))
    fails.clear()
    journal.append("third")
    asyncio.run(wait(journal))
    journal.close()

    assert saved == kept


def test_what_nobody_waits_for_yet_does_not_go_down_with_what_fails() -> None:
    saved: list[str] = []
    begun, free = threading.Event(), threading.Event()

    def save(items: list[str]) -> None:
        begun.set()
        free.wait()
        if "refused" in items:
            raise ValueError("a fault of ours")
        saved.extend(items)

    async def append_in_turn() -> None:
        journal.append("first")
        first = journal.wait()
        await asyncio.to_thread(begun.wait)
        journal.append("refused")
        refused = journal.wait()
        journal.append("mine")
        free.set()
        await first
        with pytest.raises(ValueError, match="a fault of ours"):
            await refused
        await journal.wait()

    journal = Journal(save)
    asyncio.run(append_in_turn())
    journal.close()

    assert saved == ["first", "mine"]


def test_what_cannot_be_saved_at_the_end_is_told_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    def save(_: list[str]) -> None:
        raise StoreFull("no room")

    journal = Journal(save)
    journal.append("last")
    journal.close()

    assert [record.getMessage() for record in caplog.records] == ["records lost"]


async def wait(journal: Journal[str]) -> None:
    await journal.wait()
