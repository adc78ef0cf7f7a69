"""The functions that discovery has chosen, but no job has searched, are gaps of the report."""

import json
from pathlib import Path

import pytest

from jarvis_workers.sec.stages.chosen_functions import unsearched
from jarvis_workers.sec.stages.payloads import DiscoverPayload
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store.values import StageJob

FUNCTIONS = [[f"src/{name}.c", name, 3, 1.0] for name in ("read", "parse", "copy")]


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return open_blobs(str(tmp_path / "b"), tmp_path / "c")


def job(blobs: Blobs, place: int, state: str = "done", reason: str | None = None) -> StageJob:
    """Return the job of a function."""
    ranking = blobs.put(json.dumps(FUNCTIONS).encode())
    payload = DiscoverPayload(ranking, place, str(FUNCTIONS[place][0]), 9, len(FUNCTIONS))
    return StageJob(state, reason, "", 1, payload.to_json(), None, 1)


def test_a_failed_job_and_a_function_without_a_job_are_gaps_with_their_reasons(blobs: Blobs) -> None:
    gaps = list(unsearched(blobs, [job(blobs, 1, "failed", "killed by signal 9"), job(blobs, 0)]))

    assert gaps == [
        (
            "src/parse.c",
            "function parse was not searched for defects (--discover): its job failed: killed by signal 9",
        ),
        (
            "src/copy.c",
            "function copy was not searched for defects (--discover): it was not reached before the run ended",
        ),
    ]


def test_there_is_no_gap_if_all_jobs_are_done_or_nothing_is_searched(blobs: Blobs) -> None:
    assert list(unsearched(blobs, [job(blobs, place) for place in range(3)])) == []
    assert list(unsearched(blobs, [])) == []
