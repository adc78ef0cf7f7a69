"""Verify the candidates of one cluster, and prove what is a risk: the step of stage `verify`.

A candidate that stays undecided is not a failure of its job: it is reported as not checked, with the reason.
"""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.limits import is_caused_by_answers
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.agents.tools.tool import Toolbox
from jarvis_workers.errors import StepFailed
from jarvis_workers.paths import from_shown
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.cwe import category_of
from jarvis_workers.sec.finding import SEEN_BY_MODEL, Candidate, is_same_defect
from jarvis_workers.sec.judge.canary import CANARY_GID, Canary, canary_for
from jarvis_workers.sec.judge.investigation import Investigation
from jarvis_workers.sec.judge.question import ClusterQuestion, prepare
from jarvis_workers.sec.judge.reading_tools import reading_tools
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.judge.verdict import SeenDefect
from jarvis_workers.sec.judge.verification import OTHERS_MAX, Verification
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.stages.candidates import reasons_for, some_of
from jarvis_workers.sec.stages.fuzz_record import commit_of_attempts
from jarvis_workers.sec.stages.given_attempts import given_for
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.not_checked import UNASKED
from jarvis_workers.sec.stages.payloads import VerifyPayload
from jarvis_workers.sec.stages.proof_questions import investigation_of
from jarvis_workers.sec.stages.results import SeenResult, VerdictResult
from jarvis_workers.sec.stages.scanned_tree import ScannedTree
from jarvis_workers.sec.store import candidates
from jarvis_workers.sec.store.candidates import NamedBy
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.source.languages import language_of
from jarvis_workers.store import transcripts
from jarvis_workers.store.values import Claimed, Commit, DomainResult, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

VERIFY = "verify"
EVIDENCE_MAX, CONFIDENCE = 200, 0.6
SEEN = "A model saw this while it verified another finding: {}"
TOO_MANY = "a job takes at most {} defects beside its candidates"
LATE = "it was seen when such a defect was verified, which is not followed up"


@dataclass(frozen=True)
class VerifyWork:
    """The candidates to verify, and the transcript of the conversation so far.

    `named` says who has named them, in a run that proves.
    """

    job: Claimed
    cluster: ClusterQuestion
    snapshot_id: str
    options: JudgeOptions
    lines: list[bytes]
    canary: Canary | None = None
    reported: tuple[Candidate, ...] = ()
    named: tuple[NamedBy, ...] = ()

    @property
    def follows_up(self) -> bool:
        """Whether what is seen beside the candidates becomes a candidate; else it is listed, if not `reported`."""
        return self.job.stage == VERIFY


def load(session: "Session", run: Run, job: Claimed) -> VerifyWork:
    """Return the candidates of the job."""
    payload, options = VerifyPayload.from_json(job.payload), JudgeOptions.of(run)
    canary = canary_for(run.snapshot_id) if payload.gids == (CANARY_GID,) else None
    result = [(CANARY_GID, canary.candidate)] if canary else some_of(session, run, payload.gids)
    if len(result) != len(set(payload.gids)):
        raise StepFailed(f"job {job.id}: only {len(result)} of its {len(payload.gids)} candidates exist")
    cluster = ClusterQuestion(
        payload.verification,
        tuple(result),
        options.lang,
        votes=options.votes,
        second_look=options.second_look,
        escalates=options.escalate is not None,
        severities=options.rules.severity,
        notes=options.notes,
        reasons=() if canary else reasons_for(session, run, result),
        reports=_reports(session, run, payload.gids),
    )
    named = tuple(candidates.named_by(session, run.id, payload.gids)) if options.prove and not canary else ()
    return VerifyWork(job, cluster, run.snapshot_id, options, transcripts.lines(session, job.id), canary, named=named)


def _reports(session: "Session", run: Run, gids: Collection[int]) -> Mapping[int, Sequence[str]]:
    """Return what models have reported of the same defects."""
    texts = candidates.merged_texts(session, run.id)
    return {gid: texts[gid] for gid in gids if gid in texts}


