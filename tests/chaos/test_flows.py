"""What befalls the stages of the flow rules costs what it must, and is told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import newest
from jarvis_workers.store.stages import progress
from tests.chaos.commands import command, until
from tests.chaos.poison import poisoned_path
from tests.sec.stages.test_trace_flows import LINE, RELEASE, end

pytestmark = [pytest.mark.slow, pytest.mark.timing]

FILES = 20
QUICK = {"JARVIS_TICK_SECONDS": "0.1", "JARVIS_SCAN__SMALL_FILES": "0"}
PLACES = [(f"file{number:02}.c", LINE) for number in range(FILES)]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(FILES):
        (root / f"file{number:02}.c").write_text(end(f"end{number}"))
    (root / "release.c").write_text(RELEASE)
    return root


def poison(tree: Path, *words: str) -> None:
    """Make the first files of the tree poisonous."""
    for number, word in enumerate(words):
        (tree / f"file{number:02}.c").write_text(end(f"end{number}", f" /* {word} */"))


def found(body: Any) -> list[tuple[str, int]]:
    return [(one["file"], one["line"]) for one in body["issues"] if one["pattern"] == "flow_double_free"]


def test_files_of_which_no_model_can_be_made_are_scanned_and_named(tmp_path: Path, tree: Path) -> None:
    poison(tree, "SEGFAULT", "EXIT", "harmless", "RAISE", "HANG", "SWALLOW")
    limits = {"JARVIS_SCAN__FILE_SECONDS": "0.05", "JARVIS_SCAN__FILE_MEMORY_MB": "100"}
    environ = {"PYTHONPATH": poisoned_path(tmp_path, "summarize"), **QUICK, **limits}

    with command(tmp_path, "sec", "fast", "-p", str(tree), "-j", "1", "--format", "json", **environ) as running:
        code, said = running.ends()

        assert code == 3, said
        body, stages = running.body(), running.run_part()["stages"]
    assert body["summary"]["scanned_files"] == FILES + 1
    assert [(gap["file"], gap["reason"]) for gap in body["summary"]["not_checked"]] == [
        ("file00.c", "data-flow rules did not run on it: its process was killed by SIGSEGV"),
        ("file01.c", "data-flow rules did not run on it: its process exited with code 7"),
        ("file03.c", "data-flow rules did not run on it: IndexError: out of range"),
        ("file04.c", "data-flow rules did not run on it: exceeded the CPU limit of 0.5 s"),
        ("file05.c", "data-flow rules did not run on it: exceeded the memory limit of 100 MB"),
    ]
    assert found(body) == [PLACES[2], *PLACES[6:]]
    assert (stages["scan"]["crashes"], stages["summarize"]["crashes"]) == (0, 1)


def test_a_child_that_is_killed_while_it_follows_values_costs_its_batch_once_more(
    tmp_path: Path, tree: Path, open_stores: Callable[..., Store]
) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    (tmp_path / "data").mkdir()
    environ = {"PYTHONPATH": poisoned_path(tmp_path, "flow", gate), **QUICK}

    with command(tmp_path, "sec", "fast", "-p", str(tree), "-j", "1", "--format", "json", **environ) as running:
        store = open_stores(f"sqlite:///{tmp_path / 'data' / 'jarvis.db'}")
        until(lambda: _is_at(store, "flow"))
        until(running.children)[0].kill()
        gate.unlink()
        code, said = running.ends()

        assert code == 0, said
        body, flow = running.body(), running.run_part()["stages"]["flow"]
    assert found(body) == PLACES
    assert (flow["crashes"], flow["failed"], flow["files"]) == (1, 0, FILES + 1)


def test_a_child_that_has_no_room_for_models_pauses_the_run_without_blame(tmp_path: Path, tree: Path) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    environ = {"PYTHONPATH": poisoned_path(tmp_path, "full", gate), **QUICK}

    with command(tmp_path, "sec", "fast", "-p", str(tree), "-j", "1", "--format", "json", **environ) as running:
        code, said = running.ends()
    assert code == 2
    assert "is not finished; continue with: jarvis runs resume " in said
    assert said.splitlines()[-1].endswith("no space left; free some space")

    gate.unlink()
    with command(tmp_path, "runs", "resume", "last", "--format", "json", **environ) as resumed:
        code, said = resumed.ends()

        assert code == 0, said
        assert found(resumed.body()) == PLACES
        assert resumed.run_part()["stages"]["summarize"]["crashes"] == 0


def _is_at(store: Store, stage: str) -> bool:
    with store.read() as session:
        newest_run = next(iter(newest(session, 1)), None)
        stages = progress(session, newest_run.id) if newest_run else []
    return any(one.running for one in stages if one.name == stage)
