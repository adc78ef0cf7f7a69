"""The options of runs in which a model translates functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jarvis_workers.conversations.options import ConversationOptions
from jarvis_workers.steps.c2rust.fast_options import FastOptions


@dataclass(frozen=True, kw_only=True)
class TranslateOptions(FastOptions, ConversationOptions):
    """A model answers at most 1 + `max_retries` times for a function; `notes` are added to each prompt.

    With `review`, the model also reviews each accepted body.  If none is accepted, the model group `escalate` gives as
    many answers.  Functions of the `risky` files of a security report come first, see `translation_weights`.
    With `drivers`, the model also writes C programs that call the functions which nothing reaches.  The run is paused
    when no answer was accepted for more than `pause_share` of the last functions.
    """

    max_retries: int = 5
    notes: str = ""
    review: bool = True
    escalate: str | None = None
    risky: Mapping[str, Sequence[int]] = field(default_factory=dict)
    drivers: bool = True
    pause_share: float | None = None

    @property
    def attempts(self) -> int:
        """The number of answers for a function, at most."""
        return 1 + self.max_retries

    def answers_left(self, count: int) -> int:
        """Return the number of answers for a function that already has `count`, at most."""
        return self.attempts * (2 if self.escalate else 1) - count
