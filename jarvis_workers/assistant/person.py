"""Effects that need the person at the terminal; a driver without a person answers them with "" and "no"."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from jarvis_workers.agents.loop.effects import Want

T = TypeVar("T")
Decision = Literal["yes", "no", "always"]


@dataclass(frozen=True, slots=True)
class AskPerson:
    """Ask for a text; the result is the text, "" for no answer.

    Ctrl-C at the question interrupts the turn; at a `last` question, which follows an interrupt, it ends the command.
    """

    question: str
    last: bool = False


@dataclass(frozen=True, slots=True)
class Confirm:
    """Ask whether to run a call; the result is a Decision. "always" is offered if `base` names what it approves."""

    call: str
    base: str | None = None


@dataclass(frozen=True, slots=True)
class ShowCall:
    """Show a call that the conversation itself performs; the result is None."""

    name: str
    arguments: Mapping[str, Any]


class Interrupted(Exception):
    """The person interrupted an effect with Ctrl-C; a driver throws it into the conversation."""


Turn = Generator[Want | AskPerson | Confirm | ShowCall, Any, T]
