"""Completion of inputs: slash commands at the beginning, and files of the directory after `@`."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from jarvis_cli.kit.terminal_text import harmless
from jarvis_workers.assistant.chat.chat_inputs import COMMANDS

FILES_MAX = 50
SKIPPED = frozenset({".git", ".jarvis"})


def completions(text: str, root: Path) -> Iterator[tuple[str, str]]:
    """Yield pairs of the end of the text before the cursor, and what may replace it."""
    word = text.rpartition(" ")[2].rpartition("\n")[2]
    if text.startswith("/") and word == text:
        yield from ((text, f"/{name}") for name in COMMANDS if name.startswith(text[1:]))
    elif word.startswith("@"):
        yield from ((word, f"@{path}") for path in _files(word[1:], root))


def completer(root: Path) -> Any:
    """Return a completer of prompt_toolkit."""
    from prompt_toolkit.completion import Completer, Completion

    class InputCompleter(Completer):
        def get_completions(self, document: Any, complete_event: Any) -> Iterator[Completion]:
            for end, text in completions(document.text_before_cursor, root):
                yield Completion(text, start_position=-len(end))

    return InputCompleter()


def _files(start: str, root: Path) -> Iterator[str]:
    """Yield the files and directories below the root whose path begins with `start`; links are not followed."""
    directory, slash, name = start.rpartition("/")
    if ".." in directory.split("/") or start.startswith("/"):
        return
    with suppress(OSError), os.scandir(root / directory) as entries:
        found = sorted(entry.name + "/" * entry.is_dir(follow_symlinks=False) for entry in entries)
        matching = [one for one in found if one.startswith(name) and one.strip("/") not in SKIPPED]
        yield from (directory + slash + one for one in matching[:FILES_MAX] if harmless(one) == one and " " not in one)
