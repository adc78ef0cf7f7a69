"""The plan of stage `read`: the groups of files, the map of the project, and what is not read.

This module avoids slow imports, since reports use it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.sec.report_document import ReadingOutcome
from jarvis_workers.sec.stages.payloads import ReadPayload
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import StageJob

NOT_READ = "not read (--read): "
NOT_LOOKED_AT = "{name}: not looked at, although a reader (--read) asked for it: {reason}"
SPENT = "the budget of readers (--read-budget) is spent: {amounts}"
NOT_REACHED = "it was not reached before the run ended"
OVER_BUDGET = "over the budget of {budget} (--read-budget); --read all reads it"
LABEL_LENGTH = 120

# The path of a file, and the first and the last line that a reader sees.
Piece = tuple[str, int, int]


def _pieces(rows: Sequence[Sequence[Sequence[str | int]]]) -> tuple[tuple[Piece, ...], ...]:
    return tuple(tuple((str(path), int(first), int(last)) for path, first, last in group) for group in rows)


@dataclass(frozen=True)
class ReadingPlan(JsonRecord):
    """The groups in the order of their ranks, with their estimated tokens, and the files left out over the `budget`.

    `lines` are those of all files, read or not.
    """

    project: str
    groups: tuple[tuple[Piece, ...], ...] = field(metadata={"read": _pieces})
    tokens: tuple[int, ...] = field(metadata={"read": tuple})
    left_out: tuple[str, ...] = field(metadata={"read": tuple})
    budget: str = ""
    lines: int = 0

    @classmethod
    def of(cls, blobs: Blobs, payload: ReadPayload) -> "ReadingPlan":
        """Return the plan to which a job belongs."""
        return cls.decode(json.loads(blobs.read(payload.plan)))

    @property
    def over_budget(self) -> str:
        """The reason why files are left out."""
        return NOT_READ + OVER_BUDGET.format(budget=self.budget)

    def pieces(self, payload: ReadPayload) -> tuple[Piece, ...]:
        """Return what a job reads."""
        return ((payload.files[0], *payload.lines),) if payload.lines else self.groups[payload.place]

    def covers(self, path: str, first: int, last: int) -> bool:
        """Return whether a group has these lines; those of a file that is not left out may be in several."""
        if path not in self.left_out and any(path == one for group in self.groups for one, _, _ in group):
            return True
        return any(path == one and start <= first and last <= end for group in self.groups for one, start, end in group)

    def files(self, place: int) -> list[str]:
        """Return the files of a group."""
        return list(dict.fromkeys(path for path, _, _ in self.groups[place]))

    def label(self, place: int) -> str:
        """Return the name of a group in displays: its first file, and how many others it has."""
        files = self.files(place)
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return f"{files[0][-LABEL_LENGTH:]}{more}"


def unread(blobs: Blobs, jobs: Sequence[StageJob]) -> Iterator[tuple[str, str]]:
    """Yield each file that no job has read, and the reason, unless a job states it.

    The files that are left out are named by the first job.
    """
    if not jobs:
        return
    placed = {payload.place: job for payload, job in _placed(jobs) if payload.lines is None}
    plan = ReadingPlan.of(blobs, ReadPayload.from_json(jobs[0].payload))
    if 0 not in placed or not placed[0].done:
        yield from ((path, plan.over_budget) for path in plan.left_out)
    for place in range(len(plan.groups)):
        job = placed.get(place)
        if job is None or not job.done:
            yield from ((path, NOT_READ + _why(job)) for path in plan.files(place))
    for payload, job in _placed(jobs):
        if payload.lines and not job.done:
            yield payload.files[0], NOT_LOOKED_AT.format(name=payload.name, reason=_why(job))


def _why(job: StageJob | None) -> str:
    return f"its job failed: {job.reason}" if job and job.state == "failed" else NOT_REACHED


def reading_outcome(blobs: Blobs, jobs: Sequence[StageJob]) -> ReadingOutcome | None:
    """Return how many of the files were read, None if the run reads none."""
    if not jobs:
        return None
    plan = ReadingPlan.of(blobs, ReadPayload.from_json(jobs[0].payload))
    done = {payload.place for payload, job in _placed(jobs) if job.done and job.files and payload.lines is None}
    missing = {path for place in range(len(plan.groups)) if place not in done for path in plan.files(place)}
    missing.update(plan.left_out)
    every = {path for place in range(len(plan.groups)) for path in plan.files(place)} | missing
    lines = sum(last - first + 1 for place in done for _, first, last in plan.groups[place])
    return ReadingOutcome(len(every), len(every - missing), len(plan.groups), plan.lines, lines)


def _placed(jobs: Sequence[StageJob]) -> Iterator[tuple[ReadPayload, StageJob]]:
    return ((ReadPayload.from_json(job.payload), job) for job in jobs)
