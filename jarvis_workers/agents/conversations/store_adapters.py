"""Adapters of conversations to the results store: cached answers, transcripts, and the group commit.

Writes are appended to the journal of the process, which saves those of all conversations in one transaction.
"""

import threading
from collections.abc import Sequence

from jarvis_workers.agents.loop.group_commit import Journal
from jarvis_workers.errors import StoreError, StoreFull, StoreUnavailable
from jarvis_workers.pipeline.store_retry import retry_store
from jarvis_workers.store import transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.transcripts import Forgotten, Item, StoredAnswer, TranscriptLine
from jarvis_workers.store.values import Claimed


class StoredAnswers:
    """The answer cache of the store (`models.platforms.answer_cache.AnswerStore`).

    `find` blocks while it reads the store.

    `stop` ends the wait for an unavailable store.
    """

    def __init__(self, store: Store, journal: Journal[Item], stop: threading.Event) -> None:
        self._store, self._journal, self._stop = store, journal, stop

    def find(self, key: str) -> str | None:
        return retry_store(lambda: self._find(key), self._stop)

    def _find(self, key: str) -> str | None:
        with self._store.read() as session:
            return transcripts.answer(session, key)

    def put(self, key: str, text: str) -> None:
        self._journal.append(StoredAnswer(key, text))

    def forget(self, key: str) -> None:
        self._journal.append(Forgotten(key))


class StoredLog:
    """The transcript of one attempt at a job (`agents.loop.transcript.Log`); `lines` are those of earlier attempts."""

    def __init__(self, journal: Journal[Item], job: Claimed, lines: Sequence[bytes]) -> None:
        self.job_id = job.id
        self._journal, self._fence, self._lines = journal, job.fence, list(lines)
        self._count = len(self._lines)

    def lines(self) -> list[bytes]:
        return list(self._lines)

    def append(self, line: bytes) -> None:
        self._journal.append(TranscriptLine(self.job_id, self._fence, self._count, line))
        self._count += 1

    async def sync_async(self) -> None:
        await self._journal.wait()

    def keep(self, count: int) -> None:
        del self._lines[count:]
        self._count = count


def save_items(store: Store, items: list[Item], stop: threading.Event) -> list[Item]:
    """Save items in one transaction, waiting for the store until `stop` is set; return the saved items.

    Items of runs that have been removed are skipped. Raises StoreFull, StoreUnavailable.
    """

    def save() -> list[Item]:
        with store.write() as session:
            transcripts.save(session, items)
        return items

    try:
        return retry_store(save, stop)
    except (StoreFull, StoreUnavailable):
        raise
    except StoreError:
        with store.write() as session:
            left = transcripts.of_existing_jobs(session, items)
            transcripts.save(session, left)
        return left
