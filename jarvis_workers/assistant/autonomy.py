"""Autonomy: which tool calls an agent may run by itself, which a person confirms, and which are refused.

A person's yes is final. "Always" holds for the session and for one base command: a script that is a single command with
plain arguments. It never covers pipes, lists, redirections, substitutions, or programs that run other programs.
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
SHELLS = ("bash", "sh")
# Characters that let a line of shell do more than run one command with plain arguments.
SPECIAL = re.compile(r"[|;&<>`$(){}\n\r\\!*?\[\]~#]")
COMMAND = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
# Programs that run other programs, or code, which their arguments name.
# fmt: off
RUNNERS = frozenset([
    "awk", "bash", "busybox", "cargo", "chroot", "cmake", "command", "csh", "dash", "doas", "emacs", "env",
    "eval", "exec", "expect", "find", "fish", "gawk", "gdb", "git", "ionice", "ksh", "lua", "make", "nice",
    "ninja", "node", "nohup", "npm", "npx", "nsenter", "parallel", "perl", "php", "pip", "python", "ruby",
    "script", "sed", "setsid", "sh", "source", "ssh", "stdbuf", "su", "sudo", "tclsh", "time", "timeout",
    "unshare", "vi", "vim", "watch", "xargs", "zsh",
])
# fmt: on


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
    """Return the program of a script that is a single plain command, else None."""
    text = script.strip()
    if not text.isprintable() or SPECIAL.search(text):
        return None
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    if not words or not COMMAND.fullmatch(words[0]) or not text.startswith(words[0]):
        return None
    return None if re.split(r"[\d.]", words[0])[0] in RUNNERS else words[0]
