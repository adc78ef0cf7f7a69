"""What a person's input means, in this order: a slash command, a shell command, or text that may name files.

    /cost               a command of the program; it never reaches the model
    !make -n            a shell command; it runs in the sandbox after a confirmation
    see @src/a.c:10-40  text for the model, with lines of a file

Only a person's input is read like this: never an answer, a result of a tool or a file.
"""

import re
from dataclasses import dataclass

FILES_MAX = 8
MENTION = re.compile(
    r"(?:^|(?<=\s))@(?P<path>[^\s:@]{1,1000})(?::(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?)?(?=\s|[,;.!?)]*(?:\s|$))"
)


@dataclass(frozen=True)
class SlashCommand:
    """`/name argument`."""

    name: str
    argument: str


@dataclass(frozen=True)
class ShellCommand:
    """`!command`."""

    command: str


@dataclass(frozen=True)
class FileMention:
    """`@path`, `@path:line` or `@path:first-last`; `last` is -1 for the end of the file."""

    path: str
    first: int = 1
    last: int = -1


@dataclass(frozen=True)
class PersonText:
    """Text for the model, and the files that it names, at most FILES_MAX; `left_out` counts the others."""

    text: str
    mentions: tuple[FileMention, ...] = ()
    left_out: int = 0


PersonInput = SlashCommand | ShellCommand | PersonText


def read_input(text: str) -> PersonInput:
    """Return what an input means."""
    text = text.strip()
    if re.match(r"/[A-Za-z?]", text):
        name, _, argument = text[1:].partition(" ")
        if "/" not in name and "\n" not in name:
            return SlashCommand(name.lower(), argument.strip())
    if text.startswith("!"):
        return ShellCommand(text[1:].strip())
    mentions = tuple(dict.fromkeys(map(_mention, MENTION.finditer(text))))
    return PersonText(text, mentions[:FILES_MAX], max(len(mentions) - FILES_MAX, 0))


def _mention(match: "re.Match[str]") -> FileMention:
    path = match["path"].rstrip(",;.!?)") if match["first"] is None else match["path"]
    if match["first"] is None:
        return FileMention(path)
    first = max(int(match["first"]), 1)
    return FileMention(path, first, int(match["last"] or first))
