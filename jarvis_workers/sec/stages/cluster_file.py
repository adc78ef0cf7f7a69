"""Cluster the candidates of a file, save the clusters, and create the jobs that verify them.

A model is asked only about functions with too many candidates for one conversation. The most dangerous candidates come
first: the weight of a job is the highest score of its candidates.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.limits import is_caused_by_answers
from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.agents.tools.tool import ToolFailed
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.paths import from_shown
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.sec.finding import Numbered
from jarvis_workers.sec.judge.batching import CandidateBatch, Member, batches, place_of, worst
from jarvis_workers.sec.judge.canary import CANARY_GID, canary_for
from jarvis_workers.sec.judge.clustering import (
    Cluster,
    Conditions,
    LocatedCandidate,
    Question,
    cluster_all,
    clusterer,
    fits,
    locate,
    question_of,
    question_text,
    verified_together,
    without_model,
)
from jarvis_workers.sec.judge.function_groups import by_function
from jarvis_workers.sec.stages.candidates import counted_of, some_of
from jarvis_workers.sec.stages.judge_options import CLUSTER_STAGE, VERIFY_STAGE, JudgeOptions
from jarvis_workers.sec.stages.payloads import ClusterPayload, VerifyPayload
from jarvis_workers.sec.stages.results import ClusterResult
from jarvis_workers.sec.stages.ruleset import conditions_of
from jarvis_workers.sec.store.candidates import merged_texts
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.transcripts import lines
from jarvis_workers.store.values import AGENT_QUEUE, Claimed, Commit, NewCluster, NewJob, Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

LABEL_LENGTH = 160
WEIGHT = 100
AT_ONCE = 100
# The canary comes before all others, since verdicts are worthless if it is not confirmed.
CANARY_WEIGHT = 10 * WEIGHT


@dataclass(frozen=True)
class ClusterWork:
    """The candidates of a job, and the transcript of its conversation so far."""

    job: Claimed
    payload: ClusterPayload
    options: JudgeOptions
    numbered: Sequence[Numbered]
    snapshot_id: str
    lines: list[bytes]


class _VerificationPlan(NamedTuple):
    """The conditions of rules, and the profile of the model that verifies."""

    conditions: Conditions
    profile: Profile


def plan_on(run: Run, _: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job per batch of candidates that count, and one for the canary if a model may dismiss any."""
    options = JudgeOptions.of(run)
    with earlier.read() as session:
        reported = merged_texts(session, run.id)
        places = [
            place_of(gid, candidate, options.rules.severity, is_reported=gid in reported)
            for gid, candidate in counted_of(session, run)
        ]
    if options.canary and (places or options.read):
        payload = VerifyPayload((CANARY_GID,), canary_for(run.snapshot_id).verification).to_json()
        yield NewJob(
            VERIFY_STAGE,
            AGENT_QUEUE,
            "a known bug",
            "canary",
            payload=payload,
            weight=CANARY_WEIGHT,
            stage=VERIFY_STAGE,
        )
    yield from cluster_jobs(run.snapshot_id, options, places)


def cluster_jobs(snapshot_id: str, options: JudgeOptions, places: list[Member]) -> Iterator[NewJob]:
    """Yield a job per batch of candidates."""
    if options.max_findings:
        places = worst(places, options.max_findings)
    alone: list[CandidateBatch] = []
    for batch in batches(places, options.cluster_limit):
        if len(batch.gids) == 1 and not batch.shared:
            alone.append(batch)
        else:
            yield _job(snapshot_id, batch)
    alone.sort(key=lambda batch: (-batch.score, batch.gids))
    for start in range(0, len(alone), AT_ONCE):
        yield _job_of_many(snapshot_id, alone[start : start + AT_ONCE])


def load(session: "Session", run: Run, job: Claimed) -> ClusterWork:
    """Return the candidates of a batch."""
    payload = ClusterPayload.from_json(job.payload)
    numbered = some_of(session, run, payload.gids)
    return ClusterWork(job, payload, JudgeOptions.of(run), numbered, run.snapshot_id, lines(session, job.id))


async def converse(work: ClusterWork, blobs: Blobs, runtime: AgentRuntime) -> Commit:
    """Return a commit with the clusters and the jobs that verify them; a model is called only if necessary."""
    options, rules = work.options, work.options.rules.blob
    conditions = await asyncio.to_thread(lambda: conditions_of(blobs.read(rules) if rules else None))
    plan = _VerificationPlan(conditions, runtime.setup.profile(options.group))
    clusters = _without_model(work, conditions)
    if clusters is not None:
        return _commit(work, clusters, plan)
    root = await runtime.unpack(blobs, work.snapshot_id)
    located = await asyncio.to_thread(look, root, work.payload.file, work.numbered)
    clusters, questions = divide(located, conditions, options, plan.profile)
    if questions:
        about = sha256("".join(question.about for question in questions).encode()).hexdigest()
        with runtime.open(work.job, options.group, about, work.lines) as talk:
            agents = [
                clusterer(one, talk.platform.profile, runtime.marks(one.about), options.agent_limits)
                for one in questions
            ]
            answers = cluster_all(list(zip(agents, questions, strict=True)))
            clusters += await talk.lead(answers, agents[0], {"about": about})
            if any(agent.stopped and is_caused_by_answers(agent.stopped) for agent in agents):
                await talk.forget()
    return _commit(work, sorted(clusters, key=lambda one: one.gids), plan)


