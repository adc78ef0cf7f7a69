"""Records of conversations in the results store: cached answers, transcripts, and the group commit.

Writes are appended to the journal of the process, which saves those of all conversations in one transaction.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from jarvis_workers import __version__
from jarvis_workers.agents.loop.group_commit import Journal
from jarvis_workers.agents.loop.transcript import Transcript, read_line
from jarvis_workers.errors import StepFailed, StoreError, StoreFull, StoreUnavailable, UsageError
from jarvis_workers.models.platforms.answer_cache import AnswerStore
from jarvis_workers.pipeline.store_retry import retry_store
from jarvis_workers.store import events, transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.transcripts import Forgotten, Item, StoredAnswer, TranscriptLine
from jarvis_workers.store.values import Claimed
from jarvis_workers.telemetry import warning

# The lines about files of users that one process records, of all runs together.
RECORDED_MAX = 10_000


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


class ConversationRecords:
    """What the conversations of a process record in its store, and the answers that they find there.

    `secret` is what their marks are derived from; `on_saved` is called with saved items; `recorded` replaces the answer
    cache of the store. While the store is unavailable, conversations wait, until `stop` is set.
    """

    def __init__(
        self, store: Store, stop: threading.Event, on_saved: Callable[[list[Item]], None], recorded: AnswerStore | None
    ) -> None:
        self._store, self._stop, self._on_saved = store, stop, on_saved
        self._left_out = set[tuple[str, str]]()
        with store.write() as session:
            self.secret = transcripts.secret(session)
        self.journal: Journal[Item] = Journal(self._save)
        self.answers: AnswerStore = recorded or StoredAnswers(store, self.journal, stop)

    def close(self) -> None:
        """Save the pending records, unless the store is unavailable."""
        self.journal.close()

    def record_left_out(self, run_id: str, lines: Sequence[str]) -> None:
        """Record in the history of a run which files of users this process could not use."""
        news = [line for line in lines if (run_id, line) not in self._left_out]
        if not news or len(self._left_out) > RECORDED_MAX:
            return
        with suppress(StoreError), self._store.write() as session:
            events.record(session, run_id, events.LEFT_OUT, lines=news)
        self._left_out.update((run_id, line) for line in news)

    def _save(self, items: list[Item]) -> None:
        self._on_saved(save_items(self._store, items, self._stop))


def resume_transcript(log: StoredLog, about: Mapping[str, Any]) -> Transcript:
    """Resume the transcript, or restart it after a change of version or tools.

    Raises StepFailed if a restart would repeat a tool that must not run twice.
    """
    start = {"version": __version__, **about}
    try:
        return Transcript(log, start)
    except UsageError as problem:
        if any(record and record["kind"] == "call" for record in map(read_line, log.lines())):
            why = "it cannot restart, because a tool has run that must not run twice"
            raise StepFailed(f"{problem}; {why}") from problem
        warning("transcript restarted", job=log.job_id, says=str(problem))
        log.keep(0)
        return Transcript(log, start)


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
