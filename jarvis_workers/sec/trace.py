"""Traces: the steps that lead to a finding, stored as a short JSON text.

A trace that is too long for a report is shortened in the middle.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jarvis_workers.paths import plain

STEPS_MAX = 30
NOTE_MAX = 200
TRAIL_BYTES = 4096
# As dataflow.shared_sinks writes it into the last step.
# What the notes of a trace say of data from outside of the program: those of sources and sinks in `dataflow`.
OUTSIDE = (
    *("from outside", "outside data", "untrusted", "tainted", "external format", "from the bytes of"),
    *("arbitrary number", "reads the environment", "the command line"),
)
OTHER_CALLERS = re.compile(r" \(also from lines? (\d+(?:, \d+)*)(?: and \d+ more)?\)$")


class TraceLocation(NamedTuple):
    """A step of a trace, and what happens there; `file` is the displayed path."""

    file: str
    line: int
    note: str


def trail_of(steps: Iterable[tuple[str | None, int, str]], file: str) -> str | None:
    """Return the stored form of steps, or None if there are none; steps without a file are in `file`."""
    locations = [TraceLocation(place or file, max(1, line), plain(note)[:NOTE_MAX]) for place, line, note in steps]
    if not locations:
        return None
    most = min(len(locations), STEPS_MAX)
    while most > 1 and len(_text(_fewer(locations, most))) > TRAIL_BYTES:
        most -= 1
    return _text(_fewer(locations, most))


def read_trail(text: str) -> tuple[TraceLocation, ...]:
    """Return the steps of a stored trace."""
    return tuple(TraceLocation(*step) for step in json.loads(text))


def is_from_outside(text: str | None) -> bool:
    """Return whether data from outside lead to a candidate, as its stored trace or a note of it says."""
    return text is not None and any(words in text for words in OUTSIDE)


def without_callers(note: str) -> str:
    """Return the text of a last step without the lines of other callers."""
    return OTHER_CALLERS.sub("", note)


def other_callers(note: str) -> tuple[int, ...]:
    """Return the lines of the other callers that the text of a last step lists."""
    match = OTHER_CALLERS.search(note)
    return tuple(map(int, match[1].split(", "))) if match else ()


def _fewer(steps: Sequence[TraceLocation], most: int) -> Sequence[TraceLocation]:
    """Keep the first and the last steps; the step before the gap states the number of omitted steps."""
    if len(steps) <= most:
        return steps
    tail = most // 2
    head = most - tail
    gap = f" (then {len(steps) - most} more)"
    last = steps[head - 1]
    end = last._replace(note=last.note[: NOTE_MAX - len(gap)] + gap)
    return [*steps[: head - 1], end, *steps[len(steps) - tail :]]


def _text(steps: Sequence[TraceLocation]) -> str:
    return json.dumps(steps, separators=(",", ":"))
