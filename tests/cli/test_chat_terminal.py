"""`jarvis agent` at a real terminal: input, streaming, narrow terminals, Ctrl-C, and terminals that go away."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.agents.loop.server import ModelServer, calls, says, stalls
from tests.cli.commands import Jarvis
from tests.cli.terminal import ALT_ENTER, CTRL_C, CTRL_D, ENTER, Terminal, at_terminal
from tests.cli.test_agent import model
from tests.support.machine import is_within

START_SECONDS, TRIES = 1.0, 3
pytestmark = [pytest.mark.slow, pytest.mark.timing]


@contextmanager
def conversation(jarvis: Jarvis, server: ModelServer, *args: str, columns: int = 80) -> Iterator[Terminal]:
    """Start `jarvis agent` at a terminal, and wait for its first prompt."""
    model(jarvis, server, autonomy="supervised")
    shell = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environ = {**shell, "TERM": "xterm", "HOME": str(jarvis.place.parent), "NO_COLOR": "1"}
    with at_terminal(jarvis.place, "agent", *args, columns=columns, environ=environ) as terminal:
        terminal.wait_for("Ctrl-C")
        terminal.wait_for_prompt()
        yield terminal


def saved(jarvis: Jarvis) -> list[str]:
    """Return the messages of the saved session."""
    text = (jarvis.place / ".jarvis" / "saved_session_Jarvis_openai_m.json").read_text()
    contents = [message["content"] for message in json.loads(text)["messages"]]
    opening = re.compile(r"\ALines that begin with [^\n]*\n\n")
    return [re.split("\n\n(?:Save what|Use one tool|Some tools)", opening.sub("", one))[0] for one in contents]


def test_a_conversation_at_a_terminal_of_40_columns(jarvis: Jarvis) -> None:
    missing = calls("read_code", path="src/a_file_with_a_very_long_name_that_does_not_fit.c")
    with (
        ModelServer(missing, says("Fine, 中文."), says("Bye.")) as server,
        conversation(jarvis, server, columns=40) as terminal,
    ):
        terminal.type(f"What is{ALT_ENTER}there?{ENTER}")
        shown = terminal.wait_for("240 tokens, ")
        terminal.wait_for_prompt()
        terminal.type(f"Thanks{ENTER}")
        terminal.wait_for("Bye.")
        terminal.wait_for_prompt()
        terminal.type(f"/quit{ENTER}")
        assert terminal.wait() == 0

    lines = [line for line in shown.split("\n") if line.startswith(("* read_code", "! ", "Fine"))]
    called, failed = "* read_code path=src/a_file_with_a_ver…", "! [error] src/a_file_with_a_very_long_…"
    assert lines == [called, failed, "Fine, 中文."]
    assert "What is\nthere?" in server.requests[0]["messages"][-1]["content"]
    assert not list((jarvis.place / ".jarvis").glob("saved_session*"))
    history = jarvis.place.parent / "data" / "history"
    assert "+What is\n+there?\n" in history.read_text() and history.stat().st_mode & 0o777 == 0o600


def test_a_first_ctrl_c_asks_for_input_and_a_second_saves_and_quits(jarvis: Jarvis) -> None:
    with (
        ModelServer(stalls("one two three four"), says("Yes."), stalls("five six seven eight")) as server,
        conversation(jarvis, server) as terminal,
    ):
        terminal.type(f"Count{ENTER}")
        terminal.wait_for("one two")
        terminal.type(CTRL_C)
        terminal.wait_for_prompt()
        terminal.type(f"in letters{ENTER}")
        terminal.wait_for("Yes.")
        terminal.wait_for_prompt()
        terminal.type(f"more{ENTER}")
        terminal.wait_for("five six")
        terminal.type(CTRL_C)
        terminal.wait_for_prompt()
        terminal.type(CTRL_C)
        terminal.wait_for("--restore-session")
        assert terminal.wait() == 130

    assert saved(jarvis) == ["Count", "(interrupted by the user)", "in letters", "Yes.", "more"]


def test_a_call_is_confirmed_and_control_characters_are_escaped(jarvis: Jarvis) -> None:
    script = calls("execute_script", script_content="ls; echo '\x1b[31mred'")
    with (
        ModelServer(script, says("a\x1b]0;title\x07b")) as server,
        conversation(jarvis, server) as terminal,
    ):
        terminal.type(f"Go{ENTER}")
        question = terminal.wait_for("[y/N]")
        terminal.wait_for_prompt()
        terminal.type(f"n{ENTER}")
        terminal.wait_for("\\x1b]0;title\\x07b")
        terminal.wait_for_prompt()
        terminal.type(CTRL_C)
        terminal.wait_for_prompt()
        terminal.type(CTRL_D)
        assert terminal.wait() == 0

    assert "echo '\\x1b[31mred'" in question
    assert "the user refused the call" in server.requests[1]["messages"][-1]["content"]


def test_a_terminal_that_goes_away_during_an_answer_leaves_a_saved_session(jarvis: Jarvis) -> None:
    with (
        ModelServer(says("one"), stalls("two three four five")) as server,
        conversation(jarvis, server) as terminal,
    ):
        terminal.type(f"first{ENTER}")
        terminal.wait_for("one")
        terminal.wait_for_prompt()
        terminal.type(f"second{ENTER}")
        terminal.wait_for("two")
        terminal.hang_up()
        assert terminal.wait() == 129

    assert saved(jarvis) == ["first", "one", "second"]


def test_a_terminal_that_goes_away_at_the_prompt_leaves_a_saved_session(jarvis: Jarvis) -> None:
    with ModelServer(says("one")) as server, conversation(jarvis, server) as terminal:
        terminal.type(f"first{ENTER}")
        terminal.wait_for("one")
        terminal.wait_for_prompt()
        terminal.hang_up()
        assert terminal.wait() == 129

    assert saved(jarvis) == ["first", "one"]


def test_without_prompt_toolkit_a_blank_line_ends_an_input(jarvis: Jarvis) -> None:
    hides = jarvis.place.parent / "hides"
    hides.mkdir()
    (hides / "sitecustomize.py").write_text("import sys\nsys.modules['prompt_toolkit'] = None\n")
    path = f"{hides}{os.pathsep}{Path(__file__).parents[2]}"
    with ModelServer(says("Fine.")) as server:
        model(jarvis, server)
        environ = {**os.environ, "PYTHONPATH": path, "HOME": str(jarvis.place.parent)}
        with at_terminal(jarvis.place, "agent", environ=environ) as terminal:
            terminal.wait_for("\n> ")
            terminal.type("one\ntwo\n\n")
            terminal.wait_for("Fine.")
            terminal.wait_for("\n> ")
            terminal.type("/quit\n")
            assert terminal.wait() == 0

    assert server.requests[0]["messages"][-1]["content"].split("\n\n")[1] == "one\ntwo"


def test_a_conversation_starts_in_a_second_of_cpu_time(jarvis: Jarvis) -> None:
    def seconds() -> float:
        with ModelServer() as server, conversation(jarvis, server) as terminal:
            terminal.type(f"/quit{ENTER}")
            assert terminal.wait() == 0
            return terminal.cpu_seconds

    assert is_within(min(seconds() for _ in range(TRIES)), START_SECONDS)
