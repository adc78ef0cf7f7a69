"""The checkpoint of library replacement: each part of its key prevents a wrong resume."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.c2rust.library_replacement import FunctionVerdict, LibraryChoice
from jarvis_workers.c2rust.runs.project_files import directory_of
from jarvis_workers.c2rust.runs.replacement_checkpoint import (
    CHECKPOINT,
    CheckpointKey,
    read_checkpoint,
    remove_checkpoint,
    write_checkpoint,
)
from jarvis_workers.c2rust.stages.replace_options import ReplaceOptions
from tests.c2rust.graphs import graph_of

OPTIONS = ReplaceOptions(
    symbols="5ab",
    model_group="m",
    roots=["f"],
    library="flate2",
    disabled=["a", "b"],
    allowed=["box"],
    entries=["start"],
    max_functions=7,
)
GRAPH = graph_of(["f", "g", "h"], [(1, 2), (2, 3)])
REPLACED = FunctionVerdict(id=2, choice=LibraryChoice(libraries="box", confidence=0.5))
VERDICTS = {
    1: FunctionVerdict(id=1, reason="no"),
    2: REPLACED,
    3: FunctionVerdict(id=3, reason="no answer", checked=False),
}
NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_checkpoint(tmp_path, CheckpointKey.of(OPTIONS, OPTIONS.symbols), VERDICTS, [3], NOW)
    return tmp_path


def read(root: Path, options: ReplaceOptions = OPTIONS) -> tuple[list[FunctionVerdict], str]:
    said: list[str] = []
    found = list(read_checkpoint(root, options, GRAPH, said.append))
    return found, "\n".join(said)


def test_verdicts_are_taken_up_but_for_functions_that_were_not_checked(root: Path) -> None:
    verdicts, said = read(root, replace(OPTIONS, disabled=["b", "a"]))

    assert [(one.id, one.choice) for one in verdicts] == [(1, None), (2, REPLACED.choice)]
    assert "2 functions are judged already; to judge them again: --no-resume" in said


def test_the_file_has_the_fields_of_the_seeds(root: Path) -> None:
    content = json.loads((directory_of(root) / CHECKPOINT).read_text())

    assert {name: value for name, value in content.items() if name not in ("key", "selected_roots")} == {
        "eval_counter": 2,
        "processed_roots": [1, 2],
        "pruned_dynamic": [3],
        "timestamp": "2026-01-02T00:00:00+00:00",
    }
    assert [one["id"] for one in content["selected_roots"]] == [2]
    assert content["key"] == {
        "symbols": "5ab",
        "library_name": "flate2",
        "llm_group": "m",
        "candidates": ["f"],
        "disabled_libraries": ["a", "b"],
        "max_funcs": 7,
        "allowed_crates": ["box"],
        "entries": ["start"],
    }


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("symbols", {"symbols": "6ab"}),
        ("library_name", {"library": None}),
        ("llm_group", {"model_group": "n"}),
        ("candidates", {"roots": []}),
        ("disabled_libraries", {"disabled": ["a"]}),
        ("max_funcs", {"max_functions": 8}),
        ("allowed_crates", {"allowed": ["box", "more"]}),
        ("entries", {"entries": []}),
    ],
)
def test_each_key_alone_prevents_a_wrong_resume(root: Path, name: str, options: dict[str, Any]) -> None:
    verdicts, said = read(root, replace(OPTIONS, **options))

    assert verdicts == []
    assert said.endswith(f"belongs to a run with another value of {name}: nothing is resumed")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"key": {}}', "\0" * 100])
def test_a_broken_file_is_named_and_not_used(root: Path, text: str) -> None:
    (directory_of(root) / CHECKPOINT).write_text(text)
    verdicts, said = read(root)

    assert verdicts == []
    assert said.endswith("cannot be read: nothing is resumed")


def test_what_is_not_allowed_or_not_in_the_graph_is_not_taken_up(root: Path) -> None:
    path = directory_of(root) / CHECKPOINT
    content = json.loads(path.read_text())
    content["processed_roots"] += [99]
    content["selected_roots"][0]["choice"]["libraries"] = ["evil"]
    path.write_text(json.dumps(content))

    assert [one.id for one in read(root)[0]] == [1]


def test_a_removed_checkpoint_says_nothing(root: Path) -> None:
    remove_checkpoint(root)
    remove_checkpoint(root)

    assert read(root) == ([], "")
