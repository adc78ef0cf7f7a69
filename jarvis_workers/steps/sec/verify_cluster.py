"""Verify the candidates of one cluster: the step of stage `verify`.

A candidate that stays undecided is not a failure of its job: it is reported as not checked, with the reason.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_workers.agent.limits import is_caused_by_answers
from jarvis_workers.conversations.runtime import AgentRuntime
from jarvis_workers.errors import StepFailed
from jarvis_workers.paths import from_shown
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sec.cwe import category_of
from jarvis_workers.sec.finding import SEEN_BY_MODEL, Candidate
from jarvis_workers.sec.judge.canary import CANARY_GID, Canary, canary_for
from jarvis_workers.sec.judge.question import ClusterQuestion, prepare
from jarvis_workers.sec.judge.reading_tools import reading_tools
from jarvis_workers.sec.judge.slices import CodeIndex
from jarvis_workers.sec.judge.verdict import SeenDefect, Verdict
from jarvis_workers.sec.judge.verification import Verification
from jarvis_workers.sec.scanner import language_of
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.steps.sec.candidates import reasons_for, some_of
from jarvis_workers.steps.sec.judge_options import JudgeOptions
from jarvis_workers.steps.sec.payloads import VerifyPayload
from jarvis_workers.steps.sec.results import SeenResult, VerdictResult
from jarvis_workers.store import transcripts
from jarvis_workers.store.runs import Run
from jarvis_workers.store.values import Claimed, Commit, NewVerdict
from jarvis_workers.tools.registry import Toolbox
from jarvis_workers.tools.tree import DirectoryTree

if TYPE_CHECKING:
    from sqlmodel import Session

TREES_MAX = 2
VERIFY = "verify"
EVIDENCE_MAX, CONFIDENCE = 200, 0.6


@dataclass(frozen=True)
class VerifyWork:
    """The candidates to verify, and the transcript of the conversation so far."""

    job: Claimed
    cluster: ClusterQuestion
    snapshot_id: str
    options: JudgeOptions
    lines: list[bytes]
    canary: Canary | None = None

    @property
    def follows_up(self) -> bool:
        """Whether what is seen beside the candidates becomes a candidate."""
        return self.job.stage == VERIFY and self.canary is None


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
    )
    return VerifyWork(job, cluster, run.snapshot_id, options, transcripts.lines(session, job.id), canary)


async def converse(work: VerifyWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Run the conversations of a cluster; commit a verdict on each of its candidates."""
    root = await runtime.unpack(blobs, work.snapshot_id)
    index = CodeIndex(work.canary) if work.canary else index_of(root)
    prepared = await asyncio.to_thread(prepare, work.cluster, index)
    about, options = prepared.about, work.options
    groups = options.second_group, options.escalate
    with runtime.open(work.job, options.group, about, work.lines, *groups) as talk:
        scripts = [] if work.canary else talk.scripts(root)
        tools = Toolbox([*reading_tools(index), *scripts])
        verification = Verification(
            prepared, tools, profiles=talk.profiles, marks=talk.marks, limits=options.agent_limits
        )
        verdicts = await talk.lead(verification.run(), verification.agent, {"about": about})
        if any(map(is_caused_by_answers, verification.stopped)):
            await talk.forget()
        return Commit(
            not_checked=() if work.canary else tuple(_undecided(work.cluster, verdicts)),
            results=(
                VerdictResult(tuple(_stored(verdict, runtime.tier) for verdict in verdicts)),
                *_seen(work, verification.others),
            ),
        )


@lru_cache(TREES_MAX)
def index_of(root: Path) -> CodeIndex:
    """Return the index of an unpacked tree, which the conversations of a process share, since it never changes."""
    return CodeIndex(DirectoryTree(root))


def _seen(work: VerifyWork, others: Sequence[SeenDefect]) -> Iterator[SeenResult]:
    if others and work.follows_up:
        yield SeenResult(tuple(map(_candidate, others)))


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


def _undecided(cluster: ClusterQuestion, verdicts: Sequence[Verdict]) -> Iterator[tuple[bytes, str]]:
    for (gid, candidate), verdict in zip(cluster.candidates, verdicts, strict=True):
        if verdict.status == "undecided":
            yield from_shown(candidate.file), f"candidate {gid} on line {candidate.line} is undecided: {verdict.reason}"


def _stored(verdict: Verdict, tier: Tier) -> NewVerdict:
    facts = {name: getattr(verdict, name) for name in NewVerdict._fields if name != "sandbox"}
    evidence = [asdict(one) for one in verdict.evidence]
    commands = [{"interpreter": interpreter, "script": script} for interpreter, script in verdict.commands]
    return NewVerdict(**{**facts, "evidence": _text(evidence), "commands": _text(commands)}, sandbox=tier)


def _text(rows: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(rows, ensure_ascii=False)
