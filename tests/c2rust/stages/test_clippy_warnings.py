"""The warnings of clippy about a crate, with a scripted bench."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from jarvis_workers.c2rust.stages import rustc_checks
from jarvis_workers.c2rust.stages.rustc_checks import CLIPPY, ClippyRun, run_clippy
from jarvis_workers.toolchain.cargo import CUT, CargoMessage

LINT = CargoMessage("warning", "clippy::needless_return", "unneeded return")
OTHERS = CargoMessage("warning", "unused_mut", "of rustc"), CargoMessage("warning", "", "2 warnings emitted")
STOPPED = CargoMessage("error", "", "cargo: stopped at its limit of CPU time")


class ScriptedBench:
    """A bench whose cargo has these messages."""

    def __init__(self, *messages: CargoMessage, passed: bool = True) -> None:
        self._outcome = passed, messages, 1.0

    def cargo(self, *words: str, rustc: Sequence[str]) -> tuple[bool, tuple[CargoMessage, ...], float]:
        assert words == ("clippy",) and rustc == ("--cap-lints", "warn")
        return self._outcome


@pytest.fixture
def toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / CLIPPY).touch()
    monkeypatch.setattr(rustc_checks, "find_rust", lambda: SimpleNamespace(root=tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("bench", "found"),
    [
        (ScriptedBench(LINT, *OTHERS), ClippyRun((LINT,))),
        (ScriptedBench(*OTHERS), ClippyRun()),
        (ScriptedBench(STOPPED, passed=False), ClippyRun(problem=f"failed: {STOPPED.text}")),
        (ScriptedBench(LINT, STOPPED, passed=False), ClippyRun(problem=f"failed: {STOPPED.text}")),
        (ScriptedBench(LINT, CargoMessage("warning", "", CUT)), ClippyRun(problem="failed: too many messages")),
    ],
)
def test_warnings_count_only_if_clippy_succeeds(toolchain: Path, bench: ScriptedBench, found: ClippyRun) -> None:
    assert run_clippy(bench) == found  # type: ignore[arg-type]


def test_clippy_that_is_not_installed_is_named(toolchain: Path) -> None:
    (toolchain / "bin" / CLIPPY).unlink()
    assert run_clippy(ScriptedBench()) == ClippyRun(problem="cargo-clippy is not installed")  # type: ignore[arg-type]
