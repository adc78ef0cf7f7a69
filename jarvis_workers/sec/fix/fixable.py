"""The finding that a patch is for, as the job and the model get it."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from jarvis_workers.paths import plain
from jarvis_workers.sec.finding import WITHOUT_RULE
from jarvis_workers.sec.report.fired_rules import finding_title
from jarvis_workers.sec.report_document import Issue

LINE_NUMBER = re.compile(r":\d+$")
# In the order in which they are fixed.
FIXABLE = ("proved", "reproduced", "confirmed")
MOST_PROOFS = 5
TEXTS = ("preconditions", "trigger_path", "consequences", "suggestions")


class FixLine(BaseModel):
    """A line that belongs to a finding: a step of its trace, or the finding itself; `text` is the code there."""

    model_config = ConfigDict(frozen=True)

    file: str
    line: int
    text: str = ""
    note: str = ""


class FixProof(BaseModel):
    """The stored proof of a finding: the blob of its attempt, its state, its command, and the sanitizer's error."""

    model_config = ConfigDict(frozen=True)

    blob: str
    state: str
    command: str = ""
    stack: tuple[str, ...] = ()

    @property
    def stack_without_lines(self) -> tuple[str, ...]:
        """The stack, without line numbers."""
        return tuple(LINE_NUMBER.sub("", line) for line in self.stack)


NO_PROOFS: Mapping[int, FixProof] = {}


class RelatedFinding(BaseModel):
    """A finding of a root cause, the place where its rule fired, and its proof, if it has one.

    `title` is that of what a model has found, "" if a rule names the finding.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    pattern: str
    place: FixLine
    proof: FixProof | None = None
    title: str = ""

    @property
    def name(self) -> str:
        """What a person reads: the rule, or the title of what a model has found."""
        return self.title or self.pattern


class FixFinding(RelatedFinding):
    """A finding to fix: `steps` is the trace that leads to it, `others` have the same root cause.

    The paths are those of the archive of the sources, `digest` is the SHA-256 of the file when it was scanned.
    """

    gid: int
    fingerprint: str
    language: str
    cwe: int
    severity: str
    status: str
    description: str
    suggestion: str
    preconditions: str = ""
    trigger_path: str = ""
    consequences: str = ""
    suggestions: str = ""
    steps: tuple[FixLine, ...] = ()
    others: tuple[RelatedFinding, ...] = ()
    digest: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the findings with its root cause, its own first."""
        return (self.id, *(other.id for other in self.others))

    @property
    def proved(self) -> tuple[RelatedFinding, ...]:
        """The first findings with different proofs, among those with its root cause."""
        found = dict[str, RelatedFinding]()
        for one in (self, *self.others):
            if one.proof:
                found.setdefault(one.proof.blob, one)
        return tuple(found.values())[:MOST_PROOFS]

    @property
    def identity(self) -> str:
        """What a question about the finding depends on; excludes line numbers, so that edits above do not change it."""
        others = (f"{other.pattern} {other.place.file} {other.place.text}" for other in self.others)
        proofs = (one.proof.blob for one in self.proved if one.proof)
        return "\0".join((self.fingerprint, self.status, *(getattr(self, name) for name in TEXTS), *others, *proofs))

    @property
    def label(self) -> str:
        """The name of the job, such as "C12ab34 unsafe_api in src/url.c"."""
        return f"{self.id} {self.name} in {self.place.file}"


class FixPlan(BaseModel):
    """What a run fixes: the findings in order, and the scanned files if they are few enough to be scanned again.

    `proved` are the proved findings of the scanned run, for errors that stand without a patch.
    """

    model_config = ConfigDict(frozen=True)

    findings: tuple[FixFinding, ...]
    files: tuple[str, ...] = ()
    proved: tuple[RelatedFinding, ...] = ()


def fix_finding(
    issue: Issue,
    others: Sequence[Issue],
    path_of: Callable[[str], str],
    digest: str,
    proofs: Mapping[int, FixProof] = NO_PROOFS,
) -> FixFinding:
    """Return the finding of an issue, with the others of its root cause.

    `path_of` returns the path in the archive for the displayed path of a report; `proofs` has them by gid.
    """
    texts: dict[str, Any] = {name: getattr(issue, name) for name in TEXTS}
    return FixFinding(
        id=issue.id,
        gid=issue.gid,
        fingerprint=issue.fingerprint,
        pattern=issue.pattern,
        language=issue.language,
        cwe=issue.cwe,
        severity=issue.severity,
        status=issue.status,
        place=_line(issue, path_of),
        proof=proofs.get(issue.gid),
        title=_title(issue),
        others=tuple(related_finding(one, path_of, proofs) for one in others),
        description=issue.description,
        suggestion=issue.suggestion,
        steps=tuple(FixLine(file=path_of(step.file), line=step.line, note=step.note) for step in issue.path),
        digest=digest,
        **texts,
    )


def related_finding(issue: Issue, path_of: Callable[[str], str], proofs: Mapping[int, FixProof]) -> RelatedFinding:
    """Return the part of a finding that all findings of a root cause have."""
    return RelatedFinding(
        id=issue.id,
        pattern=issue.pattern,
        place=_line(issue, path_of),
        proof=proofs.get(issue.gid),
        title=_title(issue),
    )


def _title(issue: Issue) -> str:
    return plain(finding_title(issue)) if issue.pattern in WITHOUT_RULE else ""


def _line(issue: Issue, path_of: Callable[[str], str]) -> FixLine:
    return FixLine(file=path_of(issue.file), line=issue.line, text=issue.evidence.strip())


def order_of(issue: Issue) -> tuple[int, float, int]:
    """Return the position of an issue among those to fix: proved ones first, then by score."""
    return FIXABLE.index(issue.status), -issue.score, issue.gid
