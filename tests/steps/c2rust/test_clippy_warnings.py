"""The warnings of clippy about a crate, with a scripted bench."""

from pathlib import Path

from jarvis_workers.steps.c2rust.rustc_checks import CLIPPY, clippy_warnings
from jarvis_workers.toolchain.cargo import CargoMessage, find_rust
from tests.servers import require

MESSAGES = (
    CargoMessage("warning", "clippy::needless_return", "unneeded return"),
    CargoMessage("warning", "unused_mut", "a warning of rustc"),
    CargoMessage("warning", "", "2 warnings emitted"),
)


class ScriptedBench:
    """A bench whose cargo has these messages."""

    def cargo(self, *words: str) -> tuple[bool, tuple[CargoMessage, ...], float]:
        assert words == ("clippy",)
        return True, MESSAGES, 1.0


def test_only_warnings_of_clippy_count_if_it_is_installed() -> None:
    require("cargo")
    found = clippy_warnings(ScriptedBench())  # type: ignore[arg-type]
    is_installed = (Path(find_rust().root) / "bin" / CLIPPY).is_file()

    assert found == ([MESSAGES[0]] if is_installed else None)
