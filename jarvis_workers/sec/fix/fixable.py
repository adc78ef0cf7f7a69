"""The finding that a patch is for, as the job and the model get it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from jarvis_workers.paths import plain
from jarvis_workers.sec.assessment import NO_VERDICT, TEXTS, Verdict
from jarvis_workers.sec.finding import WITHOUT_RULE
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.report.fired_rules import finding_title
from jarvis_workers.sec.report_document import Issue

# In the order in which they are fixed; those without a verdict only if another analyzer has found them.
FIXABLE = ("proved", "reproduced", "confirmed")
UNVERIFIED = "heuristic"
MOST_PROOFS = 5


class FixLine(BaseModel):
    """A line that belongs to a finding: a step of its trace, or the finding itself; `text` is the code there."""

    model_config = ConfigDict(frozen=True)

    file: str
    line: int
    text: str = ""
    note: str = ""


def _read_proof(row: Any) -> Proof:
    return row if isinstance(row, Proof) else Proof(**{**row, "stack": tuple(row.get("stack", ()))})


def _proof_row(proof: Proof) -> dict[str, Any]:
    return {name: getattr(proof, name) for name in ("blob", "state", "command", "stack")}


def _verdict_texts(verdict: Verdict) -> dict[str, str]:
    return {name: getattr(verdict, name) for name in TEXTS}


# A proof with a blob; its JSON has what the gates need.
StoredProof = Annotated[Proof, PlainValidator(_read_proof), PlainSerializer(_proof_row)]
# Of the verdict, the JSON has the texts, among the fields of the finding.
VerdictTexts = Annotated[Verdict, PlainValidator(lambda verdict: verdict), PlainSerializer(_verdict_texts)]
NO_PROOFS: Mapping[int, Proof] = {}


class RelatedFinding(BaseModel):
    """A finding of a root cause, the place where its rule fired, and its proof, if it has one.

    `title` is that of what a model has found, "" if a rule names the finding.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    pattern: str
    place: FixLine
    proof: StoredProof | None = None
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
    verdict: VerdictTexts = NO_VERDICT
    steps: tuple[FixLine, ...] = ()
    others: tuple[RelatedFinding, ...] = ()
    digest: str = ""

    @model_validator(mode="before")
    @classmethod
    def _with_verdict(cls, row: Any) -> Any:
        texts = {name: row[name] for name in TEXTS if name in row}
        return {"verdict": NO_VERDICT._replace(**texts), **row}

    @model_serializer(mode="wrap")
    def _with_texts(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        parts = (value if name == "verdict" else {name: value} for name, value in write(self).items())
        return {name: value for part in parts for name, value in part.items()}

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the findings with its root cause, its own first."""
        return (self.id, *(other.id for other in self.others))

    @property
    def proved(self) -> tuple[RelatedFinding, ...]:
        """The first findings with different proofs, among those with its root cause."""
        found = dict[str, RelatedFinding]()
        for one in (self, *self.others):
            if one.proof and one.proof.blob:
                found.setdefault(one.proof.blob, one)
        return tuple(found.values())[:MOST_PROOFS]

    @property
    def proof_blobs(self) -> tuple[str, ...]:
        """The blobs of the proofs that are `proved`."""
        return tuple(one.proof.blob for one in self.proved if one.proof and one.proof.blob)

    @property
    def identity(self) -> str:
        """What a question about the finding depends on; excludes line numbers, so that edits above do not change it."""
        others = (f"{other.pattern} {other.place.file} {other.place.text}" for other in self.others)
        texts = (getattr(self.verdict, name) for name in TEXTS)
        return "\0".join((self.fingerprint, self.status, *texts, *others, *self.proof_blobs))

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
    proofs: Mapping[int, Proof] = NO_PROOFS,
) -> FixFinding:
    """Return the finding of an issue, with the others of its root cause.

    `path_of` returns the path in the archive for the displayed path of a report; `proofs` has them by gid.
    """
    return FixFinding(
        id=issue.id,
        gid=issue.gid,
        fingerprint=issue.fingerprint,
        pattern=issue.candidate.pattern,
        language=issue.candidate.language,
        cwe=issue.candidate.cwe,
        severity=issue.severity,
        status=issue.status,
        place=_line(issue, path_of),
        proof=proofs.get(issue.gid),
        title=_title(issue),
        others=tuple(related_finding(one, path_of, proofs) for one in others),
        description=issue.candidate.description,
        suggestion=issue.candidate.suggestion,
        verdict=issue.opinion,
        steps=tuple(FixLine(file=path_of(step.file), line=step.line, note=step.note) for step in issue.path),
        digest=digest,
    )


def related_finding(issue: Issue, path_of: Callable[[str], str], proofs: Mapping[int, Proof]) -> RelatedFinding:
    """Return the part of a finding that all findings of a root cause have."""
    return RelatedFinding(
        id=issue.id,
        pattern=issue.candidate.pattern,
        place=_line(issue, path_of),
        proof=proofs.get(issue.gid),
        title=_title(issue),
    )


def _title(issue: Issue) -> str:
    return plain(finding_title(issue)) if issue.candidate.pattern in WITHOUT_RULE else ""


def _line(issue: Issue, path_of: Callable[[str], str]) -> FixLine:
    return FixLine(file=path_of(issue.candidate.file), line=issue.candidate.line, text=issue.candidate.evidence.strip())


def order_of(issue: Issue) -> tuple[int, float, int]:
    """Return the position of an issue among those to fix: proved ones first, then by score."""
    return (*FIXABLE, UNVERIFIED).index(issue.status), -issue.score, issue.gid
