"""Normalize the values of a report as models write them: words of a fixed set, line numbers, percentages."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

NUMBER_MAX = 10**9
NO_WORDS = frozenset(("none", "n/a", "na", "null", "-"))
PERCENT = re.compile(r"\s*(\d{1,3}(?:\.\d{1,9})?)\s*(%?)\s*")
CWE = re.compile(r"\s*(?:CWE\W?)?(\d{1,6})\b", re.IGNORECASE)
# The largest number in the CWE list is below this.
CWE_MAX = 2_000
LINE = re.compile(r"\s*(?:lines?|L)?\s*(\d{1,9})\b", re.IGNORECASE)


def text_value(value: Any) -> Any:
    return "" if value is None else value


def line_value(value: Any) -> Any:
    """Return the first number of `12-14` or `line 12`."""
    match = LINE.match(value) if isinstance(value, str) else None
    return int(match[1]) if match else value


def cwe_number(value: Any) -> Any:
    """Return the number of `CWE-787`."""
    match = CWE.match(value) if isinstance(value, str) else None
    return int(match[1]) if match else value


def cwe_value(value: Any) -> int:
    """Return the number of a weakness; 0 for what is none, since a wrong number does not make a report invalid."""
    number = cwe_number(value)
    return number if isinstance(number, int) and 0 < number < CWE_MAX else 0


def candidate_number(value: int) -> int:
    if abs(value) > NUMBER_MAX:
        raise ValueError("is not the number of a candidate")
    return value


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
