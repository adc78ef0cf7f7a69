"""Number what fuzzing has found, and save its verdicts and proofs: the step of stage `crashes`.

The program has stopped at these errors, so that they are confirmed without a model.  An error that fits a confirmed
finding is the proof of that finding; of several errors on a line with the same weakness, the first is the finding.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.pipeline.stages import CONTROL_QUEUE
from jarvis_workers.sec.finding import FUZZ_CRASH, Candidate
from jarvis_workers.sec.judge.verdict import Evidence
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.steps.sec.candidates import merge_reports
from jarvis_workers.steps.sec.fuzz import STEP as FUZZ
from jarvis_workers.steps.sec.fuzz_record import CrashRecord, records
from jarvis_workers.steps.sec.judge_options import JudgeOptions
from jarvis_workers.steps.sec.results import ProofResult, VerdictResult
from jarvis_workers.store import candidates, jobs
from jarvis_workers.store.runs import Run
from jarvis_workers.store.values import Claimed, Commit, NewJob, NewProof, NewVerdict, StageJob

if TYPE_CHECKING:
    from sqlmodel import Session

STEP = "crashes"
PRECONDITIONS = "Whoever can give the program an input can give it that of the proof: {command}"
CONSEQUENCES = "A sanitizer stops the program: {error}"


class ErrorPlace(NamedTuple):
    """What identifies a candidate of fuzzing."""

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
    """The jobs that have fuzzed, and the gids of the candidates that they have found."""

    fuzzed: Sequence[StageJob]
    gids: Mapping[ErrorPlace, int]


_plan = single_job(STEP, CONTROL_QUEUE, "save what fuzzing has found")


def plan(run: Run, blobs: Blobs) -> Iterator[NewJob]:
    """Yield the job, if the run fuzzes."""
    return _plan(run, blobs) if JudgeOptions.of(run).fuzz_seconds else iter(())


def number_crashes(session: "Session", run: Run) -> None:
    """Merge the errors that are the same defect, and number the others after all candidates."""
    if found := candidates.of_rule(session, run.id, FUZZ_CRASH):
        candidates.merge(session, run.id, FUZZ_CRASH, {})
        merge_reports(session, run, found, ())


def load(session: "Session", run: Run, _: Claimed) -> CrashWork:
    """Return what fuzzing has found."""
    numbered = candidates.of_rule(session, run.id, FUZZ_CRASH)
    gids = {ErrorPlace.of(one.candidate): one.gid for one in numbered if one.gid is not None}
    return CrashWork(jobs.outcomes(session, run.id, FUZZ), gids)


def decide(work: CrashWork, resources: Resources) -> Commit:
    """Return the verdicts on the candidates, and the proofs of these and of confirmed findings, one for each."""
    proofs, verdicts = dict[int, NewProof](), list[NewVerdict]()
    for crash in _crashes(work, resources):
        own = None if crash.proves else work.gids.get(ErrorPlace.of(crash.candidate))
        if own and own not in proofs:
            verdicts.append(_verdict(own, crash))
        for gid in (*crash.proves, *([own] if own else [])):
            proofs.setdefault(gid, crash.proof._replace(gid=gid))
    files = dict.fromkeys(one.files for one in proofs.values() if one.files)
    return Commit(
        results=(VerdictResult(tuple(verdicts)), ProofResult(tuple(proofs.values()))),
        blobs=tuple(("proof", one) for one in files),
    )


def _crashes(work: CrashWork, resources: Resources) -> Iterator[CrashRecord]:
    """Yield all errors, in an order that does not depend on that of the jobs."""
    found = [crash for record in records(resources.blobs, work.fuzzed) for crash in record.crashes]
    return iter(sorted(found, key=lambda one: ErrorPlace.of(one.candidate)))


def _verdict(gid: int, crash: CrashRecord) -> NewVerdict:
    """Return the verdict on an error: it has happened."""
    candidate, stack = crash.candidate, json.loads(crash.proof.stack)
    quote = Evidence(candidate.file, candidate.line, candidate.evidence)
    return NewVerdict(
        gid=gid,
        status="confirmed",
        has_risk=True,
        preconditions=PRECONDITIONS.format(command=crash.proof.command),
        trigger_path="\n".join(stack[1:]),
        consequences=CONSEQUENCES.format(error=stack[0]),
        suggestions="",
        evidence=json.dumps([asdict(quote)], ensure_ascii=False),
        reason=None,
        commands="[]",
        sandbox=crash.proof.sandbox,
        severity=crash.severity,
        confidence=1.0,
    )
