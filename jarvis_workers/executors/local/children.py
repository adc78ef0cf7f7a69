"""The child processes of a local executor: one per slot, started when there is work and replaced when they die."""

import json
import os
import selectors
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

from jarvis_workers.executors.local.outcomes import JobOutcome
from jarvis_workers.pipeline.attempt import Died
from jarvis_workers.pipeline.wire import decode_outcome, to_line
from jarvis_workers.snapshots.resources import storage_environment
from jarvis_workers.store.values import Claimed
from jarvis_workers.toolchain.children import Child, ChildDied

CHILD_MODULE = "jarvis_workers.executors.local.child"
LAST_LINE_BYTES = 4096


@dataclass(slots=True)
class ChildSlot:
    """A child and its current job. `process` is its name in the store, unique to each child."""

    process: str
    child: Child | None = None
    job: Claimed | None = None
    since: float = 0.0


class LocalChildren:
    """At most `size` children; `where` is sent to each of them as its first line."""

    def __init__(
        self, worker_id: str, size: int, *, where: Mapping[str, str], environ: Mapping[str, str], errors: IO[bytes]
    ) -> None:
        self._worker_id = worker_id
        self._where = to_line(dict(where))
        self._environ = environ
        self._storage = storage_environment(where["blobs"], environ)
        self._errors = errors
        self._named = 0
        self.selector = selectors.DefaultSelector()
        self.slots = [self._new_slot() for _ in range(size)]

    @property
    def idle(self) -> list[ChildSlot]:
        """The slots without a job."""
        return [slot for slot in self.slots if slot.job is None]

    @property
    def busy(self) -> list[tuple[ChildSlot, Claimed]]:
        """The slots with a job, and their jobs."""
        return [(slot, slot.job) for slot in self.slots if slot.job is not None]

    def give(self, slot: ChildSlot, job: Claimed, request: Mapping[str, Any], now: float) -> list[JobOutcome]:
        """Send a job to the child of a slot; return the job's outcome if the child is dead, else an empty list."""
        slot.job, slot.since = job, now
        try:
            if slot.child is None:
                slot.child = Child(CHILD_MODULE, [], self._environ, self._errors, storage=self._storage)
                self.selector.register(slot.child, selectors.EVENT_READ, slot)
                slot.child.send(self._where)
            slot.child.send(to_line({"job": job.id, **request}))
        except ChildDied as death:
            return self._replace(slot, str(death))
        return []

    def hear(self, slot: ChildSlot) -> list[JobOutcome]:
        """Return the outcomes that the child of a slot has sent, or a crash of its job if the child is dead."""
        assert slot.child is not None
        try:
            lines = slot.child.receive()
        except ChildDied as death:
            return self._replace(slot, str(death))
        return [self._read(slot, json.loads(line)) for line in lines]

    def kill(self, slot: ChildSlot, why: str) -> list[JobOutcome]:
        """Kill the child of a slot and return the outcome of its job, with the reason `why`."""
        if slot.child is not None:
            self.selector.unregister(slot.child)
            slot.child.kill()
            slot.child = None
        return self._replace(slot, why)

    def dismiss(self) -> None:
        """End all children: close the pipes of idle ones, kill busy ones."""
        # First, as an error here calls this again, which must not hide it.
        slots, self.slots = self.slots, [self._new_slot() for _ in self.slots]
        for slot in slots:
            if slot.child is not None:
                self.selector.unregister(slot.child)
                if slot.job:
                    slot.child.kill()
                else:
                    slot.child.close()

    def _read(self, slot: ChildSlot, fields: dict[str, Any]) -> JobOutcome:
        job, slot.job = slot.job, None
        assert job is not None
        assert job.id == fields["job"]
        return JobOutcome(job, decode_outcome(fields), slot.process)

    def _replace(self, slot: ChildSlot, how: str) -> list[JobOutcome]:
        """Replace the slot of a dead child; return the outcome of its job, if it had one."""
        if slot.child is not None:
            self.selector.unregister(slot.child)
        self.slots[self.slots.index(slot)] = self._new_slot()
        return [JobOutcome(slot.job, Died(how + self._last_error_line()), slot.process)] if slot.job else []

    def _last_error_line(self) -> str:
        """Return the last line that the children wrote to standard error, and truncate that file."""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - LAST_LINE_BYTES))
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        self._errors.truncate(0)
        text = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f": {text[:200]}" if text else ""

    def _new_slot(self) -> ChildSlot:
        self._named += 1
        return ChildSlot(f"{self._worker_id}/{self._named}")
