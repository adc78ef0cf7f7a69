"""Names of runs: unique in the store, and found again by the same request only."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.runs.named_runs import NameTaken, RunName, check_name, find_named, request_hash
from jarvis_workers.runs.runs import newest_runs, remove_runs
from jarvis_workers.runs.scan_request import blobs_of, request_for
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.runs.scan_settings import scan_options_of
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import Settings
from jarvis_workers.store import runs
from jarvis_workers.store.engine import Store

NIGHTLY = RunName("nightly", "a" * 64)


@pytest.fixture
def submit_named(store_url: str, store: Store, tmp_path: Path) -> Callable[[RunName], str]:
    """Return a function that submits a run of a small tree under a name."""
    settings = Settings(data_dir=tmp_path / "data", store_url=store_url)
    (tmp_path / "a.c").write_text("int a;\n")
    source = SourceTree(tmp_path / "a.c", os.fsencode(tmp_path))

    def submit_one(name: RunName) -> str:
        given = ScanInput(scan_options_of(settings, SecOptions))
        request = request_for(settings, source, "sec.fast", "cluster", given)
        return submit(store, blobs_of(settings), replace(request, name=name))

    return submit_one


def test_second_run_of_a_name_is_not_inserted(store: Store, submit_named: Callable[[RunName], str]) -> None:
    first = submit_named(NIGHTLY)

    with pytest.raises(NameTaken, match='--name: "nightly" was taken'):
        submit_named(NIGHTLY)

    assert [run.id for run in newest_runs(store, 5)] == [first]
    found = find_named(store, NIGHTLY)
    assert found is not None and found.id == first


def test_name_is_that_of_one_request_until_its_run_is_removed(
    store: Store, submit_named: Callable[[RunName], str]
) -> None:
    first = submit_named(NIGHTLY)
    other = RunName("nightly", "b" * 64)

    with pytest.raises(
        UsageError, match=f'"nightly" belongs to run {first}, which has another source or other options'
    ):
        find_named(store, other)
    assert find_named(store, RunName("weekly", "a" * 64)) is None

    with store.write() as session:
        runs.finish(session, first, "done")
    assert remove_runs(store, [first]) == 1
    assert find_named(store, other) is None
    submit_named(other)


@pytest.mark.parametrize("name", ["", "-a", "a b", "a/b", "a" * 64, "é", "a\n", "a."])
def test_names_that_fit_no_label_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="--name: "):
        check_name(name)
    assert check_name("Nightly-1.2_x") == "Nightly-1.2_x"


def test_request_does_not_depend_on_the_machine() -> None:
    here = JudgeOptions(processes=2, batch_files=10, batch_bytes=5, votes=3)

    assert request_hash(here, source="x") == request_hash(JudgeOptions(votes=3), source="x")
    assert request_hash(here, source="x") != request_hash(replace(here, votes=1), source="x")
    assert request_hash(here, source="x") != request_hash(here, source="y")
