"""A model of the store: runs and jobs in plain Python, and the invariants of every change.

`Model` predicts each operation exactly. `obey` is independent of it: it compares two states of the store, one operation
apart, with the design.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed
from tests.store.clocks import FakeClock

ACTIVE = {"planning", "running"}
ENDED = {"done", "incomplete", "failed", "cancelled"}
OPEN = {"pending", "sent", "running"}
STAGES = ("scan", "report")
ROOM = {1: 99, 2: 9, 3: 0}
JOB_MOVES = {
    "pending": {"sent", "running", "cancelled"},
    "sent": {"pending", "running", "cancelled"},
    "running": {"pending", "done", "failed"},
    "failed": {"pending"},
    "done": set(),
    "cancelled": set(),
}
RUN_MOVES = {
    "planning": {"running", "paused", "cancelling", "failed"},
    "running": {"paused", "cancelling", "done", "incomplete", "failed"},
    "paused": {"planning", "running", "cancelling"},
    "cancelling": {"cancelled"},
    "incomplete": {"running"},
    "failed": {"planning", "running"},
    "done": set(),
    "cancelled": set(),
}
RESTARTED = {("incomplete", "running"), ("failed", "running"), ("failed", "planning")}

Key = tuple[str, str, str]


class SeenJob(NamedTuple):
    """The row of a job, without fields that are only displayed."""

    id: int
    state: str
    fence: int
    lease_until: float | None
    lease_seconds: float | None
    worker: str | None
    process: str | None
    attempts: int
    crashes: int
    not_before: float


class Seen(NamedTuple):
    """The contents of the store: runs with state and executor, stages, jobs by (run, stage, input), evidence by job."""

    runs: dict[str, tuple[str, str]]
    stages: dict[tuple[str, str], str]
    jobs: dict[Key, SeenJob]
    found: dict[int, tuple[str, ...]]
    gids: dict[str, list[int | None]]


def observe(store: Store) -> Seen:
    """Read all rows that the invariants concern, directly through the driver, as this is done after every step."""
    with closing(store.engine.raw_connection()) as connection, closing(connection.cursor()) as cursor:

        def ask(query: str) -> list[Any]:
            cursor.execute(query)
            return list(cursor.fetchall())

        runs = {row[0]: (row[1], row[2]) for row in ask("SELECT id, state, executor FROM run")}
        stages = {(row[0], row[1]): row[2] for row in ask("SELECT run_id, name, state FROM stage")}
        columns = "id, state, fence, lease_until, lease_seconds, worker_id, process, attempts, crashes, not_before"
        rows = ask(f"SELECT run_id, stage, input_hash, {columns} FROM job")
        spots = ask("SELECT run_id, job_id, evidence, gid FROM candidate ORDER BY file_raw, line")
    jobs = {(row[0], row[1], row[2]): SeenJob(*row[3:]) for row in rows}
    assert len(jobs) == len(rows)
    found: dict[int, tuple[str, ...]] = {}
    gids: dict[str, list[int | None]] = {}
    for run, job, evidence, gid in spots:
        found[job] = (*found.get(job, ()), evidence)
        gids.setdefault(run, []).append(gid)
    return Seen(runs, stages, jobs, found, gids)


@dataclass
class Job:
    """The expected row of a job."""

    not_before: float
    id: int | None = None
    state: str = "pending"
    fence: int = 0
    lease_until: float | None = None
    lease_seconds: float | None = None
    worker: str | None = None
    process: str | None = None
    attempts: int = 0
    crashes: int = 0
    found: tuple[str, ...] = ()
    not_checked: bool = False

    def idle(self, state: str) -> None:
        self.state, self.worker, self.process = state, None, None
        self.lease_until = self.lease_seconds = None


@dataclass
class Run:
    """The expected row of a run; `keys` are the inputs of its scan jobs."""

    keys: tuple[str, ...]
    executor: str
    state: str = "planning"
    closed: list[str] = field(default_factory=list)


class Model:
    """The model of the store, with a method for each of its operations."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.runs: dict[str, Run] = {}
        self.jobs: dict[Key, Job] = {}

    def insert(self, run: str, stage: str, keys: Iterable[str]) -> None:
        for key in keys:
            self.jobs.setdefault((run, stage, key), Job(not_before=self.clock.now))

    def of(self, run: str, stage: str | None = None) -> dict[Key, Job]:
        return {key: job for key, job in self.jobs.items() if key[0] == run and stage in (None, key[1])}

    def holds(self, claim: Claimed) -> Job | None:
        """Return the job if the claim is still valid."""
        found = (job for job in self.jobs.values() if job.id == claim.id)
        return next((job for job in found if job.state == "running" and job.fence == claim.fence), None)

    def is_on(self, name: str) -> bool:
        return name in self.runs and self.runs[name].state in ACTIVE

    def remove(self, name: str) -> None:
        del self.runs[name]
        for key in self.of(name):
            del self.jobs[key]

    def claimable(self, executor: str, queue: str, now: float) -> list[Job]:
        on = {name for name, run in self.runs.items() if run.executor == executor and run.state in ACTIVE}
        return [
            job
            for (run, stage, key), job in self.jobs.items()
            if run in on and queue_of(stage, key) == queue and job.state == "pending" and job.not_before <= now
        ]

    def fail(self, job: Job, claim: Claimed, now: float) -> None:
        job.attempts += 1
        job.idle("failed" if job.attempts == 3 else "pending")
        job.not_before = now + 4.0**claim.attempts

    def crash(self, dead: list[Job]) -> None:
        """Attribute a crash: the job fails at the fourth, or at the third if no other job was in the process."""
        company = Counter(job.process for job in self.jobs.values() if job.state == "running")
        for job, beside in [(job, company[job.process] - 1) for job in dead]:
            job.crashes += 1
            given_up = job.crashes == 4 or (job.crashes == 3 and beside == 0)
            job.idle("failed" if given_up else "pending")

    def cancel_waiting(self, run: str) -> None:
        for job in self.of(run).values():
            if job.state == "pending":
                job.state = "cancelled"

    def go_on(self, name: str, executor: str) -> None:
        """A run is running as soon as its first stage is planned."""
        planned = any(key[2] == "plan" and job.state == "done" for key, job in self.of(name).items())
        self.runs[name].state = "running" if planned else "planning"
        self.runs[name].executor = executor

    def retry(self, name: str, executor: str) -> int:
        failed = {key: job for key, job in self.of(name).items() if job.state == "failed"}
        if self.runs[name].state not in ENDED - {"cancelled"} or not failed:
            return 0
        for job in failed.values():
            job.state, job.attempts, job.crashes, job.not_before = "pending", 0, 0, self.clock.now
        first = min(STAGES.index(stage) for _, stage, _ in failed)
        for key in self.of(name):
            if STAGES.index(key[1]) > first:
                del self.jobs[key]
        self.runs[name].closed = list(STAGES[:first])
        self.go_on(name, executor)
        return len(failed)

    def advance(self, name: str) -> None:
        run = self.runs[name]
        if run.state == "cancelling":
            self.cancel_waiting(name)
            if not any(job.state in OPEN for job in self.of(name).values()):
                run.state = "cancelled"
        elif run.state in ACTIVE:
            stage = STAGES[len(run.closed)]
            own = self.of(name, stage)
            if any(job.state in OPEN for job in own.values()):
                return
            if own[name, stage, "plan"].state == "failed":
                run.state = "failed"
                return
            run.closed.append(stage)
            if stage == STAGES[-1]:
                run.state = self._verdict(name)
            else:
                self.insert(name, STAGES[len(run.closed)], ["plan"])

    def _verdict(self, name: str) -> str:
        if any(job.state == "failed" for job in self.of(name, "report").values()):
            return "failed"
        whole = all(job.state == "done" and not job.not_checked for job in self.of(name).values())
        return "done" if whole else "incomplete"

    def learn_ids(self, seen: Seen) -> None:
        """Record the ids assigned by the store; they never change."""
        for key, job in self.jobs.items():
            if job.id is None and key in seen.jobs:
                job.id = seen.jobs[key].id

    def expected(self) -> dict[str, Any]:
        names = SeenJob._fields
        return {
            "runs": {name: (run.state, run.executor) for name, run in self.runs.items()},
            "stages": {
                (name, stage): "closed" if stage in run.closed else "open"
                for name, run in self.runs.items()
                for stage in STAGES
            },
            "jobs": {key: SeenJob(*[getattr(job, name) for name in names]) for key, job in self.jobs.items()},
            "found": {job.id: job.found for job in self.jobs.values() if job.found},
        }


