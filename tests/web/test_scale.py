"""Pages over 500 runs and 10,000 findings are quick. The bench prints the numbers; limits count CPU time."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store import runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import SnapshotFacts
from tests.support.machine import is_within
from tests.web.sample import add_report, application, issue, signed_in, submitted

FINDINGS, RUNS = 10_000, 500
# On an idle machine pages take a fraction of it.
CPU_SECONDS = 0.3
PAGES = {
    "runs": "/runs",
    "runs, last page": "/runs?page=20",
    "runs, by label": "/runs?label=team=network",
    "run": "/runs/big",
    "findings, filtered": "/runs/big?severity=low&path=file7",
    "findings, last page": "/runs/big?page=200",
    "finding": "/runs/big/findings/C002710",
    "compare": "/compare?before=other&after=big",
    "trend": "/trend?runs=200",
    "cost": "/cost",
    "API: findings": "/api/v1/runs/big/findings?size=500",
    "API: gate": "/api/v1/runs/big/gate?baseline=other",
}


@pytest.fixture
def large(store: Store, blobs: DirectoryBlobs, tmp_path: Path) -> Flask:
    """An application over RUNS runs, two of which have FINDINGS findings."""
    tree = tmp_path / "tree"
    first = submitted(store, blobs, tree, "first")
    with store.write() as session:
        facts = runs.snapshot(session, first.snapshot_id) or SnapshotFacts(first.snapshot_id, 1, 1, 0)
        for number in range(RUNS - 3):
            one = replace(first, id=f"r{number:04d}", options=first.options)
            runs.add(session, one, facts, ("scan", "report"))
    small = [issue(number) for number in range(20)]
    for number in range(0, RUNS - 3, 2):
        add_report(store, blobs, f"r{number:04d}", small)
    for name, shift in (("other", 0), ("big", 50)):
        submitted(store, blobs, tree, name, labels={"team": "network"})
        found = [
            issue(number + shift, severity=level(number), file=f"src/file{number % 97}.c") for number in range(FINDINGS)
        ]
        add_report(store, blobs, name, found)
    return application(store, blobs)


def level(number: int) -> str:
    return ("high", "medium", "low", "low")[number % 4]


def cpu_seconds(client: FlaskClient, address: str) -> float:
    start = time.process_time()
    answer = client.get(address)
    taken = time.process_time() - start
    assert answer.status_code == 200, answer.text
    return taken


@pytest.mark.slow
def test_pages_over_many_runs_and_findings_are_quick(large: Flask) -> None:
    client = signed_in(large)
    for address in PAGES.values():
        client.get(address)
    taken = {name: cpu_seconds(client, address) for name, address in PAGES.items()}
    slow = {name: seconds for name, seconds in taken.items() if not is_within(seconds, CPU_SECONDS)}

    assert slow == {}


@pytest.mark.bench
def test_bench_of_pages(large: Flask) -> None:
    client = signed_in(large)
    for name, address in PAGES.items():
        first, again = (cpu_seconds(client, address) for _ in range(2))
        print(f"{name:<22}{first * 1000:>8.0f} ms first{again * 1000:>8.0f} ms again")
