"""A file that takes too much, or kills whatever scans it, is lost alone and by name."""

from pathlib import Path
from typing import Any

import pytest

from tests.chaos.commands import command, crowd
from tests.chaos.poison import poisoned_path
from tests.cli.commands import COPY

pytestmark = [pytest.mark.slow, pytest.mark.timing]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(20):
        (root / f"file{number:02}.c").write_text(f"/* {number} */\n{COPY}")
    return root


def scanned(home: Path, tree: Path, **settings: str) -> tuple[int, Any, Any]:
    """Scan with a poisoned scanner; return the exit code, the summary and the `scan` stage of the run."""
    environ = {"PYTHONPATH": poisoned_path(home), "JARVIS_TICK_SECONDS": "0.1"}
    with command(home, "sec", "fast", "-p", str(tree), "-j", "1", "--format", "json", **environ | settings) as running:
        code, said = running.ends()
        assert running.report.exists(), said
        return code, running.body()["summary"], running.run_part()["stages"]["scan"]


def poison(tree: Path, *words: str) -> None:
    """Make the first files of the tree poisonous."""
    for number, word in enumerate(words):
        (tree / f"file{number:02}.c").write_text(f"/* {word} {number} */\n{COPY}")


def reasons(summary: Any) -> list[str]:
    return [gap["reason"] for gap in summary["not_checked"]]


def test_files_that_kill_their_process_are_lost_alone_and_by_name(tmp_path: Path, tree: Path) -> None:
    poison(tree, "SEGFAULT", "EXIT", "harmless", "RAISE", "SEGFAULT")

    code, summary, scan = scanned(tmp_path, tree)

    assert (code, summary["total"], summary["scanned_files"], scan["crashes"]) == (3, 16, 16, 1)
    assert [gap["file"] for gap in summary["not_checked"]] == ["file00.c", "file01.c", "file03.c", "file04.c"]
    assert reasons(summary) == [
        "its process was killed by SIGSEGV",
        "its process exited with code 7",
        "IndexError: out of range",
        "its process was killed by SIGSEGV",
    ]


def test_files_that_take_too_much_are_lost_alone_and_cost_no_process(tmp_path: Path, tree: Path) -> None:
    poison(tree, "HANG", "SWALLOW")

    limits = {"JARVIS_SCAN__FILE_SECONDS": "0.05", "JARVIS_SCAN__FILE_MEMORY_MB": "100"}
    code, summary, scan = scanned(tmp_path, tree, **limits)

    assert (code, summary["total"], scan["crashes"]) == (3, 18, 0)
    assert reasons(summary) == ["exceeded the CPU limit of 0.5 s", "exceeded the memory limit of 100 MB"]


@pytest.mark.long
def test_what_no_signal_ends_is_killed_and_lost_alone(tmp_path: Path, tree: Path) -> None:
    poison(tree, "DEAF")

    limits = {"JARVIS_SCAN__FILE_SECONDS": "0.02", "JARVIS_SCAN__HARD_LIMIT_SECONDS": f"{8 * crowd():.0f}"}
    code, summary, scan = scanned(tmp_path, tree, **limits)

    assert (code, summary["total"], scan["crashes"]) == (3, 19, 1)
    assert reasons(summary) == ["exceeded the CPU limit of 0.2 s"]


@pytest.mark.long
def test_a_slow_batch_is_cut_and_nothing_of_it_is_lost(tmp_path: Path, tree: Path) -> None:
    # A batch is cut after half of the limit, which grows with the load; it takes half a CPU second for each file.
    limit = round(8 * crowd())
    slow = limit * 3 // 2
    poison(tree, *["HANG"] * slow, "harmless")

    limits = {"JARVIS_SCAN__FILE_SECONDS": "0.05", "JARVIS_SCAN__HARD_LIMIT_SECONDS": str(limit)}
    _, summary, scan = scanned(tmp_path, tree, **limits)

    assert (summary["total"], len(summary["not_checked"])) == (max(20 - slow, 1), slow)
    assert scan["jobs"] > 1