def queue_of(stage: str, key: str) -> str:
    return "scan" if stage == "scan" and key != "plan" else "control"


def obey(before: Seen, after: Seen) -> None:
    """Check two states of the store, one operation apart, against the design."""
    for run, (state, _) in after.runs.items():
        was = before.runs.get(run, (state, ""))[0]
        assert state == was or state in RUN_MOVES[was], f"run {run}: {was} -> {state}"
    for key, job in after.jobs.items():
        _obey_job(before, after, key, job)
    for gone in before.jobs.keys() - after.jobs.keys():
        assert gone[0] not in after.runs or _restarted(before, after, gone[0])
    for (run, stage), state in after.stages.items():
        if before.stages.get((run, stage)) != state:
            assert state == "open" or before.stages[run, stage] == "open"
            assert state == "closed" or run not in before.runs or _restarted(before, after, run)
    for run in after.runs:
        _obey_run(after, run)
    _obey_room(after)


def _restarted(before: Seen, after: Seen, run: str) -> bool:
    return (before.runs[run][0], after.runs[run][0]) in RESTARTED


def _obey_job(before: Seen, after: Seen, key: Key, job: SeenJob) -> None:
    was = before.jobs.get(key)
    if was is None or was.id != job.id:
        assert (job.state, job.fence) == ("pending", 0)
        assert job.id not in {old.id for old in before.jobs.values()}
        return
    assert job.state == was.state or job.state in JOB_MOVES[was.state], f"job {key}: {was.state} -> {job.state}"
    claimed = was.state != "running" and job.state == "running"
    assert job.fence == was.fence + claimed
    assert not claimed or before.runs[key[0]][0] in ACTIVE
    assert (was.state, job.state) != ("failed", "pending") or _restarted(before, after, key[0])
    assert job.attempts <= 3
    assert job.crashes <= 4
    if job.state == "failed" and job.crashes > was.crashes:
        beside = [other for other in before.jobs.values() if other.process == was.process and other.id != job.id]
        assert job.crashes == 4 or not beside, f"job {key}: given up in company"
    assert (job.lease_until is not None) == (job.process is not None) == (job.state == "running")


