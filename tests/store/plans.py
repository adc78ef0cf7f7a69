"""The statements of the store on its hot paths, and their query plans."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import event, text
from sqlmodel import Session

from jarvis_workers.store import crash_attribution, dispatching, jobs, stages
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Claimed, Commit, Finished, NewJob
from tests.store.arrange import enrol

RUNS = 20
CHUNK = 500
KNOWN = 11
WINDOW = 500
FULL_SCANS = {"sqlite": r"SCAN job(?! USING)", "postgresql": r"Seq Scan on job\b"}
EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN ", "postgresql": "EXPLAIN (COSTS OFF) "}
EXPLAINED = ("SELECT", "UPDATE", "INSERT", "DELETE", "WITH")
FILL = """
    INSERT INTO job (run_id, stage, step, queue, input_hash, label, payload, weight, state, fence, attempts, crashes,
        not_before, files, bytes, not_checked, cpu_seconds, started_at, finished_at, sent_at, lease_until, worker_id,
        process)
    SELECT 'r' || i % {runs}, 'scan', 'scan', 'scan', md5(i::text), 'batch', '{{}}', i % 2 * (i % 1000), state, 1, 0,
        CASE WHEN i % 20000 = 41 THEN 1 ELSE 0 END, 0, 1, 1, 0, 0.1, i, CASE WHEN state = 'done' THEN i + 1 END,
        CASE WHEN state = 'sent' THEN i END,
        CASE WHEN state = 'running' THEN 9999999999 END,
        CASE WHEN state = 'running' THEN 'w' || i % 16 END,
        CASE WHEN state = 'running' THEN 'w' || i % 16 || '/' || i % 64 END
    FROM (SELECT i, CASE WHEN i % 100 < 40 THEN 'done' WHEN i % 1000 = 41 THEN 'running' WHEN i % 1000 = 42 THEN 'sent'
        ELSE 'pending' END AS state FROM generate_series(1, {many}) AS i) AS numbered
"""

Do = Callable[[Session], Any]


@dataclass
class Watched:
    """A store that records pairs of statement and plan while `plans` is a list."""

    store: Store
    plans: list[tuple[str, str]] | None = None

    def __post_init__(self) -> None:
        event.listen(self.store.engine, "before_cursor_execute", self._explain)

    def plans_of(self, do: Do) -> list[tuple[str, str]]:
        """Run a function; return each statement and its plan at that time."""
        self.plans = []
        with self.store.write() as session:
            do(session)
        plans, self.plans = self.plans, None
        return plans

    def seconds(self, do: Do, times: int) -> float:
        """Return the shortest time of the last executions, as the plan may change after ten executions."""
        taken = []
        for _ in range(times):
            begun = time.perf_counter()
            with self.store.write() as session:
                do(session)
            taken.append(time.perf_counter() - begun)
        return min(taken[KNOWN:])

    def _explain(self, connection: Any, cursor: Any, statement: str, given: Any, _: Any, many: bool) -> None:
        if self.plans is None or not statement.lstrip().upper().startswith(EXPLAINED):
            return
        beside = cursor.connection.cursor()
        beside.execute(EXPLAIN[self.store.dialect] + statement, given[0] if many else given)
        self.plans.append((statement, "\n".join(str(row[-1]) for row in beside.fetchall())))
        beside.close()

    def full_scans(self, plans: Sequence[tuple[str, str]]) -> list[str]:
        """Return the plans that scan the whole job table."""
        pattern = FULL_SCANS[self.store.dialect]
        return [f"{statement}\n{plan}" for statement, plan in plans if re.search(pattern, plan)]


@dataclass
class Jobs:
    """Ids of jobs that were notified, each to be claimed once."""

    store: Store
    _ids: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        for worker in ("w1", "w2"):
            enrol(self.store, worker, seconds=3600)
        with self.store.read() as session:
            found = session.execute(text("SELECT id FROM job WHERE state = 'sent' ORDER BY id")).scalars().all()
        self._ids = iter(found)

    def some(self, many: int) -> list[int]:
        return [next(self._ids) for _ in range(many)]

    def claimed(self, session: Session, many: int) -> list[Claimed]:
        """Claim jobs as an agent process does."""
        return dispatching.claim_notified(
            session, self.some(many), worker_id="w1", process="w1/1", lease_seconds=60, worker_lease_seconds=30
        )


def hot_paths(store: Store) -> dict[str, Do]:
    """Return frequent operations by name."""
    rung = Jobs(store)
    with store.write() as session:
        (planner,) = rung.claimed(session, 1)

    def commit(session: Session) -> None:
        jobs.commit_many(session, [Finished(job, Commit(files=1)) for job in rung.claimed(session, 10)])

    numbers = iter(range(1_000_000))

    def plan(session: Session) -> None:
        new = [NewJob("scan", "scan", "batch", f"new {next(numbers)}") for _ in range(CHUNK)]
        assert jobs.plan_more(session, planner, new)

    shares = {f"r{n}": 5 for n in range(RUNS)}
    return {
        "claim_rung": lambda session: rung.claimed(session, 10),
        "claim_sent": lambda session: dispatching.claim_sent(
            session, *rung.some(1), worker_id="w2", process="w2/2", lease_seconds=60, worker_lease_seconds=30
        ),
        "commit_many": commit,
        "demand": lambda session: dispatching.demand(session, "cluster", "scan", WINDOW),
        "mark_sent": lambda session: dispatching.mark_sent(session, "scan", shares),
        "mark_sent, suspects last": lambda session: dispatching.mark_sent(session, "scan", shares, suspects_last=True),
        "mark_crashed_sent": lambda session: dispatching.mark_crashed_sent(session, "cluster", "scan", 5),
        "resend": lambda session: dispatching.resend(session, "scan", 1e12),
        "mean_seconds": lambda session: dispatching.mean_seconds(session, "scan"),
        "recover": crash_attribution.recover,
        "recover_gone": lambda session: crash_attribution.recover_dead_workers(session, 30),
        "crash_process": lambda session: crash_attribution.crash_process(session, "w3/3", "killed by SIGKILL"),
        "has_open_jobs": lambda session: stages.has_open_jobs(session, "r1", "scan"),
        "stages.close": lambda session: stages.close(session, "r2", "scan"),
        "plan_more": plan,
        "progress": lambda session: stages.progress(session, "r3"),
    }


def fill(store: Store, many: int) -> None:
    """Insert this many jobs in RUNS runs on a cluster, some of them done, running or sent; PostgreSQL only."""
    with store.write() as session:
        session.execute(text(FILL.format(runs=RUNS, many=many)))


def analyze(store: Store) -> None:
    """Update the statistics of the query planner."""
    with store.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("VACUUM ANALYZE job"))
