"""What other analyzers report, in one form."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

# A weakness, in a tag, taxon, title or address: external/cwe/cwe-120, CWE-78: ..., cwe=476.
CWE = re.compile(r"\bcwe(?:[-_/ =:]{0,3}|\.mitre\.org/data/definitions/)0{0,3}(\d{1,4})(?!\d)", re.IGNORECASE)
TEXT_MAX, NUMBER_MAX = 1_000, 1_000_000_000


class FlowStep(NamedTuple):
    """A step of the path that leads to an alert; the file is as its report names it."""

    file: str
    line: int
    text: str


class AlertIdentity(NamedTuple):
    """What a service knows an alert by: the place, as the SARIF report of the analyzer gives it, and its fingerprints.

    The `uri` is relative to the base `base`, if there is one; the region is (name, number), fingerprints are (name,
    value).
    """

    uri: str
    base: str = ""
    region: tuple[tuple[str, int], ...] = ()
    fingerprints: tuple[tuple[str, str], ...] = ()
    partial_fingerprints: tuple[tuple[str, str], ...] = ()


class Alert(NamedTuple):
    """A finding of another analyzer; `file` is as its report names it, `line` is 0 if it names none.

    `level` is the analyzer's own severity. `code` is the text of the line, if the report has it; `suppressed` is why
    the report says that the alert does not count. `times` counts equal ones. Reports in SARIF give an `identity`.
    """

    tool: str
    rule: str
    text: str
    file: str
    line: int = 0
    column: int = 0
    cwe: int = 0
    level: str = ""
    code: str = ""
    title: str = ""
    suppressed: str | None = None
    steps: tuple[FlowStep, ...] = ()
    times: int = 1
    identity: AlertIdentity | None = None


class AlertReport(NamedTuple):
    """The alerts of a report, and how many of its results are none, by reason."""

    alerts: tuple[Alert, ...]
    left_out: dict[str, int]


class UnreadableReport(ValueError):
    """A file is no report of a known form; the message says why."""


def cwe_in(*values: Any) -> int:
    """Return the first weakness that texts, or lists of texts, name; 0 if none does."""
    for value in values:
        if isinstance(value, (list, tuple)):
            number = cwe_in(*value)
        elif isinstance(value, int) and not isinstance(value, bool):
            number = value if 0 < value < 10_000 else 0
        else:
            found = CWE.search(value) if isinstance(value, str) else None
            number = int(found[1]) if found else 0
        if number:
            return number
    return 0


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list in a report; none if it is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def natural(value: Any) -> int:
    """Return a number of a report, such as a line; 0 for what is none, or beyond all files."""
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < NUMBER_MAX else 0


def shortened(text: Any) -> str:
    """Return a text of a report as one line of at most TEXT_MAX characters."""
    line = " ".join(text.split()) if isinstance(text, str) else ""
    return line if len(line) <= TEXT_MAX else line[: TEXT_MAX - 1] + "…"


def counted(alerts: "list[Alert]") -> tuple[Alert, ...]:
    """Return alerts in order, equal ones once with their number."""
    times: dict[Alert, int] = {}
    for one in alerts:
        same = one._replace(times=1)
        times[same] = times.get(same, 0) + one.times
    return tuple(one._replace(times=number) for one, number in times.items())
