"""Completion of inputs at the prompt of a conversation."""

from pathlib import Path

import pytest

from jarvis_workers.assistant.chat.chat_inputs import COMMANDS
from jarvis_workers.assistant.commands.chat_completion import completions
from jarvis_workers.assistant.input_handlers import SlashCommand, read_input


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree with a file that is not below it."""
    for name in ("src/net/list.c", "src/main.c", ".git/config", "a\x1b.c", "a b.c", "z"):
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).touch()
    (tmp_path / "secret").touch()
    return tmp_path / "root"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/c", ["/cost", "/clear"]),
        ("/cost x", []),
        ("see @s", ["@src/"]),
        ("see\n@src/m", ["@src/main.c"]),
        ("@src/", ["@src/main.c", "@src/net/"]),
        ("@", ["@src/", "@z"]),
        ("@../", []),
        ("@/etc/", []),
        ("@nothing/x", []),
        ("hello", []),
    ],
)
def test_commands_and_files_are_completed(root: Path, text: str, found: list[str]) -> None:
    assert [completion for _, completion in completions(text, root)] == found


def test_what_is_replaced_is_the_end_of_the_text(root: Path) -> None:
    assert list(completions("see @src/m", root)) == [("@src/m", "@src/main.c")]


def test_every_command_of_the_help_is_one() -> None:
    assert {"help", "task", "quit"} <= set(COMMANDS)
    assert all(read_input(f"/{name}") == SlashCommand(name, "") for name in COMMANDS)
