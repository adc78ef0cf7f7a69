"""Text of a model at a terminal."""

import sys

import pytest

from jarvis_cli.kit.terminal_text import for_stdout

CONTROLS = "a\x1b]0;title\x07 \x1b[2J\u202eb"


@pytest.mark.parametrize(
    ("is_terminal", "output", "is_raw"), [(True, None, False), (False, None, True), (True, "f", True)]
)
def test_only_a_terminal_gets_harmless_text(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, output: str | None, is_raw: bool
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)

    text = for_stdout(CONTROLS, output)

    assert (text == CONTROLS) is is_raw
    assert is_raw or text.isprintable()
