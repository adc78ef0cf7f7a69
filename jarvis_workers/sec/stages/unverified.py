"""What a verification leaves: candidates without a decision, and the defects that a model has seen beside them."""

from collections.abc import Collection, Iterator, Sequence

from jarvis_workers.paths import from_shown
from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.cwe import category_of
from jarvis_workers.sec.finding import SEEN_BY_MODEL, Candidate
from jarvis_workers.sec.judge.question import ClusterQuestion
from jarvis_workers.sec.judge.verdict import SeenDefect
from jarvis_workers.sec.judge.verification import OTHERS_MAX, Verification
from jarvis_workers.sec.same_defect import is_same_defect
from jarvis_workers.sec.stages.not_checked import UNASKED
from jarvis_workers.sec.stages.results import SeenResult
from jarvis_workers.source.languages import language_of

EVIDENCE_MAX, CONFIDENCE = 200, 0.6
SEEN = "A model saw this while it verified another finding: {}"
TOO_MANY = "a job takes at most {} defects beside its candidates"
LATE = "it was seen when such a defect was verified, which is not followed up"


def undecided(cluster: ClusterQuestion, verdicts: Sequence[Verdict]) -> Iterator[tuple[bytes, str]]:
    """Yield the candidates without a decision, with the reason."""
    for (gid, candidate), verdict in zip(cluster.candidates, verdicts, strict=True):
        if verdict.status == "undecided":
            yield from_shown(candidate.file), f"candidate {gid} on line {candidate.line} is undecided: {verdict.reason}"


def seen_results(verification: Verification) -> Iterator[SeenResult]:
    """Yield the defects beside the candidates, as candidates of another stage."""
    if verification.others:
        yield SeenResult(tuple(map(_candidate, verification.others)))


def unasked(
    verification: Verification, reported: Collection[Candidate], *, follows_up: bool
) -> Iterator[tuple[bytes, str]]:
    """Yield the defects beside the candidates that no model will be asked about, if not `reported`, with the reason."""
    late = [] if follows_up else verification.others
    for reason, some in ((TOO_MANY.format(OTHERS_MAX), verification.surplus), (LATE, late)):
        for seen in some:
            candidate = _candidate(seen)
            if not any(is_same_defect(candidate, finding) for finding in reported):
                text = " ".join(seen.description.split())
                yield from_shown(seen.file), UNASKED.format(line=seen.line, text=text, reason=reason)


def _candidate(seen: SeenDefect) -> Candidate:
    is_rust = language_of(seen.file.encode("utf-8", "backslashreplace")) == "rust"
    return Candidate(
        language="rust" if is_rust else "c/cpp",
        category=category_of(seen.cwe),
        pattern=SEEN_BY_MODEL,
        file=seen.file,
        line=seen.line,
        evidence=seen.quote.split("\n")[0].strip()[:EVIDENCE_MAX],
        description=seen.description,
        suggestion="See the verdict.",
        confidence=CONFIDENCE,
        cwe=seen.cwe,
    )
