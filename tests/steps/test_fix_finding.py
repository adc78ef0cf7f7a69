"""The step that fixes a finding: a model's edits in a copy of the sources, and the gates over a real build and scan."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from tests.steps.fixing import ANSWER, BAD, GOOD, FixPlace
from tests.steps.pipeline import Pipeline


@pytest.fixture
def place(
    tmp_path: Path, sqlite_url: str, open_stores: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> FixPlace:
    monkeypatch.setenv("HOME", str(tmp_path))
    pipeline = Pipeline(open_stores(sqlite_url), DirectoryBlobs(tmp_path / "blobs"))
    return FixPlace(tmp_path, pipeline, lambda: open_stores(sqlite_url, durable=True))


@pytest.mark.slow
def test_a_right_patch_passes_all_gates(place: FixPlace) -> None:
    result = place.fix(GOOD, ANSWER)

    assert (result.state, result.reason, result.attempts) == ("landed", "", 1)
    assert [(gate.gate, gate.state) for gate in result.gates] == [
        ("applies", "passed"),
        ("files", "passed"),
        ("function", "passed"),
        ("build", "passed"),
        ("proof", "not checked"),
        ("rule", "passed"),
        ("tests", "passed"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_a_bad_patch_is_refused_by_the_gate_that_should(place: FixPlace, name: str) -> None:
    edits, gate, words = BAD[name]

    result = place.fix(*edits, ANSWER, attempts=1)

    assert (result.state, result.gates[-1].gate, result.gates[-1].state) == ("refused", gate, "failed"), result.reason
    assert words in result.gates[-1].reason
