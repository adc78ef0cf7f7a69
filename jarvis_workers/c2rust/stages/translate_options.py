"""The options of runs in which a model translates functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.c2rust.stages.fast_options import FastOptions
from jarvis_workers.errors import UsageError
from jarvis_workers.option import AGENTS, Option
from jarvis_workers.paths import read_regular

NOTES_MAX = 20_000


def read_notes_file(path: Path) -> str:
    """Return the text of a file of notes, at most NOTES_MAX characters. Raises UsageError."""
    try:
        text = read_regular(path, 4 * NOTES_MAX).decode("utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    if len(text) > NOTES_MAX:
        raise UsageError(f"--notes: {path} is longer than {NOTES_MAX:,} characters; each question contains it")
    return text


@dataclass(frozen=True, kw_only=True)
class TranslateOptions(FastOptions, ConversationOptions):
    """A model answers at most 1 + `max_retries` times for a function; `notes` are added to each prompt.

    With `review`, the model also reviews each accepted body.  If none is accepted, the model group `escalate` gives as
    many answers.  Functions of the `risky` files of a security report come first, see `translation_weights`.
    With `drivers`, the model also writes C programs that call the functions which nothing reaches.  The run is paused
    when no answer was accepted for more than `pause_share` of the last functions.
    """

    max_retries: Annotated[
        int,
        Option("--max-retries -m", "Answers after the first.", AGENTS, metavar="NUMBER", at_least=0, at_most=50),
    ] = 5
    notes: Annotated[
        str,
        Option(
            "--notes",
            "Text that is added to each question.",
            AGENTS,
            metavar="FILE",
            given=Path,
            read=read_notes_file,
        ),
    ] = ""
    review: Annotated[
        bool, Option("--review/--no-review", "Review each accepted function: 2 to 4 more answers.", AGENTS)
    ] = True
    escalate: Annotated[
        str | None,
        Option(
            "--escalate",
            "Model group for functions of which no answer was accepted.",
            AGENTS,
            metavar="GROUP",
            completion="groups",
        ),
    ] = None
    risky: Mapping[str, Sequence[int]] = field(default_factory=dict)
    drivers: Annotated[
        bool,
        Option(
            "--drivers/--no-drivers",
            "Ask for C programs that call the functions which no test reaches: 1 to 3 more answers each.",
            AGENTS,
        ),
    ] = True
    pause_share: Annotated[float | None, Option(setting="c2rust.pause_share")] = None

    @property
    def attempts(self) -> int:
        """The number of answers for a function, at most."""
        return 1 + self.max_retries

    def answers_left(self, count: int) -> int:
        """Return the number of answers for a function that already has `count`, at most."""
        return self.attempts * (2 if self.escalate else 1) - count
