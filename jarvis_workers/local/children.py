"""The children of a command: one seat each, started when there is work, replaced when they die."""

import json
import os
import selectors
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

from jarvis_workers.local.outcomes import JobOutcome
from jarvis_workers.pipeline.attempt import Died
from jarvis_workers.pipeline.wire import decode_outcome, to_line
from jarvis_workers.store.values import Claimed
from jarvis_workers.toolchain.children import Child, ChildDied

CHILD_MODULE = "jarvis_workers.local.child"
LAST_WORDS_BYTES = 4096


@dataclass(slots=True)
class ChildSlot:
    """A child and the job it has. `process` names it in the store, and no two children share a name."""

    process: str
    child: Child | None = None
    job: Claimed | None = None
    since: float = 0.0


class LocalChildren:
    """At most `size` children. `where` is the first line that each of them reads."""

    def __init__(
        self, worker_id: str, size: int, *, where: Mapping[str, str], environ: Mapping[str, str], errors: IO[bytes]
    ) -> None:
        self._worker_id = worker_id
        self._where = to_line(dict(where))
        self._environ = environ
        self._errors = errors
        self._named = 0
        self.selector = selectors.DefaultSelector()
        self.seats = [self._seat() for _ in range(size)]

    @property
    def idle(self) -> list[ChildSlot]:
        """The seats without a job."""
        return [seat for seat in self.seats if seat.job is None]

    @property
    def busy(self) -> list[tuple[ChildSlot, Claimed]]:
        """The seats with a job, and the jobs."""
        return [(seat, seat.job) for seat in self.seats if seat.job is not None]

    def give(self, seat: ChildSlot, job: Claimed, request: Mapping[str, Any], now: float) -> list[JobOutcome]:
        """Let a seat's child decide a job; an answer at once only if the child is dead."""
        seat.job, seat.since = job, now
        try:
            if seat.child is None:
                seat.child = Child(CHILD_MODULE, [], self._environ, self._errors)
                self.selector.register(seat.child, selectors.EVENT_READ, seat)
                seat.child.send(self._where)
            seat.child.send(to_line({"job": job.id, **request}))
        except ChildDied as death:
            return self._bury(seat, str(death))
        return []

    def hear(self, seat: ChildSlot) -> list[JobOutcome]:
        """Return what a seat's child has answered, or its death."""
        assert seat.child is not None
        try:
            lines = seat.child.receive()
        except ChildDied as death:
            return self._bury(seat, str(death))
        return [self._read(seat, json.loads(line)) for line in lines]

    def kill(self, seat: ChildSlot, why: str) -> list[JobOutcome]:
        """End a seat's child at once."""
        if seat.child is not None:
            self.selector.unregister(seat.child)
            seat.child.kill()
            seat.child = None
        return self._bury(seat, why)

    def dismiss(self) -> None:
        """End every child: the idle by closing their pipes, the busy at once."""
        for seat in self.seats:
            if seat.child is not None:
                self.selector.unregister(seat.child)
                if seat.job:
                    seat.child.kill()
                else:
                    seat.child.close()
        self.seats = [self._seat() for _ in self.seats]

    def _read(self, seat: ChildSlot, said: dict[str, Any]) -> JobOutcome:
        job, seat.job = seat.job, None
        assert job is not None
        assert job.id == said["job"]
        return JobOutcome(job, decode_outcome(said), seat.process)

    def _bury(self, seat: ChildSlot, how: str) -> list[JobOutcome]:
        """Put a fresh seat in the place of a dead one; return the answer for the job it had."""
        if seat.child is not None:
            self.selector.unregister(seat.child)
        self.seats[self.seats.index(seat)] = self._seat()
        return [JobOutcome(seat.job, Died(how + self._last_words()), seat.process)] if seat.job else []

    def _last_words(self) -> str:
        """Return the last line that the children have said on standard error, which then is empty again."""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - LAST_WORDS_BYTES))
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        self._errors.truncate(0)
        said = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f": {said[:200]}" if said else ""

    def _seat(self) -> ChildSlot:
        self._named += 1
        return ChildSlot(f"{self._worker_id}/{self._named}")