async def converse(work: VerifyWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Run the conversations of a cluster; commit a verdict on each of its candidates."""
    tree = await ScannedTree.unpack(runtime, blobs, work.snapshot_id, work.options)
    index = CodeIndex(work.canary) if work.canary else tree.index
    prepared = await asyncio.to_thread(prepare, work.cluster, index)
    about, options = prepared.about, work.options
    groups = options.second_group, options.escalate
    with ExitStack() as resources, runtime.open(work.job, options.group, about, work.lines, *groups) as talk:
        scripts = [] if work.canary else talk.scripts(tree.root)
        tools = Toolbox([*reading_tools(index), *scripts])
        bench = tree.lazy_bench(resources)
        runs = options.prove and not work.canary and runtime.tier != Tier.C
        given = await in_thread(given_for, work.named, blobs) if runs else {}
        investigation = await in_thread(investigation_of, prepared, options, bench, given) if runs else None
        verification = Verification(
            prepared,
            tools,
            profiles=talk.profiles,
            marks=talk.marks,
            limits=options.agent_limits,
            investigation=investigation,
        )
        hidden = [investigation.opening] if investigation else []
        verdicts = await talk.lead(verification.run(), verification.agent, {"about": about}, hidden)
        if any(map(is_caused_by_answers, verification.stopped)):
            await talk.forget()
        result = VerdictResult(tuple(verdict._replace(sandbox=runtime.tier) for verdict in verdicts))
        if work.canary:
            return Commit(results=(result,))
        gaps = [*undecided(work.cluster, verdicts), *_unasked(work, verification)]
        proofs = list(_proofs(work.cluster, verdicts, investigation)) if investigation else []
        beside = list(investigation.ledger.crashes.values()) if investigation else []
        shown = await in_thread(commit_of_attempts, proofs, beside, runtime.tier, blobs)
        results: tuple[DomainResult, ...] = (result, *_seen(work, verification.others), *shown.results)
        return Commit(not_checked=tuple(gaps), results=results, blobs=shown.blobs)


def _proofs(
    cluster: ClusterQuestion, verdicts: Sequence[Verdict], investigation: Investigation
) -> Iterator[tuple[int, Proof]]:
    """Yield the proofs of confirmed candidates by gid, and why the others that were to be shown have none."""
    by_gid, ledger = {verdict.gid: verdict for verdict in verdicts}, investigation.ledger
    for number, members in enumerate(cluster.defects, 1):
        for (gid, _), proof in zip(members, ledger.proofs_of(number), strict=True):
            verdict = by_gid[gid]
            is_over = investigation.needs_proof(number, verdict) and ledger.is_over(number)
            if verdict.status == "confirmed" and (proof.attempt or is_over):
                yield gid, proof


def _seen(work: VerifyWork, others: Sequence[SeenDefect]) -> Iterator[SeenResult]:
    if others and work.follows_up:
        yield SeenResult(tuple(map(_candidate, others)))


def _unasked(work: VerifyWork, verification: Verification) -> Iterator[tuple[bytes, str]]:
    """Yield the defects beside the candidates that no model will be asked about, with the reason."""
    late = [] if work.follows_up else verification.others
    for reason, some in ((TOO_MANY.format(OTHERS_MAX), verification.surplus), (LATE, late)):
        for seen in some:
            candidate = _candidate(seen)
            if not any(is_same_defect(candidate, finding) for finding in work.reported):
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


def undecided(cluster: ClusterQuestion, verdicts: Sequence[Verdict]) -> Iterator[tuple[bytes, str]]:
    """Yield the candidates without a decision, with the reason."""
    for (gid, candidate), verdict in zip(cluster.candidates, verdicts, strict=True):
        if verdict.status == "undecided":
            yield from_shown(candidate.file), f"candidate {gid} on line {candidate.line} is undecided: {verdict.reason}"