def divide(
    located: Sequence[LocatedCandidate], conditions: Conditions, options: JudgeOptions, profile: Profile
) -> tuple[list[Cluster], list[Question]]:
    """Return the clusters of a file that need no model, and the questions to a model about the other candidates."""
    clusters, questions = [], []
    for group in by_function(located, by_source=options.prove is not None):
        # In a run that proves, what is too much for one conversation is divided without a question.
        if options.prove is not None or fits(group, profile):
            numbered = [(one.gid, one.candidate) for one in group]
            clusters.append(Cluster(question_text(numbered, conditions), tuple(gid for gid, _ in numbered)))
        else:
            questions.append(question_of(group, conditions, options.lang, options.rules.severity))
    return clusters, questions


def _without_model(work: ClusterWork, conditions: Conditions) -> list[Cluster] | None:
    groups = [[one] for one in work.numbered] if work.payload.alone else [work.numbered]
    result = [without_model(group, conditions, work.payload.shared) for group in groups]
    return None if None in result else [one for clusters in result for one in clusters or ()]


def look(root: Path, file: str, numbered: Sequence[Numbered]) -> list[LocatedCandidate]:
    """Find the functions around candidates of a file; return none if the file cannot be read."""
    try:
        return locate(numbered, DirectoryTree(root).read(file))
    except ToolFailed:
        return [LocatedCandidate(gid, candidate) for gid, candidate in numbered]


def _commit(work: ClusterWork, clusters: list[Cluster], plan: _VerificationPlan) -> Commit:
    places = {gid: (work.payload.file, work.payload.batch_index) for gid, _ in work.numbered}
    if work.payload.alone:
        places = {
            gid: (candidate.file, at) for (gid, candidate), at in zip(work.numbered, work.payload.alone, strict=True)
        }
    made = tuple(
        NewCluster(from_shown(file), at, one.verification, one.gids)
        for one in clusters
        for file, at in [places[one.gids[0]]]
    )
    return Commit(
        files=len({file for file, _ in places.values()}),
        results=(ClusterResult(made),),
        children=tuple(_verify(work, part) for one in clusters for part in _parts(work, one, plan)),
    )


def _parts(work: ClusterWork, one: Cluster, plan: _VerificationPlan) -> Iterator[Cluster]:
    members = [(gid, candidate) for gid, candidate in work.numbered if gid in one.gids]
    by_source = work.options.prove is not None
    return verified_together(members, plan.conditions, plan.profile, work.payload.shared, by_source=by_source)


def _verify(work: ClusterWork, one: Cluster) -> NewJob:
    members = [candidate for gid, candidate in work.numbered if gid in one.gids]
    score = max(candidate.score_under(work.options.rules.severity) for candidate in members)
    label = f"{members[0].file[-LABEL_LENGTH:]}:{members[0].line}"
    return NewJob(
        VERIFY_STAGE,
        AGENT_QUEUE,
        label if len(members) == 1 else f"{label} and {len(members) - 1} more",
        sha256(json.dumps(one.gids).encode()).hexdigest(),
        payload=VerifyPayload(one.gids, one.verification).to_json(),
        weight=round(WEIGHT * score),
        stage=VERIFY_STAGE,
    )


def _job(snapshot_id: str, batch: CandidateBatch) -> NewJob:
    payload = ClusterPayload(batch.file, batch.batch_index, batch.shared, tuple(batch.gids))
    label = batch.file[-LABEL_LENGTH:]
    return _planned(
        snapshot_id, label if batch.batch_index == 1 else f"{label} ({batch.batch_index})", payload, batch.score
    )


def _job_of_many(snapshot_id: str, alone: Sequence[CandidateBatch]) -> NewJob:
    """Return one job for all batches that need no model, since separate jobs would cost more than the work itself."""
    first, in_order = alone[0], sorted(alone, key=lambda batch: batch.gids)
    gids, indexes = zip(*((batch.gids[0], batch.batch_index) for batch in in_order), strict=True)
    payload = ClusterPayload(first.file, first.batch_index, "", gids, indexes)
    label = first.file[-LABEL_LENGTH:]
    label = label if len(alone) == 1 else f"{label} and {len(alone) - 1} more"
    return _planned(snapshot_id, label, payload, first.score)


def _planned(snapshot_id: str, label: str, payload: ClusterPayload, score: float) -> NewJob:
    content = payload.to_json()
    return NewJob(
        CLUSTER_STAGE,
        AGENT_QUEUE,
        label,
        sha256(f"{snapshot_id}:{content}".encode()).hexdigest(),
        payload=content,
        weight=round(WEIGHT * score),
    )
