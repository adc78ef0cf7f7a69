"""Candidates: places where a rule fired, and their fingerprints."""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.paths import from_shown
from jarvis_workers.sec.rules import RULES, RULES_BY_PATTERN
from jarvis_workers.sec.rules.families.flow import HARMLESS
from jarvis_workers.sec.scanner import Hit
from jarvis_workers.sec.severity import likelihood_of, score_of, severity_of
from jarvis_workers.sec.trace import TraceLocation, is_from_outside, read_trail, without_callers
from jarvis_workers.source.languages import is_test

# The rules whose findings are redundant on a line where this rule has fired.
SUPERSEDES = {rule.pattern: rule.supersedes for rule in RULES if rule.supersedes} | HARMLESS


class Candidate(NamedTuple):
    """A place where a rule fired, not yet verified; the candidate table has a column for each field.

    `file` is the displayed path.  `column` is counted in characters from 1; older stores have none.  `suppressed`
    is the reason of a suppression comment in the code, `trail` the trace that leads to the candidate (see trace.py).
    """

    language: str
    category: str
    pattern: str
    file: str
    line: int
    evidence: str
    description: str
    suggestion: str
    confidence: float
    cwe: int
    column: int | None = None
    suppressed: str | None = None
    trail: str | None = None

    @property
    def fingerprint(self) -> str:
        """Stable identity of the finding; excludes the line number, so that edits above it do not change it."""
        return fingerprint_of(self.file, self.pattern, self.evidence)

    @property
    def severity(self) -> str:
        """The severity that follows from the candidate."""
        outside, test = is_from_outside(self.trail), is_test(from_shown(self.file))
        return derived_severity(self.pattern, self.confidence, self.cwe, outside=outside, test=test)

    def severity_under(self, severities: Mapping[str, str]) -> str:
        """Return the severity where those of some rules are configured."""
        return severities.get(self.pattern) or self.severity

    def score_under(self, severities: Mapping[str, str]) -> float:
        """Return the confidence weighted by the severity."""
        return score_of(self.confidence, self.severity_under(severities))

    def is_weaker(self, least: float) -> bool:
        """Return whether the confidence is too low; that of rules alone: what others report always counts."""
        return self.confidence < least and self.pattern not in WITHOUT_RULE


# The pattern of candidates that a model has found in a function, without a rule.
DISCOVERED = "discovered"
# The pattern of candidates that a model has seen beside others, which are numbered after all others.
SEEN_BY_MODEL = "seen_by_model"
# The pattern of candidates at which an input of fuzzing has stopped the program, which are numbered after these.
FUZZ_CRASH = "fuzz_crash"
FOUND_BY_MODEL = frozenset({DISCOVERED, SEEN_BY_MODEL})
# Findings of these patterns each have a title, a description and a weakness of their own, not those of a rule.
WITHOUT_RULE = FOUND_BY_MODEL | {FUZZ_CRASH}
# In the ids of rules of other analyzers alone: TOOL:RULE.
FOREIGN, OURS = ":", "jarvis"


def analyzer_of(pattern: str) -> str:
    """Return the analyzer of a rule."""
    tool, foreign, _ = pattern.partition(FOREIGN)
    return tool if foreign else OURS


def derived_severity(pattern: str, confidence: float, cwe: int, *, outside: bool, test: bool) -> str:
    """Return the severity of a finding; of reports of models by their confidence alone, in test code medium at most."""
    if pattern in FOUND_BY_MODEL:
        return likelihood_of(confidence)
    severity = severity_of(confidence, cwe, outside=outside)
    return "medium" if test and severity == "high" else severity


# By gid.
Numbered = tuple[int, Candidate]
# Fields from the rule, the same wherever it fires, and fields from the hit; the path is set when it is displayed.
RULE_FIELDS = ("language", "category", "description", "suggestion", "cwe")
HIT_FIELDS = tuple(name for name in Candidate._fields if name not in (*RULE_FIELDS, "file"))

MARK = "jarvis-ignore"
IGNORE_COMMENT = re.compile(rf"//\s*{MARK}\b.*|/\*\s*{MARK}\b.*?(?:\*/|$)")


def rule_id(pattern: str, cwe: int) -> str:
    """Return the id of the rule in reports: of what no rule has found, one for each weakness (discovered/cwe-787)."""
    return f"{pattern}/cwe-{cwe}" if cwe and pattern in WITHOUT_RULE else pattern


def pattern_of(rule: str) -> str:
    """Return the pattern for an id of `rule_id`."""
    pattern = rule.partition("/")[0]
    return pattern if pattern in WITHOUT_RULE else rule


def fingerprint_of(file: str, pattern: str, evidence: str) -> str:
    """Identify a finding by file, rule and line of code; a suppression comment does not change its identity."""
    if MARK in evidence:
        evidence = IGNORE_COMMENT.sub("", evidence)
    known_by = "\0".join((file, pattern, " ".join(evidence.split())))
    return hashlib.sha256(known_by.encode("utf-8", "backslashreplace")).hexdigest()[:16]


# Build candidates from hits and their rules.


def candidate(hit: Hit, file: str) -> Candidate:
    """Return a candidate with the fields of the hit and the texts of its rule."""
    rule = RULES_BY_PATTERN[hit.pattern]
    return Candidate(file=file, **{name: getattr(rule, name) for name in RULE_FIELDS}, **hit._asdict())


# Root causes: findings with the same missing check, or with the same source and sink, are one defect.

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


# The rules about an allocation that may fail, and those about NULL, which an allocation may have returned.
OOM_RULES = frozenset(("malloc_no_null_check", "realloc_assign_back", "capacity_before_realloc"))
ALLOCATORS = frozenset(("malloc", "calloc", "realloc", "reallocarray", "strdup", "strndup", "asprintf", "vasprintf"))
WORD = re.compile(r"\w+")


def needs_oom(candidate: Candidate) -> bool:
    """Return whether a defect is a failed allocation that is not handled."""
    return is_failed_allocation(candidate.pattern, read_trail(candidate.trail) if candidate.trail else ())


def is_failed_allocation(pattern: str, steps: Sequence[TraceLocation]) -> bool:
    """Return whether a finding of a rule, with its trace, is a failed allocation that is not handled."""
    if pattern in OOM_RULES:
        return True
    source = WORD.search(steps[0].note) if steps and pattern in FAMILIES else None
    return source is not None and source[0] in ALLOCATORS


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