def _obey_run(after: Seen, run: str) -> None:
    state = after.runs[run][0]
    open_jobs = {key[1] for key, job in after.jobs.items() if key[0] == run and job.state in OPEN}
    closed = [stage for stage in STAGES if after.stages[run, stage] == "closed"]
    assert closed == list(STAGES[: len(closed)]), "a stage closed before an earlier one"
    assert not open_jobs & set(closed), "a stage closed with open jobs"
    assert state not in ENDED or not open_jobs, "a run ended with open jobs"
    assert state not in ("done", "incomplete") or len(closed) == len(STAGES)
    for place, stage in enumerate(STAGES):
        assert ((run, stage, "plan") in after.jobs) == (place <= len(closed)), f"{run}: plan job of {stage}"
    for key, job in after.jobs.items():
        if key[0] == run and queue_of(key[1], key[2]) == "scan":
            assert len(after.found.get(job.id, ())) == (job.state == "done"), f"job {key}: its effect is not there once"
    if "scan" in closed:
        assert after.gids.get(run, []) == list(range(1, len(after.gids.get(run, [])) + 1))


def _obey_room(after: Seen) -> None:
    suspects = [job for job in after.jobs.values() if job.state == "running" and job.crashes]
    company = Counter(job.process for job in suspects)
    for job in suspects:
        assert company[job.process] - 1 <= ROOM[job.crashes], f"{job.process}: too many suspects"
