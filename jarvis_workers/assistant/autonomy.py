"""Autonomy: which tool calls an agent may run by itself, which a person confirms, and which are refused.

A person's yes is final. "Always" holds for the session and for one base command: a script that is a single command with
plain arguments, of a program that only reads. It never covers pipes, lists, redirections or substitutions.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Level = Literal["readonly", "supervised", "full"]
LEVELS: tuple[Level, ...] = ("readonly", "supervised", "full")
# Tools that change nothing and start no process.
READERS = frozenset({"read_code", "search_code", "retrieve_memory", "list_memory_tags", "ask_user"})
SCRIPT = "execute_script"
# Tools that write no files: the sandbox of scripts is read-only.
WRITE_NOTHING = READERS | {SCRIPT}
SHELLS = ("bash", "sh")
# Characters that let a line of shell do more than run one command with plain arguments.
SPECIAL = re.compile(r"[|;&<>`$(){}\n\r\\!*?\[\]~#]")
COMMAND = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
# Programs that only read, whatever their arguments are: none of them runs another one, or writes a file.
READING = frozenset(
    [
        *("basename", "cat", "cksum", "cmp", "comm", "cut", "date", "df", "diff", "dirname", "du", "echo", "egrep"),
        *("fgrep", "grep", "head", "ls", "md5sum", "nl", "od", "pwd", "readlink", "realpath", "seq", "sha256sum"),
        *("stat", "tail", "tr", "true", "wc", "which"),
    ]
)


@dataclass
class Autonomy:
    """The level of a session, and the commands and tools that the person always allows."""

    level: Level = "full"
    allowed: set[str] = field(default_factory=set)

    def refusal(self, tool: str) -> str | None:
        """Return why a call must not run at all, or None; checked before the person is asked."""
        if self.level == "readonly" and tool not in READERS:
            return f"not run: in a read-only session only these tools run: {', '.join(sorted(READERS))}"
        return None

    def needs_yes(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the person must confirm the call."""
        if self.level != "supervised" or tool in READERS:
            return False
        base = approvable(tool, arguments)
        return base is None or base not in self.allowed

    def allow(self, base: str) -> None:
        """Allow a base command or tool until the session ends."""
        self.allowed.add(base)


def approvable(tool: str, arguments: Mapping[str, Any]) -> str | None:
    """Return what "always" would approve: a base command, or a tool other than execute_script; None if nothing."""
    if tool != SCRIPT:
        return f"tool {tool}"
    if arguments.get("interpreter", SHELLS[0]) not in SHELLS:
        return None
    return base_command(str(arguments.get("script_content", "")))


def base_command(script: str) -> str | None:
    """Return the program of a script that is a single plain command of a program that only reads, else None."""
    text = script.strip()
    if not text.isprintable() or SPECIAL.search(text):
        return None
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    if not words or not COMMAND.fullmatch(words[0]) or not text.startswith(words[0]):
        return None
    return words[0] if words[0] in READING else None
