"""The commands of a build; compile commands as words: shell quoting, and response files (`@file`).

`shlex` needs seconds for the 10 MB of a large compile_commands.json; one regular expression needs a tenth.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from jarvis_workers.option import Option

TOKEN = re.compile(r"""\s+|([^\s'"\\]+)|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)""", re.DOTALL)
ESCAPED_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
RESPONSE_DEPTH = 10
MOST_WORDS = 200_000

# A part of the help texts of commands that build a project.
COMPILATION = "Compilation"

# Returns the text of a response file, given its name as in the command; None if there is no such file.
ReadResponse = Callable[[str], str | None]


@dataclass(frozen=True)
class BuildCommands:
    """The commands of a build, each split as by a shell, and passed to `sh -c` if it contains shell operators."""

    configure: Annotated[
        str | None,
        Option("--configure", "Command to run before the build, in the sandbox.", COMPILATION, metavar="CMD"),
    ] = None
    build: Annotated[
        str | None,
        Option("--build", "Build command to record, in the sandbox, such as make.", COMPILATION, metavar="CMD"),
    ] = None

    @property
    def given(self) -> list[tuple[str, str]]:
        """The options and their values, in the order in which they run."""
        both = (("--configure", self.configure), ("--build", self.build))
        return [(option, command) for option, command in both if command is not None]


def split_words(text: str) -> list[str]:
    """Split a command as a POSIX shell does, without expansions. Raises ValueError for an unclosed quote."""
    if not any(mark in text for mark in "'\"\\"):
        return text.split()
    words: list[str] = []
    pieces: list[str] = []
    position = 0
    while position < len(text):
        found = TOKEN.match(text, position)
        if not found:
            raise ValueError(f"no closing quotation mark: {text[position : position + 40]}")
        position = found.end()
        if found.lastindex is not None:
            pieces.append(_unquoted(found))
        elif pieces:
            words.append("".join(pieces))
            pieces = []
    return [*words, "".join(pieces)] if pieces else words


def _unquoted(found: re.Match[str]) -> str:
    piece = found[found.lastindex or 0]
    if found.lastindex == 3:
        return ESCAPED_IN_QUOTES.sub(lambda escaped: "" if escaped[1] == "\n" else escaped[1], piece)
    return "" if found.lastindex == 4 and piece == "\n" else piece


def expand_responses(words: Sequence[str], read: ReadResponse) -> list[str]:
    """Replace each `@file` by the words in the file; a name without a file is kept, as gcc does.

    Raises ValueError if response files include each other, or if there are too many words.
    """
    if not any(word.startswith("@") for word in words):
        return list(words)
    expanded: list[str] = []
    for word in _expanded(words, read, 0):
        expanded.append(word)
        if len(expanded) > MOST_WORDS:
            raise ValueError(f"response files with more than {MOST_WORDS} words")
    return expanded


def _expanded(words: Sequence[str], read: ReadResponse, depth: int) -> Iterator[str]:
    if depth > RESPONSE_DEPTH:
        raise ValueError(f"response files nested deeper than {RESPONSE_DEPTH}: {words[0]}")
    for word in words:
        text = read(word[1:]) if word.startswith("@") else None
        if text is None:
            yield word
        else:
            yield from _expanded(split_words(text), read, depth + 1)
