"""Root causes: findings with the same missing check, or with the same source and sink, are one defect.

The key of a root cause is computed from the candidate alone, never from a model's words.  An unchecked NULL pointer is
identified by the place that makes it, however many uses of it are reported; any other data flow by the lines where it
begins and ends; a finding without a trace by its own line.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.trace import TraceLocation, read_trail, without_callers

# Rules that report the same missing check, at the call that returns NULL or at a use of its result.
NULL_CHECK = "null_check"
FAMILIES = {
    "flow_null_dereference": NULL_CHECK,
    "flow_unchecked_null": NULL_CHECK,
    "malloc_no_null_check": NULL_CHECK,
}
NULL = "NULL"
ID_LENGTH = 10

# A displayed path and a line.
Place = tuple[str, int]


class RootCause(NamedTuple):
    """The key of a root cause; `sink` is None if the source alone identifies it."""

    family: str
    source: Place
    sink: Place | None = None


class Defect(NamedTuple):
    """The root cause of a candidate and its sink; the `text` of the root cause contains no line number."""

    cause: RootCause
    sink: Place | None
    text: tuple[str, ...]

    @property
    def key(self) -> tuple[RootCause, Place | None]:
        """Equal for candidates that need one verdict: they have the same root cause and the same sink."""
        return self.cause, self.sink


def defect_of(candidate: Candidate) -> Defect:
    """Return the root cause of a candidate."""
    family = FAMILIES.get(candidate.pattern, candidate.pattern)
    steps = read_trail(candidate.trail) if candidate.trail else ()
    if not steps:
        evidence = " ".join(candidate.evidence.split())
        cause = RootCause(family, (candidate.file, candidate.line))
        return Defect(cause, None, (family, candidate.file, evidence))
    first, last = steps[0], steps[-1]
    source, sink = _place(first), _place(last)
    if family == NULL_CHECK and NULL in first.note:
        return Defect(RootCause(family, source), sink, (family, *_text(first)))
    return Defect(RootCause(family, source, sink), sink, (family, *_text(first), *_text(last)))


class RootCauseIds:
    """Short ids of root causes, stable while code around them is edited; `add` all candidates before `id_of`."""

    def __init__(self, candidates: Iterable[Candidate] = ()) -> None:
        self._texts: dict[RootCause, tuple[bool, tuple[str, ...]]] = {}
        self._ids: dict[RootCause, str] = {}
        for candidate in candidates:
            self.add(candidate)

    def add(self, candidate: Candidate) -> None:
        """Take a candidate into account; the text of a trace takes precedence over a line of code."""
        cause, _, text = defect_of(candidate)
        preferred = (candidate.trail is None, text)
        self._texts[cause] = min(self._texts.get(cause, preferred), preferred)
        self._ids.clear()

    def id_of(self, candidate: Candidate) -> str:
        """Return the id of the root cause of a candidate that was added."""
        if not self._ids:
            self._ids = self._name()
        return self._ids[defect_of(candidate).cause]

    def _name(self) -> dict[RootCause, str]:
        """Return the ids; root causes with the same text are numbered in the order of their places."""
        alike: defaultdict[tuple[str, ...], list[RootCause]] = defaultdict(list)
        for cause, (_, text) in self._texts.items():
            alike[text].append(cause)
        return {
            cause: _id((*text, str(number)))
            for text, causes in alike.items()
            for number, cause in enumerate(sorted(causes, key=_order))
        }


def _place(step: TraceLocation) -> Place:
    return step.file, step.line


def _text(step: TraceLocation) -> tuple[str, str]:
    return step.file, without_callers(step.note)


def _order(cause: RootCause) -> tuple[Place, Place]:
    return cause.source, cause.sink or ("", 0)


def _id(text: tuple[str, ...]) -> str:
    return "D" + hashlib.sha256("\0".join(text).encode("utf-8", "backslashreplace")).hexdigest()[:ID_LENGTH]
