"""Normalize the values of a report as models write them: words of a fixed set, line numbers, percentages, sentences."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

from jarvis_workers.agents.loop.untrusted_text import escape
from jarvis_workers.sec.cwe import cwe_number, is_cwe

NUMBER_MAX = 10**9
TEXT_MAX = 400
# Why an empty report does not count.
INSTRUCTED = "its code contains instructions to a model ({rules})"
NO_WORDS = frozenset(("none", "n/a", "na", "null", "-"))
PERCENT = re.compile(r"\s*(\d{1,3}(?:\.\d{1,9})?)\s*(%?)\s*")
LINE = re.compile(r"\s*(?:lines?|L)?\s*(\d{1,9})\b", re.IGNORECASE)


def sentence(text: str) -> str:
    """Return a model's text on one line, without invisible characters."""
    words = " ".join(escape(text).split())
    return words if len(words) <= TEXT_MAX else f"{words[: TEXT_MAX - 1]}…"


def text_value(value: Any) -> Any:
    return "" if value is None else value


def line_value(value: Any) -> Any:
    """Return the first number of `12-14` or `line 12`."""
    match = LINE.match(value) if isinstance(value, str) else None
    return int(match[1]) if match else value


def candidate_number(value: int) -> int:
    if abs(value) > NUMBER_MAX:
        raise ValueError("is not the number of a candidate")
    return value


def cwe_value(value: Any) -> int:
    """Return the number of a weakness; 0 for anything else, which must not cost a report."""
    number = cwe_number(value)
    return number if is_cwe(number) else 0


def list_value(value: Any) -> Any:
    return [] if value in (None, "") else value


def word_value(value: Any) -> Any:
    """Return a word of a fixed set in the spelling of the schema: `No risk` becomes no_risk, `N/A` nothing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    word = re.sub(r"[\s-]+", "_", value.strip().casefold())
    return "" if word in NO_WORDS else word


def share_value(value: Any) -> Any:
    """Return a confidence given as `85 %` or 85 as a number from 0 to 1."""
    match = PERCENT.fullmatch(value) if isinstance(value, str) else None
    number = float(match[1]) if match else value
    if (match and match[2]) or (isinstance(number, int | float) and 1 < number <= 100):
        return number / 100
    return None if number == "" else number


def is_share(value: float | None) -> float | None:
    if value is not None and not 0 <= value <= 1:
        raise ValueError("is not between 0 and 1")
    return value


Text = Annotated[str, BeforeValidator(text_value)]
