"""The request of a run that converts a project: settings become options."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.c2rust.library_plan import LibraryPlan
from jarvis_workers.errors import UsageError
from jarvis_workers.platforms.groups import ModelGroup
from jarvis_workers.service.c2rust.compile_sources import CompilePlan
from jarvis_workers.service.c2rust.fast_run import (
    FastChoice,
    FastInput,
    LibraryPart,
    ModelChoice,
    fast_request,
    unfinished_run,
)
from jarvis_workers.service.c2rust.project_files import directory_of, write_project
from jarvis_workers.service.request import RunRequest
from jarvis_workers.service.sources import SourceTree
from jarvis_workers.service.submit import submit
from jarvis_workers.settings import Settings
from jarvis_workers.settings.schema import C2RustSettings
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.steps.c2rust.translate_options import TranslateOptions
from jarvis_workers.store import runs
from jarvis_workers.store.engine import Store
from tests.service.c2rust.test_project_files import GRAPH, STEPS

SETTINGS = Settings(models={"m": ModelGroup.model_validate({"model": "m"})})


def request_of(tmp_path: Path, choice: FastChoice, c2rust: C2RustSettings) -> RunRequest[FastInput]:
    source = SourceTree(tmp_path, os.fsencode(tmp_path))
    settings = SETTINGS.model_copy(update={"data_dir": tmp_path.with_name("data"), "c2rust": c2rust})
    return fast_request(settings, source, CompilePlan((), (), tmp_path, ()), "local:w", choice)


def share_of(tmp_path: Path, choice: FastChoice, share: float | None = 0.6) -> float | None:
    """Return the share of failures that pauses a run with this setting."""
    request = request_of(tmp_path, choice, C2RustSettings(pause_share=share))
    return TranslateOptions.decode(request.run_input.options.encode()).pause_share


def test_the_share_of_failures_that_pauses_a_run_is_a_setting(tmp_path: Path) -> None:
    model = ModelChoice("m")
    assert share_of(tmp_path, FastChoice(model=model)) == 0.6
    assert share_of(tmp_path, FastChoice(model=model, libraries=LibraryPart())) == 0.6
    assert share_of(tmp_path, FastChoice(model=model), share=None) is None
    assert share_of(tmp_path, FastChoice(model=model, forward=True)) is None
    assert share_of(tmp_path, FastChoice()) is None


def test_the_files_of_a_project_cannot_choose_a_crate_that_is_not_allowed(tmp_path: Path) -> None:
    write_project(tmp_path, GRAPH, STEPS)
    path = directory_of(tmp_path) / "symbols.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    changed = [{**line, "lib_replacement": {"libraries": ["evil"]}} for line in lines]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in changed))

    def given(*crates: str) -> tuple[int, list[str]]:
        found = request_of(
            tmp_path, FastChoice(model=ModelChoice("m")), C2RustSettings(allowed_crates=crates)
        ).run_input
        return len(LibraryPlan.model_validate_json(found.libraries).replaced), list(found.options.warnings)

    assert given("EVIL") == (2, [])
    replaced, (warning,) = given("good")
    assert replaced == 0 and warning.endswith("they are not in c2rust.allowed_crates: evil")


def test_names_of_runs_from_before_reports_had_a_language_stay_valid() -> None:
    fields = "configure build tests proof only forward crate cache model libraries"
    assert list(FastChoice().identity) == fields.split()
    assert FastChoice(lang="zh").identity == FastChoice().identity


def test_a_run_without_crates_is_not_continued_to_fetch_some(tmp_path: Path, store: Store) -> None:
    (tmp_path / "lib").mkdir()
    choice, c2rust = FastChoice(model=ModelChoice("m"), libraries=LibraryPart()), C2RustSettings()
    blobs = DirectoryBlobs(tmp_path / "blobs")
    run_id = submit(store, blobs, replace(request_of(tmp_path / "lib", choice, c2rust), may_be_empty=True))
    with store.write() as session:
        runs.pause(session, run_id, "interrupted")

    found = unfinished_run(store, SETTINGS, tmp_path / "lib", choice)
    assert found is not None and found.id == run_id
    with pytest.raises(UsageError, match=f"run {run_id} goes on without crates"):
        unfinished_run(store, SETTINGS, tmp_path / "lib", choice, fetch=True)
