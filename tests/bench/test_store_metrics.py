"""Scraping the metrics of a store with a million jobs and model calls takes at most five seconds."""

import time
from collections.abc import Callable

import pytest
from sqlalchemy import text

from jarvis_workers.operate.metrics.store_collector import StoreCollector
from jarvis_workers.store.engine import Store
from tests.store.arrange import add_run
from tests.store.clocks import FakeClock

RUNS, JOBS = 1000, 1_000_000
SECONDS_MAX = 5.0
# A third is done, waits and has failed each; every other run is active on the cluster.
FILL = f"""
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {JOBS})
INSERT INTO job (run_id, stage, step, queue, input_hash, label, payload, weight, state, fence, attempts, crashes,
    not_before, finished_at, files, bytes, not_checked, cpu_seconds)
SELECT 'run' || (n % {RUNS}), 'scan', 'scan', 'scan', 'hash' || n, 'src/some/file' || n || '.c', '{{payload}}', n,
    CASE n % 3 WHEN 0 THEN 'done' WHEN 1 THEN 'pending' ELSE 'failed' END, 1, 0, 0, 1.0, n, 1, 1000, 0, 0.1
FROM number
"""
CALLS = f"""
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {JOBS})
INSERT INTO model_call (run_id, job_id, model, prompt, cached, completion, cost, seconds, tries)
SELECT 'run' || (n % {RUNS}), n, 'model' || (n % 5), 1000, 500, 50, 0.01, 1.5, n % 2 FROM number
"""


@pytest.mark.bench
@pytest.mark.timeout(1800)
def test_a_scrape_of_a_million_jobs(store_url: str, open_stores: Callable[..., Store]) -> None:
    store = open_stores(store_url)
    for n in range(RUNS):
        add_run(store, run_id=f"run{n}", executor="cluster" if n % 2 else None)
    store.deadline.execution_seconds = 1800.0
    with store.write(pauses=True) as session:
        session.execute(text(FILL.replace("{payload}", "x" * 300)))
        session.execute(text(CALLS))
    clock = FakeClock()
    collector = StoreCollector(lambda: store, 30.0, clock.monotonic)
    for name in ("first", "second"):
        began = time.monotonic()
        families = {family.name: family for family in collector.collect()}
        seconds = time.monotonic() - began
        print(f"{store.dialect}: {name} scrape {seconds:.2f} s")
        clock.advance(1000.0)
    backlog = families["jarvis_queue_backlog_jobs"].samples
    assert sum(sample.value for sample in backlog) > JOBS / 7
    assert seconds < SECONDS_MAX
