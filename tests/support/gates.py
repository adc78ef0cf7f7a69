"""Block a scan by an installed rule, so that it lasts until the test lets it end."""

import os
import sys
from pathlib import Path

import pytest

from tests.support.installed import forget, install

CODE = """\
from jarvis_workers.sec.rules import Rule


def wait(site):
    open({path!r}, "rb").close()


RULES = (
    Rule("gate_rule", language="c/cpp", category="input_validation", cwe=20, confidence=0.7, check=wait,
         title="gate", description="d", suggestion="s", verification="", bad="pass_gate(a);", good="",
         calls=("pass_gate",)),
)
"""
GATED = "void wait(char *a) { pass_gate(a); }\n"


class Gate:
    """A process that scans a file with GATED blocks until the gate is opened; the file has no finding."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        place.mkdir()
        self._pipe = place / "gate"
        os.mkfifo(self._pipe)
        install(place / "packages", "gate_rules:RULES", CODE.format(path=str(self._pipe)), name="gate")
        forget(sys.modules)()
        monkeypatch.syspath_prepend(str(place / "packages"))
        monkeypatch.setenv("PYTHONPATH", str(place / "packages"), prepend=os.pathsep)

    def open(self) -> None:
        """Open the gate for all processes."""
        self._pipe.unlink()
        self._pipe.touch()
