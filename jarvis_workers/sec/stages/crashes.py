"""Number the errors found by fuzzing and beside proofs, and save verdicts and proofs: the step of stage `crashes`.

The program has stopped at these errors, so that they are confirmed without a model.  An error that fits a confirmed
finding is the proof of that finding; of several errors on a line with the same weakness, the first is the finding.  An
error that proves a finding already is no other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.pipeline.stages import CONTROL_QUEUE
from jarvis_workers.sec.assessment import EvidenceQuote, RatedSeverity, Verdict
from jarvis_workers.sec.finding import FUZZ_CRASH, Candidate
from jarvis_workers.sec.proof.crashes import repeats_error, repeats_finding
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.stages.candidates import merge_reports
from jarvis_workers.sec.stages.fuzz_record import CrashRecord, records
from jarvis_workers.sec.stages.judge_options import (
    CRASHES_STAGE,
    FUZZ_STAGE,
    PROVE_STAGE,
    SEEN_STAGE,
    VERIFY_STAGE,
    JudgeOptions,
)
from jarvis_workers.sec.stages.results import ProofResult, VerdictResult, proof_blobs
from jarvis_workers.sec.store import candidates, proofs, verdicts
from jarvis_workers.sec.store.candidates import StoredCandidate
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

FINDING_STAGES = (VERIFY_STAGE, SEEN_STAGE, PROVE_STAGE, FUZZ_STAGE)
PRECONDITIONS = "Whoever can give the program an input can give it that of the proof: {command}"
CONSEQUENCES = "A sanitizer stops the program: {error}"


class ErrorPlace(NamedTuple):
    """What identifies the candidate of an error."""

    file: str
    line: int
    cwe: int
    description: str

    @classmethod
    def of(cls, candidate: Candidate) -> "ErrorPlace":
        """Return that of a candidate."""
        return cls(candidate.file, candidate.line, candidate.cwe, candidate.description)


@dataclass(frozen=True)
class CrashWork:
    """The jobs that may have found errors, and the gids of the candidates of these, or of the findings they repeat.

    Those candidates are the findings of their `own`. Findings that are `proved` get no other proof.
    """

    jobs: Sequence[StageJob]
    gids: Mapping[ErrorPlace, int]
    own: frozenset[int]
    proved: frozenset[int]


def plan_on(run: Run, blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield the job, if the run fuzzes, or an attempt has shown another error than those of the findings."""
    with earlier.read() as session:
        is_needed = JudgeOptions.of(run).fuzz_seconds or candidates.of_rule(session, run.id, FUZZ_CRASH)
    plan = single_job(CRASHES_STAGE, CONTROL_QUEUE, "save the errors that were found")
    return plan(run, blobs) if is_needed else iter(())


def number_crashes(session: "Session", run: Run) -> None:
    """Merge the errors that are the same defect or that of a finding, and number the others after all candidates."""
    if found := candidates.of_rule(session, run.id, FUZZ_CRASH):
        candidates.merge(session, run.id, FUZZ_CRASH, {})
        repeated = _repeated(session, run, found)
        merge_reports(session, run, found, (), {row: one.id for row, one in repeated.items()})


def _repeated(session: "Session", run: Run, found: Sequence[StoredCandidate]) -> dict[int, StoredCandidate]:
    """Return by row the confirmed finding that an error repeats: it is its proof, or can be, being at its line."""
    statuses = verdicts.statuses(session, run.id)
    there = candidates.numbered_in(session, run.id, {one.candidate.file for one in found})
    standing = [one for one in there if statuses.get(one.gid or 0) == "confirmed" and one not in found]
    stacks = {gid: one.stack for gid, one in proofs.every(session, run.id).items() if one.state == "proved"}

    def is_same(crash: Candidate, one: StoredCandidate) -> bool:
        stack = stacks.get(one.gid or 0)
        return repeats_error(crash, stack) if stack else repeats_finding(crash, one.candidate)

    pairs = ((crash.id, one) for crash in found for one in reversed(standing) if is_same(crash.candidate, one))
    return dict(pairs)


def load(session: "Session", run: Run, _: Claimed) -> CrashWork:
    """Return what was found."""
    found = candidates.of_rule(session, run.id, FUZZ_CRASH)
    repeated = _repeated(session, run, found)
    places = ((ErrorPlace.of(one.candidate), repeated.get(one.id, one).gid) for one in found)
    gids = {place: gid for place, gid in places if gid is not None}
    outcomes = [job for stage in FINDING_STAGES for job in jobs.outcomes(session, run.id, stage)]
    proved = frozenset(proofs.proved(session, run.id))
    own = frozenset(one.gid for one in found if one.gid is not None)
    return CrashWork(outcomes, gids, own, proved)


def decide(work: CrashWork, resources: Resources) -> Commit:
    """Return the verdicts on the candidates, and the proofs of these and of confirmed findings, one for each."""
    found, confirmed = dict[int, Proof](), list[Verdict]()
    for crash in _crashes(work, resources):
        own = None if crash.proves else work.gids.get(ErrorPlace.of(crash.candidate))
        if own and own not in found and own in work.own:
            confirmed.append(_verdict(own, crash))
        for gid in (*crash.proves, *([own] if own else [])):
            if gid not in work.proved:
                found.setdefault(gid, crash.proof)
    return Commit(
        results=(VerdictResult(tuple(confirmed)), ProofResult(found)),
        blobs=proof_blobs(found.values()),
    )


def _crashes(work: CrashWork, resources: Resources) -> Iterator[CrashRecord]:
    """Yield all errors, in an order that does not depend on that of the jobs."""
    found = [crash for record in records(resources.blobs, work.jobs) for crash in record.crashes]
    return iter(sorted(found, key=lambda one: ErrorPlace.of(one.candidate)))


def _verdict(gid: int, crash: CrashRecord) -> Verdict:
    """Return the verdict on an error: it has happened."""
    candidate, stack = crash.candidate, crash.proof.stack
    quote = EvidenceQuote(candidate.file, candidate.line, candidate.evidence)
    return Verdict(
        gid=gid,
        status="confirmed",
        has_risk=True,
        preconditions=PRECONDITIONS.format(command=crash.proof.command),
        trigger_path="\n".join(stack[1:]),
        consequences=CONSEQUENCES.format(error=stack[0]),
        evidence=(quote,),
        severity=cast(RatedSeverity, crash.severity),
        confidence=1.0,
        sandbox=crash.proof.sandbox,
    )
