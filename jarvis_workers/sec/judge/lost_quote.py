"""A quote that was not accepted as evidence, and why."""

from dataclasses import dataclass
from typing import Literal

# Why a quote is not accepted: it names no file, is at several places, is too short or too long, is from a document, or
# is not in the code of the file.
Loss = Literal["unknown", "several", "short", "long", "document", "absent"]


@dataclass(frozen=True)
class LostQuote:
    """A quote that was not accepted; `lines` are lines of code, with their places, that help to correct it."""

    kind: Loss
    lines: tuple[str, ...] = ()
