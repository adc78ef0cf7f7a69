"""Root causes: findings with the same missing check, or with the same source and sink, are one defect.

The key of a root cause is computed from the candidate alone, never from a model's words.  An unchecked NULL pointer is
identified by the place that makes it, however many uses of it are reported, and what a model has found by the line that
it names as the cause; any other data flow by the lines where it begins and ends; a finding without a trace by its own
line, and what a model has found there also by its weakness.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jarvis_workers.sec.finding import WITHOUT_RULE, Candidate, rule_id
from jarvis_workers.sec.trace import TraceLocation, read_trail, without_callers

# Rules that report the same missing check, at the call that returns NULL or at a use of its result.
NULL_CHECK = "null_check"
FAMILIES = {
    "flow_null_dereference": NULL_CHECK,
    "flow_unchecked_null": NULL_CHECK,
    "malloc_no_null_check": NULL_CHECK,
}
NULL = "NULL"
NAMED_CAUSE = "named_cause"
ID_LENGTH = 10
# Of a mark: whether it is that of a line, and a digest of the text; then two lines.
TEXT_BYTES, LINE_BYTES = 1 + 16, 5

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
    family = FAMILIES.get(candidate.pattern) or rule_id(candidate.pattern, candidate.cwe)
    steps = read_trail(candidate.trail) if candidate.trail else ()
    if not steps:
        evidence = " ".join(candidate.evidence.split())
        cause = RootCause(family, (candidate.file, candidate.line))
        return Defect(cause, None, (family, candidate.file, evidence))
    first, last = steps[0], steps[-1]
    sink = _place(last)
    if candidate.pattern in WITHOUT_RULE:
        return Defect(RootCause(NAMED_CAUSE, _place(first)), sink, (NAMED_CAUSE, *_text(first)))
    if source := null_source(candidate.pattern, steps):
        return Defect(RootCause(family, source), sink, (family, *_text(first)))
    return Defect(RootCause(family, _place(first), sink), sink, (family, *_text(first), *_text(last)))


def null_source(pattern: str, steps: Sequence[TraceLocation]) -> Place | None:
    """Return the place that makes an unchecked NULL pointer, which alone identifies the root cause; None for others."""
    is_null = FAMILIES.get(pattern) == NULL_CHECK and steps and NULL in steps[0].note
    return _place(steps[0]) if is_null else None


class RootCauseIds:
    """Short ids of root causes, stable while code around them is edited; `add` all candidates before `id_of`.

    There may be a million candidates: of each root cause only a digest and its lines are kept. Root causes with the
    same text are in the same files, and are numbered in the order of their lines.
    """

    def __init__(self, candidates: Iterable[Candidate] = ()) -> None:
        self._marks: dict[int, bytes] = {}
        self._ordered: list[bytes] = []
        for candidate in candidates:
            self.add(candidate)

    def add(self, candidate: Candidate) -> None:
        """Take a candidate into account; the text of a trace takes precedence over a line of code."""
        cause, _, text = defect_of(candidate)
        mark = _mark(cause, text, is_line=candidate.trail is None)
        key = hash(cause)
        self._marks[key] = min(self._marks.get(key, mark), mark)
        self._ordered.clear()

    def id_of(self, candidate: Candidate) -> str:
        """Return the id of the root cause of a candidate that was added."""
        if not self._ordered:
            self._ordered = sorted(self._marks.values())
        mark = self._marks[hash(defect_of(candidate).cause)]
        text = mark[:TEXT_BYTES]
        number = bisect_left(self._ordered, mark) - bisect_left(self._ordered, text)
        return "D" + hashlib.sha256(text + str(number).encode()).hexdigest()[:ID_LENGTH]


def _place(step: TraceLocation) -> Place:
    return step.file, step.line


def _text(step: TraceLocation) -> tuple[str, str]:
    return step.file, without_callers(step.note)


def _mark(cause: RootCause, text: tuple[str, ...], *, is_line: bool) -> bytes:
    """Return bytes that order root causes by their text, then by their lines; those of lines are behind all others."""
    digest = hashlib.sha256("\0".join(text).encode("utf-8", "backslashreplace")).digest()[: TEXT_BYTES - 1]
    lines = cause.source[1], cause.sink[1] if cause.sink else 0
    return bytes([is_line]) + digest + b"".join(line.to_bytes(LINE_BYTES, "big") for line in lines)
