"""Runs and jobs under every operation in any order: the store does what the model says, and obeys the design."""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from sqlalchemy import delete

from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.steps import controller
from jarvis_workers.steps.flow import FLOWS, PLAN
from jarvis_workers.steps.perform import save
from jarvis_workers.store import crashes, jobs, runs
from jarvis_workers.store.engine import Store, open_store
from jarvis_workers.store.runs import SnapshotFacts
from jarvis_workers.store.tables import BLOB_USE, CANDIDATE, EVENT, JOB, RUN, SNAPSHOT
from jarvis_workers.store.values import Claimed, Commit, NewJob, Spot
from tests.store.clocks import FakeClock
from tests.store.machine import ENDED, OPEN, STAGES, Model, Run, observe, obey

WORKERS = {"w1/1": "w1", "w1/2": "w1", "w2/1": "w2"}
EXECUTORS = ("cluster", "local:w2")
PICK = st.integers(0, 11)
PICKS = st.lists(PICK, min_size=1, max_size=4)
PROCESS = st.sampled_from(sorted(WORKERS))
EXECUTOR = st.sampled_from((*EXECUTORS[:1] * 3, *EXECUTORS[1:]))
QUEUE = st.sampled_from(("scan", "control"))
LEASE_SECONDS = 30.0
MANY = 100


class Nowhere:
    """Blobs that nobody reads."""

    def put(self, content: bytes) -> str:
        return hashlib.sha256(content).hexdigest()


class JobsAndRuns(RuleBasedStateMachine):
    """Each rule changes the store and the model, and compares them."""

    def __init__(self, store: Store, clock: FakeClock) -> None:
        super().__init__()
        self.store, self.clock, self.model = store, clock, Model()
        self.claims: list[Claimed] = []
        self.claimed_by: dict[tuple[int, int], str] = {}
        with store.write() as session:
            for table in (CANDIDATE, JOB, EVENT, RUN, SNAPSHOT, BLOB_USE):
                session.execute(delete(table))
        self.seen = observe(store)
