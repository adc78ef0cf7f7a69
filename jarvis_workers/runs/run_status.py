"""The status of a run for a person: its facts, its stages and conversations, what it waits for, how to continue it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from jarvis_workers.runs import conversations, runs
from jarvis_workers.runs.budgets import resume_flags
from jarvis_workers.runs.health import unserved_queues
from jarvis_workers.runs.health.delays import delays
from jarvis_workers.runs.run_kinds import StoredRun, advice
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.store.values import Run, StageProgress


class RunStatus(NamedTuple):
    """The status of a run.

    `part` are the facts of its report, with `abandoned`, `labels` and `left_out`. `talks` has the id, label and state
    of each conversation. `missing` names the queues without a worker, "" if all have one.
    """

    run: Run
    part: dict[str, Any]
    stages: list[StageProgress]
    talks: list[tuple[int, str, str]]
    delays: list[str]
    missing: str

    def continuation(self) -> Iterator[str]:
        """Yield how to continue a run that is paused or abandoned."""
        abandoned = self.part["abandoned"]
        if abandoned or self.run.state == "paused":
            if text := advice(self.run):
                yield text
            ended = "its command has ended; " if abandoned else ""
            yield f"{ended}continue with: jarvis runs resume {self.run.id}{resume_flags(self.run)}"


def status_of(stored: StoredRun) -> RunStatus:
    """Return the status of a run."""
    settings, store, blobs, run = stored
    lease = settings.lease_seconds
    part = run_part(store, run) | {"abandoned": runs.is_abandoned(store, run, lease)}
    part["labels"] = runs.labels_of(store, [run.id])[run.id]
    part["left_out"] = conversations.left_out_files(store, blobs, run)
    unserved = [] if runs.is_local(run) else unserved_queues.unserved(store, run.id, lease)
    return RunStatus(
        run,
        part,
        stages=runs.stages_of(store, run),
        talks=conversations.jobs_of(store, run),
        delays=delays(store, run.id),
        missing=unserved_queues.describe_missing(unserved) if unserved else "",
    )
