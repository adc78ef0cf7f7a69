"""Every operation on runs and jobs, as rules of a state machine: each changes the store and the model, and compares."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from sqlalchemy import delete
from sqlmodel import Session

from jarvis_workers.pipeline.controller import advance, plan_job
from jarvis_workers.pipeline.runner import save
from jarvis_workers.pipeline.stages import PLAN
from jarvis_workers.sec.rules import RULES
from jarvis_workers.sec.stages.results import CandidateResult, spots_of
from jarvis_workers.sec.store.tables import CANDIDATE
from jarvis_workers.snapshots.blobs import Blobs, DirectoryBlobs
from jarvis_workers.store import crash_attribution, jobs, runs, values
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import BLOB_USE, EVENT, JOB, RUN, SNAPSHOT
from jarvis_workers.store.values import Claimed, Commit, NewJob, SnapshotFacts, Spot
from tests.store.clocks import FakeClock
from tests.store.machine import ACTIVE, ENDED, STAGES, Job, Model, Run, obey, observe

LEASE_SECONDS = 30.0
MANY = 100
OFTEN = 8
RUNS_AT_ONCE = 3
WORKERS = {"w1/1": "w1", "w1/2": "w1", "w2/1": "w2"}
EXECUTORS = ("cluster", "local:w2")
SNAPSHOT_FACTS = SnapshotFacts("s", files=1, bytes=1, not_checked=0)

picks = st.integers(0, 11)
processes = st.sampled_from(sorted(WORKERS))
executors = st.sampled_from(("cluster", "cluster", "cluster", "local:w2"))
queues = st.sampled_from(("scan", "scan", "control"))
some_runs = precondition(lambda self: self.model.runs)
some_claims = precondition(lambda self: self.claims)


class Nowhere(DirectoryBlobs):
    """A blob store that is never read."""

    def put(self, content: bytes) -> str:
        return hashlib.sha256(content).hexdigest()


class JobsAndRuns(RuleBasedStateMachine):
    """Each rule changes the store and the model; `_change` compares them."""

    def __init__(self, store: Store, clock: FakeClock) -> None:
        super().__init__()
        self.store, self.clock, self.model = store, clock, Model(clock)
        self.blobs: Blobs = Nowhere(Path("/nowhere"))
        self.claims: list[Claimed] = []
        self.workers: dict[tuple[int, int], str] = {}
        self.submitted = 0
        self.sound = True
        with store.write() as session:
            for table in (CANDIDATE, JOB, EVENT, RUN, SNAPSHOT, BLOB_USE):
                session.execute(delete(table))
        self.seen = observe(store)

    @contextmanager
    def _change(self) -> Iterator[Session]:
        with self.store.write() as session:
            yield session
        self._compare()

    def _compare(self) -> None:
        self.sound = False
        seen = observe(self.store)
        obey(self.seen, seen)
        self.model.learn_ids(seen)
        expected = self.model.expected()
        for name, content in expected.items():
            assert getattr(seen, name) == content, name
        self.seen = seen
        self.sound = True

    def _run(self, pick: int, *states: str) -> str:
        """Draw a run, mostly one in these states, if there is any."""
        fitting = [name for name, run in self.model.runs.items() if run.state in states]
        chosen = fitting if fitting and pick < OFTEN else list(self.model.runs)
        return chosen[-1 - pick % len(chosen)]

    def _claimed(self, pick: int) -> Claimed:
        """Draw a claim, mostly a valid one, else one that may be old, lost or of a removed run."""
        held = [claim for claim in self.claims if self.model.holds(claim)]
        chosen = held if held and pick < OFTEN else self.claims
        return chosen[-1 - pick % len(chosen)]

    @precondition(lambda self: sum(run.state not in ENDED for run in self.model.runs.values()) < RUNS_AT_ONCE)
    @rule(scans=st.integers(0, 5), executor=executors, planned=st.sampled_from((True, True, False)))
    def submit(self, scans: int, executor: str, planned: bool) -> None:
        self.submitted += 1
        name = f"r{self.submitted}"
        self.model.runs[name] = Run(tuple(f"k{n}" for n in range(scans)), executor)
        self.model.insert(name, "scan", ["plan"])
        run = values.Run(name, "sec.fast", "/", b"/", SNAPSHOT_FACTS.id, executor, "0")
        with self._change() as session:
            runs.add(session, run, SNAPSHOT_FACTS, STAGES)
            jobs.insert_jobs(session, name, "scan", [plan_job("scan")])
        if planned:
            self._commit(self._claim("w1/1", executor, "control", MANY, LEASE_SECONDS), unread=False, child=False)

    @some_runs
    @rule(
        process=processes, executor=executors, queue=queues, limit=st.integers(1, 4), lease=st.sampled_from((30.0, 5.0))
    )
    def claim(self, process: str, executor: str, queue: str, limit: int, lease: float) -> None:
        if not self.model.claimable(executor, queue, self.clock.now):
            self._claim(process, executor, queue, limit, lease)
            executor, queue = self._where_work_is(executor, queue)
        self._claim(process, executor, queue, limit, lease)

    def _where_work_is(self, executor: str, queue: str) -> tuple[str, str]:
        full = self._full_places()
        return full[0] if full else (executor, queue)

    def _full_places(self) -> list[tuple[str, str]]:
        places = [(executor, queue) for executor in EXECUTORS for queue in ("scan", "control")]
        return [place for place in places if self.model.claimable(*place, self.clock.now)]

    def _claim(self, process: str, executor: str, queue: str, limit: int, lease: float) -> list[Claimed]:
        waiting = self.model.claimable(executor, queue, self.clock.now)
        empty = not any(job.process == process for job in self.model.jobs.values())
        with self.store.write() as session:
            claimed = jobs.claim_many(
                session,
                executor=executor,
                queue=queue,
                worker_id=WORKERS[process],
                process=process,
                limit=limit,
                lease_seconds=lease,
            )
        assert len(claimed) <= limit
        assert claimed or not (waiting and empty), "an idle process was refused"
        for got in claimed:
            job = next(job for job in waiting if job.id == got.id)
            job.state, job.fence, job.worker, job.process = "running", job.fence + 1, WORKERS[process], process
            job.lease_until, job.lease_seconds = self.clock.now + lease, lease
            assert (got.fence, got.attempts, got.crashes) == (job.fence, job.attempts, job.crashes)
            assert (got.id, got.fence) not in self.workers, "two claims with one fence"
            self.workers[got.id, got.fence] = WORKERS[process]
        self.claims += claimed
        self._compare()
        return claimed

    @some_runs
    @rule(process=processes, queue=queues)
    def claim_and_lose_the_answer(self, process: str, queue: str) -> None:
        for lost in self._claim(process, EXECUTORS[0], queue, 2, LEASE_SECONDS):
            self.claims.remove(lost)

    @some_claims
    @rule(worker=st.sampled_from(("w1", "w2")), gone=st.booleans())
    def release_strays(self, worker: str, gone: bool) -> None:
        self._release_worker(worker) if gone else self._release_strays(worker)

    def _release_strays(self, worker: str) -> None:
        known = {job.id for job in self.claims if self.workers[job.id, job.fence] == worker}
        for job in self.model.jobs.values():
            if job.worker == worker and job.id not in known:
                job.idle("pending")
        with self._change() as session:
            jobs.release_strays(session, worker, known)

    @some_claims
    @rule(picked=st.lists(picks, min_size=1, max_size=4))
    def renew(self, picked: list[int]) -> None:
        claims = [self._claimed(pick) for pick in picked]
        kept = set()
        for claim in claims:
            job = self.model.holds(claim)
            if job and self.model.is_on(claim.run_id):
                job.lease_until, job.lease_seconds = self.clock.now + LEASE_SECONDS, LEASE_SECONDS
                kept.add(claim.id)
        with self._change() as session:
            assert jobs.renew(session, claims, LEASE_SECONDS) == kept

    @some_claims
    @rule(picked=st.lists(picks, min_size=1, max_size=4))
    def release(self, picked: list[int]) -> None:
        claims = [self._claimed(pick) for pick in picked]
        for claim in claims:
            if job := self.model.holds(claim):
                job.idle("pending")
        with self._change() as session:
            jobs.release(session, claims)

    @some_claims
    @rule(pick=picks)
    def fail_attempt(self, pick: int) -> None:
        self._fail_attempt(self._claimed(pick))

    @some_runs
    @rule(process=processes, executor=executors, queue=queues, times=st.integers(2, 3))
    def fail_again(self, process: str, executor: str, queue: str, times: int) -> None:
        executor, queue = self._where_work_is(executor, queue)
        for _ in range(times):
            for claim in self._claim(process, executor, queue, 1, LEASE_SECONDS):
                self._fail_attempt(claim)
            self.clock.advance(20.0)

    def _fail_attempt(self, claim: Claimed) -> None:
        if job := self.model.holds(claim):
            self.model.fail(job, claim, self.clock.now)
        with self._change() as session:
            jobs.fail_attempt(session, claim, "no luck")

    @some_claims
    @rule(pick=picks, keys=st.lists(picks, max_size=3))
    def plan_more(self, pick: int, keys: list[int]) -> None:
        claim = self._claimed(pick)
        if claim.step == PLAN:
            wanted = self._inputs(claim)
            self._plan(claim, [wanted[key % len(wanted)] for key in keys if wanted])

    def _inputs(self, claim: Claimed) -> tuple[str, ...]:
        if claim.run_id not in self.model.runs:
            return ("late",)
        return self.model.runs[claim.run_id].keys if claim.stage == "scan" else ("report",)

    def _plan(self, claim: Claimed, keys: list[str]) -> None:
        held = self.model.holds(claim)
        if held:
            self.model.insert(claim.run_id, claim.stage, keys)
        with self._change() as session:
            assert jobs.plan_more(session, claim, [new_job(claim.stage, key) for key in keys]) == bool(held)

    @some_claims
    @rule(picked=st.lists(picks, min_size=1, max_size=4), unread=st.booleans(), child=st.booleans())
    def commit(self, picked: list[int], unread: bool, child: bool) -> None:
        self._commit([self._claimed(pick) for pick in picked], unread, child)

    def _commit(self, claims: list[Claimed], unread: bool, child: bool) -> None:
        for claim in claims:
            if claim.step == PLAN:
                self._plan(claim, list(self._inputs(claim)))
        accepted = set()
        done = [(claim, outcome(claim, unread, child)) for claim in claims]
        for claim, commit in done:
            if job := self.model.holds(claim):
                self._accept(job, claim, commit)
                accepted.add(claim.id)
        assert save(self.store, self.blobs, done) == accepted
        self._compare()

    def _accept(self, job: Job, claim: Claimed, commit: Commit) -> None:
        job.idle("done")
        job.found = tuple(spot.evidence for spot in spots_of(commit))
        job.not_checked = bool(commit.not_checked)
        self.model.insert(claim.run_id, claim.stage, [child.input_hash for child in commit.children])
        if claim.step == PLAN and self.model.runs[claim.run_id].state == "planning":
            self.model.runs[claim.run_id].state = "running"

    @some_runs
    @rule(process=processes, executor=executors, queue=queues, limit=st.integers(1, 4), times=st.integers(1, 4))
    def crash_again(self, process: str, executor: str, queue: str, limit: int, times: int) -> None:
        executor, queue = self._where_work_is(executor, queue)
        for _ in range(times):
            self._claim(process, executor, queue, limit, LEASE_SECONDS)
            self._crash(process)

    @some_runs
    @rule(process=processes, executor=executors, queue=queues, beside=st.integers(0, 2), times=st.integers(1, 4))
    def time_out_again(self, process: str, executor: str, queue: str, beside: int, times: int) -> None:
        executor, queue = self._where_work_is(executor, queue)
        for _ in range(times):
            self._claim(process, executor, queue, 1, 5.0)
            if beside:
                self._claim(process, executor, queue, beside, LEASE_SECONDS)
            self._recover(6.0)

    @some_claims
    @rule(process=processes)
    def crash_process(self, process: str) -> None:
        self._crash(process)

    def _crash(self, process: str) -> None:
        self.model.crash([job for job in self.model.jobs.values() if job.process == process])
        with self._change() as session:
            crash_attribution.crash_process(session, process, "killed by signal 9")

    @some_claims
    @rule(seconds=st.sampled_from((0.5, 4.0, 20.0, 31.0)))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @some_claims
    @rule(seconds=st.sampled_from((0.0, 31.0)))
    def recover(self, seconds: float) -> None:
        self._recover(seconds)

    def _recover(self, seconds: float) -> None:
        self.clock.advance(seconds)
        late = [job for job in self.model.jobs.values() if (job.lease_until or self.clock.now) < self.clock.now]
        self.model.crash(late)
        with self._change() as session:
            assert len(crash_attribution.recover(session)) == len(late)

    @some_claims
    @rule(slept=st.sampled_from((LEASE_SECONDS / 4, LEASE_SECONDS, 9 * LEASE_SECONDS)))
    def extend_all(self, slept: float) -> None:
        for job in self.model.jobs.values():
            if job.lease_until is not None and job.lease_seconds is not None:
                most = self.clock.now + job.lease_seconds
                job.lease_until = max(job.lease_until, min(job.lease_until + slept, most))
        with self._change() as session:
            jobs.extend_all(session, slept, LEASE_SECONDS)

    def _release_worker(self, worker: str) -> None:
        for job in self.model.jobs.values():
            if job.worker == worker:
                job.idle("pending")
        with self._change() as session:
            jobs.release_worker(session, worker)

    @some_runs
    @rule(
        pick=picks,
        executor=executors,
        what=st.sampled_from(("pause", "take up", "take up", "retry", "retry", "cancel")),
    )
    def ask(self, what: str, pick: int, executor: str) -> None:
        if what == "retry":
            self._retry(self._run(pick, *ENDED), executor)
        elif what == "take up":
            self._take_up(self._run(pick, "paused"), executor)
        elif what == "pause":
            self._pause(self._run(pick))
        else:
            self._cancel(self._run(pick))

    def _cancel(self, name: str) -> None:
        on = self.model.runs[name].state in ("planning", "running", "paused")
        if on:
            self.model.runs[name].state = "cancelling"
            self.model.cancel_waiting(name)
        with self._change() as session:
            assert runs.cancel(session, name) == on

    def _pause(self, name: str) -> None:
        on = self.model.is_on(name)
        if on:
            self.model.runs[name].state = "paused"
        with self._change() as session:
            assert runs.pause(session, name, "the budget is spent") == on

    def _take_up(self, name: str, executor: str) -> None:
        on = self.model.runs[name].state in ("planning", "running", "paused")
        if on:
            self.model.go_on(name, executor)
        with self._change() as session:
            assert runs.take_up(session, name, executor) == on

    def _retry(self, name: str, executor: str) -> None:
        again = self.model.retry(name, executor)
        with self._change() as session:
            assert runs.retry(session, name, executor) == again

    @some_runs
    @rule(pick=picks)
    def advance(self, pick: int) -> None:
        self._advance(self._run(pick))

    def _advance(self, name: str) -> None:
        self.model.advance(name)
        with self._change() as session:
            advance(session, name)

    @precondition(lambda self: any(run.state in ENDED for run in self.model.runs.values()))
    @rule(pick=picks)
    def remove(self, pick: int) -> None:
        name = self._run(pick)
        if self.model.runs[name].state in ENDED:
            self.model.remove(name)
        with self._change() as session:
            runs.remove(session, name)

    @some_runs
    @rule(pick=picks, process=processes, rounds=st.integers(1, 7), fail=st.booleans())
    def run_through(self, pick: int, process: str, rounds: int, fail: bool) -> None:
        """Act as an undisturbed worker, so that later stages and the end are reached."""
        name = self._run(pick, *ACTIVE)
        for _ in range(rounds):
            if self.model.runs[name].state not in ACTIVE:
                break
            self._work(process, fail)
            self._advance(name)
            self.clock.advance(20.0)

    def _work(self, process: str, fail: bool) -> None:
        for executor, queue in self._full_places():
            mine = self._claim(process, executor, queue, MANY, LEASE_SECONDS)
            if mine and fail:
                self._fail_attempt(mine[-1])
            if mine:
                self._commit(mine, unread=False, child=False)

    def teardown(self) -> None:
        """Execute all runs to their end, twice, as failed jobs are retried: nothing is lost."""
        if self.sound:
            self._drive_to_the_end()
            for name, run in self.model.runs.items():
                self._retry(name, run.executor)
            self._drive_to_the_end()
            assert all(run.state in ("done", "cancelled", "incomplete") for run in self.model.runs.values())

    def _drive_to_the_end(self) -> None:
        for name, run in self.model.runs.items():
            if run.state == "paused":
                self._take_up(name, run.executor)
        rounds = 0
        while going := [name for name, run in self.model.runs.items() if run.state not in ENDED]:
            self._recover(3 * LEASE_SECONDS)
            self._work("w1/1", fail=False)
            for name in going:
                self._advance(name)
            rounds += 1
            assert rounds < 20, going
        for key, job in self.model.jobs.items():
            assert job.state in ("done", "failed", "cancelled"), key
        for name, run in self.model.runs.items():
            done = {key for _, _, key in self.model.of(name, "scan")}
            assert run.state in ("failed", "cancelled") or done >= {*run.keys, PLAN}


def new_job(stage: str, key: str) -> NewJob:
    queue = "scan" if stage == "scan" else "control"
    return NewJob(step=stage, queue=queue, label=key, input_hash=key, weight=len(key))


def outcome(claim: Claimed, unread: bool, child: bool) -> Commit:
    """Return the result of a job; its evidence identifies the claim."""
    if claim.step == PLAN:
        return Commit()
    if claim.stage == "report":
        return Commit(artifacts=(("report", b"{}"),))
    spot = Spot(claim.label.encode(), RULES[0].pattern, 1, 0.5, f"{claim.label} at {claim.fence}")
    children = (new_job("scan", f"{claim.label}'"),) if child and len(claim.label) < 4 else ()
    missed = ((b"x.c", "damaged"),) if unread else ()
    return Commit(results=(CandidateResult((spot,)),), not_checked=missed, children=children)
