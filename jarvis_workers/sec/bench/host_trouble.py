"""How commands of a bench fail, and whether that is trouble of this machine, which says nothing of what was run."""

import re

from jarvis_workers.errors import HostExhausted
from jarvis_workers.sandbox.limits import FREE_DISK, FREE_MEMORY, CommandOutcome

TAIL, LOG_TAIL = 300, 64_000
AT_LIMIT = "stopped at its limit of"
# What shells, build tools and compilers write if the machine refuses a process, memory or space.
HOST_TROUBLE = re.compile(
    r"^\S*(?:sh|xargs|make\S*|cc\S*|[cg]\+\+\S*|gcc\S*|clang\S*|collect2|ld\S*|as|ar|cc1\w*): [^\n]*(?:Cannot fork"
    r"|Resource temporarily unavailable|Cannot allocate memory|[Oo]ut of memory|Killed signal terminated program"
    r"|No space left on device)[^\n]*",
    re.MULTILINE,
)


def failure_of(outcome: CommandOutcome) -> str:
    """Return how a command failed, "" if it succeeded."""
    if outcome.reason:
        return f"{AT_LIMIT} {outcome.reason}"
    if outcome.signal is not None:
        return f"killed by signal {outcome.signal}"
    return f"exit code {outcome.code}" if outcome.code else ""


def raise_for_host(outcome: CommandOutcome, messages: bytes) -> None:
    """Raise HostExhausted if a command was ended, or its tools failed, for want of resources of this machine."""
    if outcome.reason in (FREE_DISK, FREE_MEMORY):
        raise HostExhausted(f"not enough {outcome.reason} on this machine to prove findings")
    if found := HOST_TROUBLE.search(messages[-LOG_TAIL:].decode(errors="replace")):
        raise HostExhausted(f"this machine cannot run the commands of a proof: {found[0][:TAIL]}")


def last_lines(output: bytes) -> str:
    """Return the end of an output as one line."""
    return " | ".join(output[-TAIL:].decode(errors="backslashreplace").splitlines()[-3:])
