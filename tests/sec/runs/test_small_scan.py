"""A small scan is recorded as one that the executor carries out; what is unusual takes the ordinary way."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.pipeline.stages import PLAN
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.scan_request import blobs_of, request_for
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.sec.report_json import body_to_json
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.runs.scan_settings import scan_options_of
from jarvis_workers.sec.runs.small_scan import scan_small, small_executor
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import ScanSettings, Settings
from jarvis_workers.store.engine import Store
from tests.sec.stages.pipeline import Pipeline

FILES_MAX = ScanSettings().small_files
DATA = Path(__file__).parents[2] / "data"
COPY = "void f(char *a, char *b) { strcpy(a, b); }\n"
TWICE = "#include <stdlib.h>\nvoid k(char *p) {\n    free(p); free(p);\n}\n"
QUIET = "void g(char *a, char *b) {\n    strcpy(a, b); // jarvis-ignore[unsafe_api]: measured\n}\n"
# What differs between any two runs, and what an executor keeps of its processes.
OWN = {
    "id",
    "run_id",
    "job_id",
    "executor",
    "process",
    "worker_id",
    "lease_until",
    "sent_at",
    "fence",
    "cpu_seconds",
    "cached",
}
TIMES = {"at", "created_at", "started_at", "ended_at", "opened_at", "closed_at", "finished_at"}
TABLES = ("run", "run_label", "stage", "job", "candidate", "artifact", "event", "snapshot")


@pytest.fixture
def settings(tmp_path: Path, sqlite_url: str) -> Settings:
    return Settings(data_dir=tmp_path, store_url=sqlite_url, processes=1)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name, text in {"copy.c": COPY, "twice.c": TWICE, "quiet.c": QUIET}.items():
        (tree / name).write_text(text)
    return tree


def request(settings: Settings, tree: Path) -> RunRequest[ScanInput]:
    given = ScanInput(scan_options_of(settings, SecOptions))
    return request_for(settings, SourceTree(tree, os.fsencode(tree)), "sec.fast", small_executor(), given)


def rows(url: str, run_id: str) -> dict[str, list[dict[str, Any]]]:
    """Return what a store has of a run, without what differs between any two runs."""
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        connection.row_factory = sqlite3.Row
        found = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES}
    own = {name: [row for row in of if dict(row).get("run_id", run_id) == run_id] for name, of in found.items()}
    own["run"] = [row for row in found["run"] if row["id"] == run_id]
    return {
        name: sorted(
            (
                {key: row[key] for key in row.keys() if key not in OWN | TIMES}  # noqa: SIM118  (rows iterate values)
                for row in of
                if "step" not in row.keys() or row["step"] != PLAN  # noqa: SIM118
            ),
            key=str,
        )
        for name, of in own.items()
    }


@pytest.mark.parametrize("examples", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_small_scan_leaves_the_rows_of_an_ordinary_one(
    settings: Settings, tree: Path, sqlite_url: str, open_stores: Callable[..., Store], examples: bool
) -> None:
    if examples:
        for path in sorted((DATA / "flow").rglob("*.c"))[: FILES_MAX - 3]:
            shutil.copy(path, tree)
    small = scan_small(settings, request(settings, tree))
    assert small is not None
    pipeline = Pipeline(open_stores(sqlite_url), blobs_of(settings))
    ordinary = pipeline.do(tree)

    one, other = rows(sqlite_url, small.run.id), rows(sqlite_url, ordinary)
    for row in (*one["run"], *other["run"]):
        del row["options"]  # the pipeline of tests has settings of its own
    for row in (*one["event"], *other["event"]):
        del row["facts"]
    assert one == other
    assert {"unsafe_api", "flow_double_free"} <= {row["pattern"] for row in one["candidate"]}
    assert pipeline.body(small.run.id) == body_to_json(small.body) == pipeline.body(ordinary)


def test_without_processes_it_scans_in_its_own(
    settings: Settings, tree: Path, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inline = settings.model_copy(update={"processes": 0})

    with monkeypatch.context() as patch:
        patch.delattr(os, "fork")
        small = scan_small(inline, request(inline, tree))

    assert small is not None
    forked = scan_small(settings, request(settings, tree))
    assert forked is not None and small.body == forked.body
    one, other = (rows(sqlite_url, run.run.id)["candidate"] for run in (small, forked))
    assert len(one) == len(other) > 0


def test_every_blob_of_a_small_scan_is_wanted(settings: Settings, tree: Path, sqlite_url: str) -> None:
    small = scan_small(settings, request(settings, tree))
    assert small is not None

    with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as connection:
        wanted = {blob for (blob,) in connection.execute("SELECT blob FROM blob_use WHERE owner = ?", [small.run.id])}
    stored = {path.name for path in (settings.data_dir / "blobs").rglob("*") if path.is_file()}
    assert stored and stored <= wanted


def test_what_is_unusual_is_left_to_the_ordinary_way(settings: Settings, tree: Path, sqlite_url: str) -> None:
    asked = request(settings, tree)
    for number in range(FILES_MAX):
        (tree / f"{number}.c").write_text(COPY)
    assert scan_small(settings, asked) is None, "too many files"

    for number in range(FILES_MAX):
        (tree / f"{number}.c").unlink()
    (tree / "away.c").symlink_to("/etc/passwd")
    assert scan_small(settings, asked) is None, "not checked in full"

    (tree / "away.c").unlink()
    elsewhere = settings.model_copy(update={"store_url": f"sqlite:///{tree / 'new.db'}"})
    assert scan_small(elsewhere, asked) is None, "a store that is not there yet"
    assert rows(sqlite_url, asked.run_id)["run"] == []
