"""Findings as Python values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from jarvis_workers.api.choices import Severity
from jarvis_workers.sec.finding import WITHOUT_RULE
from jarvis_workers.sec.report_document import Issue, IssueSuppression
from jarvis_workers.sec.trace import TraceLocation

Status = Literal["heuristic", "proved", "confirmed", "review", "undecided", "dismissed"]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """A step of the trace of a data-flow finding: a location and what happens there."""

    file: str
    line: int
    note: str


@dataclass(frozen=True, slots=True)
class Suppression:
    """Why a finding is suppressed: by a comment in the code (`comment`), or by a triage verdict (`triage`)."""

    kind: Literal["comment", "triage"]
    reason: str


@dataclass(frozen=True, slots=True)
class Region:
    """The code of a finding: columns are counted from 1 in characters, `end_column` is exclusive."""

    start_column: int
    end_line: int
    end_column: int
    function: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A location flagged by a rule.

    `id` is unique in its report; `fingerprint` does not depend on the lines above, and is equal for equal code in the
    same file. Lines and columns are counted from 1, columns in characters, and ends are exclusive: the region is the
    code from the place where the rule fired to the end of the line. Findings with the same `root_cause` are one defect.
    `score` is the confidence weighted by severity;
    `trace` contains the steps of a data-flow finding, and is empty for others.
    """

    id: str
    rule_id: str
    title: str
    category: str
    cwe: int
    language: str
    file: str
    start_line: int
    start_column: int
    end_line: int
    end_column: int
    severity: Severity
    confidence: float
    score: float
    message: str
    suggestion: str
    evidence: str
    function: str | None
    fingerprint: str
    status: Status
    trace: tuple[TraceStep, ...] = ()
    suppression: Suppression | None = None
    root_cause: str = ""

    @property
    def location(self) -> str:
        """`file:line:column`, in the format of compilers."""
        return f"{self.file}:{self.start_line}:{self.start_column}"

    def __str__(self) -> str:
        rule = f"CWE-{self.cwe}" if self.rule_id in WITHOUT_RULE and self.cwe else self.rule_id
        return f"{self.location}: {self.severity}: {self.title} [{rule}]"


def finding_of(issue: Issue, title: str, region: Region | None) -> Finding:
    """Return a finding from the body of a report."""
    column = issue.candidate.column or 1
    where = region or Region(column, issue.candidate.line, column + len(issue.candidate.evidence))
    return Finding(
        id=issue.id,
        rule_id=issue.candidate.pattern,
        title=title,
        category=issue.candidate.category,
        cwe=issue.candidate.cwe,
        language=issue.candidate.language,
        file=issue.candidate.file,
        start_line=issue.candidate.line,
        start_column=where.start_column,
        end_line=where.end_line,
        end_column=where.end_column,
        severity=cast(Severity, issue.severity),
        confidence=issue.candidate.confidence,
        score=issue.score,
        message=issue.candidate.description,
        suggestion=issue.candidate.suggestion,
        evidence=issue.candidate.evidence,
        function=where.function,
        fingerprint=issue.fingerprint,
        status=cast(Status, issue.status),
        trace=steps_of(issue.path),
        suppression=_suppression(issue.suppression) if issue.suppression else None,
        root_cause=issue.root_cause,
    )


def steps_of(path: Sequence[TraceLocation]) -> tuple[TraceStep, ...]:
    """Return the trace of an issue."""
    return tuple(TraceStep(step.file, step.line, step.note) for step in path)


def _suppression(suppression: IssueSuppression) -> Suppression:
    return Suppression("comment" if suppression.kind == "inSource" else "triage", suppression.justification or "")
