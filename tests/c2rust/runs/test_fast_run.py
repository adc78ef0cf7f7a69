"""The request of a run that converts a project: settings become options."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.builds.compile_sources import CompilePlan
from jarvis_workers.c2rust.library_plan import LibraryPlan
from jarvis_workers.c2rust.runs.conversion_request import ConversionRequest
from jarvis_workers.c2rust.runs.fast_run import FastInput, fast_request, unfinished_run
from jarvis_workers.c2rust.runs.project_files import directory_of, write_project
from jarvis_workers.c2rust.stages.options import FastOptions, MoveOptions, PrepareOptions, TranslateOptions
from jarvis_workers.errors import UsageError
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.runs.submit import submit
from jarvis_workers.settings import Settings
from jarvis_workers.settings.schema import C2RustSettings
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store import runs
from jarvis_workers.store.engine import Store
from tests.c2rust.runs.test_project_files import GRAPH, STEPS

SETTINGS = Settings(models={"m": ModelGroup.model_validate({"model": "m"})})


TRANSLATION, MOVE = TranslateOptions(model_group="m"), MoveOptions(model_group="m")


def request_of(tmp_path: Path, options: FastOptions, c2rust: C2RustSettings) -> RunRequest[FastInput]:
    source = SourceTree(tmp_path, os.fsencode(tmp_path))
    settings = SETTINGS.model_copy(update={"data_dir": tmp_path.with_name("data"), "c2rust": c2rust})
    conversion = ConversionRequest(options=options)
    return fast_request(conversion, settings, source, CompilePlan((), (), tmp_path, ()), "local:w")


def share_of(tmp_path: Path, options: FastOptions, share: float | None = 0.6) -> float | None:
    """Return the share of failures that pauses a run with this setting."""
    request = request_of(tmp_path, options, C2RustSettings(pause_share=share))
    return TranslateOptions.decode(request.run_input.options.encode()).pause_share


def test_the_share_of_failures_that_pauses_a_run_is_a_setting(tmp_path: Path) -> None:
    assert share_of(tmp_path, TRANSLATION) == 0.6
    assert share_of(tmp_path, MOVE) == 0.6
    assert share_of(tmp_path, TRANSLATION, share=None) is None
    assert share_of(tmp_path, PrepareOptions(model_group="m", forward=True)) is None
    assert share_of(tmp_path, FastOptions()) is None


def test_the_files_of_a_project_cannot_choose_a_crate_that_is_not_allowed(tmp_path: Path) -> None:
    write_project(tmp_path, GRAPH, STEPS)
    path = directory_of(tmp_path) / "symbols.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    changed = [{**line, "lib_replacement": {"libraries": ["evil"]}} for line in lines]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in changed))

    def given(*crates: str) -> tuple[int, list[str]]:
        found = request_of(tmp_path, TRANSLATION, C2RustSettings(allowed_crates=crates)).run_input
        return len(LibraryPlan.model_validate_json(found.libraries).replaced), list(found.options.warnings)

    assert given("EVIL") == (2, [])
    replaced, (warning,) = given("good")
    assert replaced == 0 and warning.endswith("they are not in c2rust.allowed_crates: evil")


def test_names_of_earlier_runs_stay_valid() -> None:
    options = {"build": "make", "tests": ["make test"], "crate": "lib_rs"}
    common = {**options, "configure": None, "proof": "reached", "only": [], "forward": False, "cache": True}
    model = {
        "group": "m",
        "max_retries": 2,
        "notes": "",
        "review": True,
        "escalate": None,
        "risky": {},
        "drivers": True,
    }
    libraries = {"roots": ["f"], "declared": [], "disabled": [], "skipped_stages": ("replace",)}
    translation = TranslateOptions(**options, model_group="m", max_retries=2)
    move = MoveOptions(**options, model_group="m", max_retries=2, roots=["f"])

    def identity(options: FastOptions, *skipped: str) -> dict[str, Any]:
        return ConversionRequest(options=options, skipped_stages=skipped).identity

    assert identity(FastOptions(**options)) == {**common, "model": None, "libraries": None}
    assert identity(translation) == identity(replace(translation, lang="zh"))
    assert identity(translation) == {**common, "model": model, "libraries": None}
    assert identity(move, "replace") == {**common, "model": model, "libraries": libraries}
    assert identity(PrepareOptions(model_group="m"))["model"] == {**model, "max_retries": 5}


def test_a_run_without_crates_is_not_continued_to_fetch_some(tmp_path: Path, store: Store) -> None:
    (tmp_path / "lib").mkdir()
    blobs = DirectoryBlobs(tmp_path / "blobs")
    run_id = submit(store, blobs, replace(request_of(tmp_path / "lib", MOVE, C2RustSettings()), may_be_empty=True))
    with store.write() as session:
        runs.pause(session, run_id, "interrupted")

    found = unfinished_run(store, SETTINGS, tmp_path / "lib", ConversionRequest(options=MOVE))
    assert found is not None and found.id == run_id
    with pytest.raises(UsageError, match=f"run {run_id} goes on without crates"):
        unfinished_run(store, SETTINGS, tmp_path / "lib", ConversionRequest(options=MOVE), fetch=True)
