"""Go through findings with somebody: which key means what, and what comes next.

It is a generator: it yields what it wants shown, asked or kept, and is sent the key or the text that came.
"""

from collections.abc import Generator, MutableMapping, Sequence
from dataclasses import dataclass

from jarvis_workers.errors import UsageError
from jarvis_workers.sec.judgement import Judgement
from jarvis_workers.service.sifting import Issue, judgement

__all__ = ["KEYS", "Ask", "Keep", "Show", "sit"]

KEYS = "t true   f false   s skip   b back   q quit"
QUIT = ("q", "\x04", "")
SKIP = ("s", " ", "\r", "\n")


@dataclass(frozen=True)
class Show:
    """Show the finding at a place, with what was said of it before. Sent: a key.

    Where there is a `hint` it was shown just now, and the last key did nothing.
    """

    place: int
    said: Judgement | None
    hint: str = ""


@dataclass(frozen=True)
class Ask:
    """Ask why the finding is false. Sent: a line, empty where there is none."""


@dataclass(frozen=True)
class Keep:
    """Keep what was said, now. Sent: nothing that counts."""

    said: Judgement


Sitting = Generator[Show | Ask | Keep, str, None]


def sit(findings: Sequence[Issue], known: MutableMapping[str, Judgement]) -> Sitting:
    """Lead through the findings; `known` says by fingerprint what was said of them, and takes what is said now."""
    place, hint = 0, ""
    while place < len(findings):
        issue = findings[place]
        key = yield Show(place, known.get(issue["fingerprint"]), hint)
        hint = ""
        if key in QUIT:
            return
        if key in SKIP:
            place += 1
        elif key == "b":
            hint = "" if place else "this is the first"
            place = max(0, place - 1)
        elif key in ("t", "f"):
            reason = (yield Ask()) if key == "f" else ""
            try:
                known[issue["fingerprint"]] = said = judgement(issue, key == "t", reason)
            except UsageError as problem:
                hint = str(problem)
                continue
            yield Keep(said)
            place += 1
        else:
            hint = f"the keys are: {KEYS}"
