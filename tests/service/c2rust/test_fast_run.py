"""The request of a run that converts a project: settings become options."""

import os
from pathlib import Path

from jarvis_workers.platforms.groups import ModelGroup
from jarvis_workers.service.c2rust.compile_sources import CompilePlan
from jarvis_workers.service.c2rust.fast_run import FastChoice, LibraryPart, ModelChoice, fast_request
from jarvis_workers.service.sources import SourceTree
from jarvis_workers.settings import Settings
from jarvis_workers.settings.schema import C2RustSettings
from jarvis_workers.steps.c2rust.translate_options import TranslateOptions


def share_of(tmp_path: Path, choice: FastChoice, share: float | None = 0.6) -> float | None:
    """Return the share of failures that pauses a run with this setting."""
    models = {"m": ModelGroup.model_validate({"model": "m"})}
    settings = Settings(data_dir=tmp_path / "data", models=models, c2rust=C2RustSettings(pause_share=share))
    source = SourceTree(tmp_path, os.fsencode(tmp_path))
    request = fast_request(settings, source, CompilePlan((), (), tmp_path, ()), "local:w", choice)
    return TranslateOptions.decode(request.run_input.options.encode()).pause_share


def test_the_share_of_failures_that_pauses_a_run_is_a_setting(tmp_path: Path) -> None:
    model = ModelChoice("m")
    assert share_of(tmp_path, FastChoice(model=model)) == 0.6
    assert share_of(tmp_path, FastChoice(model=model, libraries=LibraryPart())) == 0.6
    assert share_of(tmp_path, FastChoice(model=model), share=None) is None
    assert share_of(tmp_path, FastChoice(model=model, forward=True)) is None
    assert share_of(tmp_path, FastChoice()) is None
