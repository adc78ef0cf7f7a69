"""Estimate the cost of `jarvis sec agent` over a scanned tree, without calling a model.

Cluster jobs are planned as in a run, and the actual prompts are built. The resulting clusters are unknown unless the
answer is cached: their number is extrapolated from earlier batches, or one cluster per rule and sink is assumed. Large
numbers of verifications are estimated from a sample. What depends on verdicts is only bounded (`estimate_bounds`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import TypeVar

from jarvis_workers.agents.conversations.counting_runtime import FirstRequest
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.paths import from_shown
from jarvis_workers.pipeline.runner import history_of
from jarvis_workers.runs.stage_measure import StageMeasure, StageShare
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.batching import batches, place_of, worst
from jarvis_workers.sec.judge.clustering import (
    INVESTIGATED_AT_ONCE,
    VERIFIED_AT_ONCE,
    Cluster,
    Conditions,
    verified_together,
    without_model,
)
from jarvis_workers.sec.judge.cost_model import (
    ASSUMED,
    INVESTIGATION,
    TOKENS_OF_A_DEFECT,
    ClusterCounts,
    assumed_proof,
    expected_clusters,
)
from jarvis_workers.sec.stages.candidates import counted_of, reasons_by_cluster
from jarvis_workers.sec.stages.dry_run import DryRun, Plan, PlannedClusters
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.proof_selection import places_to_prove
from jarvis_workers.sec.stages.reader_questions import plan_reading
from jarvis_workers.sec.stages.ruleset import conditions_of
from jarvis_workers.sec.store import candidates, clusters
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.checkout import unpack
from jarvis_workers.store import transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.transcripts import RECENT_JOBS
from jarvis_workers.store.values import Run

# What a dry run can say about the stages of `jarvis sec agent` that depend on answers.

TYPICAL = FirstRequest(6_000)

# What is assumed to be reported beside the candidates of a run: more than almost all do.
SEEN = 20

T = TypeVar("T")


@dataclass(frozen=True)
class DryScan:
    """The scan of a dry run: its candidates to verify by gid, of `found` candidates, and what measures their cost."""

    store: Store
    run: Run
    plan: Plan
    dry: DryRun
    measure: StageMeasure
    numbered: Mapping[int, Candidate]
    found: int


def reading_share(scan: DryScan, blobs: Blobs) -> StageShare:
    """Return the cost of reading the groups of files of --read."""
    options = JudgeOptions.of(scan.run)
    plan = plan_reading(blobs, history_of(scan.store, blobs, scan.run), options)
    firsts = list[FirstRequest]()
    for place in _sample(scan, range(len(plan.groups))):
        with scan.store.read() as session:
            there = [candidates.of_rules_in(session, scan.run.id, from_shown(path)) for path in plan.files(place)]
        firsts.append(scan.dry.read(plan, place, [one for some in there for one in some]))
    return scan.measure.share("read", firsts, len(plan.groups))


def bounds_of(
    scan: DryScan,
    reading: StageShare | None,
    verified: Sequence[FirstRequest],
    verifications: int,
    escalation: ModelGroup | None,
) -> dict[str, StageShare]:
    """Return upper bounds by name: for what models see or read, for the escalation, and for proofs.

    `reading` is its cost. `verified` are the first requests of all `verifications` of candidates, or of a sample.
    """
    shares, options = scan.measure.share, scan.plan.options
    times = 1 + options.second_look
    every = [FirstRequest(one.tokens, times=times) for one in verified if one.tokens] or [TYPICAL]
    seen, named = SEEN if verifications or reading else 0, _named(reading)
    of_named = ceil(named / (INVESTIGATED_AT_ONCE if options.prove else VERIFIED_AT_ONCE))
    bounds = {}
    if reading:
        bounds["named"] = shares("verify", every, of_named)
    bounds["seen"] = shares("verify", every, seen)
    once = [one._replace(times=1) for one in every]
    if escalation:
        bounds["escalate"] = shares("verify", once, verifications + of_named + seen, escalation.prices)
    if options.prove:
        bounds["prove"] = shares("prove", once, _places(scan) + seen + named)
    return bounds


def _named(reading: StageShare | None) -> int:
    """Return how many defects readers name, in what they were not asked about before."""
    tokens = reading.prompt / reading.habit.rounds if reading else 0
    return ceil(tokens / TOKENS_OF_A_DEFECT)


def _places(scan: DryScan) -> int:
    """Return how many places are proved if everything is confirmed, candidates with the severities of their rules.

    Their proofs are made in the conversations that verify them.
    """
    return len(places_to_prove(scan.numbered.items(), scan.plan.options))


def _sample(scan: DryScan, items: Sequence[T]) -> Sequence[T]:
    return items[:: max(len(items) // scan.plan.sample, 1)]


NO_BOUNDS: Mapping[str, StageShare] = {}


@dataclass(frozen=True)
class Estimate:
    """The estimate for a run. `plain` is the number of cluster jobs that need no model.

    `ratio` is the ratio of counted to estimated tokens in this store's history. `read` is the reading of whole files,
    None without it. `bounds` are upper bounds, by name, for what depends on the answers.
    """

    group: str
    candidates: int
    candidates_found: int
    plain: int
    cluster: StageShare
    verify: StageShare
    ratio: float
    priced: bool
    read: StageShare | None = None
    bounds: Mapping[str, StageShare] = field(default_factory=lambda: NO_BOUNDS)


@dataclass(frozen=True)
class _Planned:
    """The questions of cluster jobs, the expected clusters, and the number of jobs that need no model."""

    questions: Sequence[FirstRequest]
    clusters: Sequence[Cluster]
    plain: int


def estimate(
    store: Store, blobs: Blobs, run: Run, plan: Plan, *, unpacked: Path, escalation: ModelGroup | None = None
) -> Estimate:
    """Estimate the cost of clustering and verifying the candidates of a run; sources are unpacked below `unpacked`.

    `escalation` is the model group of --escalate.
    """
    scan = _dry_scan(store, blobs, run, plan, unpacked)
    rules = SecOptions.of(run).rules
    conditions = conditions_of(blobs.read(rules.blob) if rules.blob else None)
    planned = _plan(scan, conditions)
    some = planned.clusters[:: max(len(planned.clusters) // plan.sample, 1)]
    with store.read() as session:
        reasons = reasons_by_cluster(session, run, [[(gid, scan.numbered[gid]) for gid in one.gids] for one in some])
    firsts = [scan.dry.verify(one, scan.numbered, those) for one, those in zip(some, reasons, strict=True)]
    verify = scan.measure.share("verify", firsts, len(planned.clusters))
    reading = reading_share(scan, blobs) if plan.options.read else None
    return Estimate(
        group=plan.options.group,
        candidates=len(scan.numbered),
        candidates_found=scan.found,
        plain=planned.plain,
        cluster=scan.measure.share("cluster", planned.questions, len(planned.questions)),
        verify=verify,
        ratio=scan.measure.ratio,
        priced=scan.measure.is_priced,
        read=reading,
        bounds=bounds_of(scan, reading, firsts, verify.jobs, escalation),
    )


def _dry_scan(store: Store, blobs: Blobs, run: Run, plan: Plan, unpacked: Path) -> DryScan:
    """Return the scan with the candidates to verify, those with the highest scores."""
    severities = SecOptions.of(run).rules.severity
    plan = replace(plan, severities=severities)
    with store.read() as session:
        numbered = dict(counted_of(session, run))
        assumed = {**ASSUMED, "prove": assumed_proof(plan.options.proof_attempts)}
        if plan.options.prove:
            assumed["verify"] = INVESTIGATION
        measure = StageMeasure.from_history(session, assumed, plan.model.prices)
    chosen = numbered
    if most := plan.options.max_findings:
        places = worst([place_of(gid, result, severities) for gid, result in numbered.items()], most)
        chosen = {one.gid: numbered[one.gid] for one in places}
    dry = _dry_run(store, plan, unpack(blobs, run.snapshot_id, unpacked))
    return DryScan(store, run, plan, dry, measure, chosen, len(numbered))


def _plan(scan: DryScan, conditions: Conditions) -> _Planned:
    """Plan the cluster jobs, and foresee their clusters."""
    plan, plain, questions, expected = scan.plan, 0, list[FirstRequest](), list[Cluster]()
    with scan.store.read() as session:
        made = [ClusterCounts(*row) for row in clusters.made(session, RECENT_JOBS)]
    places = [place_of(gid, result, plan.severities) for gid, result in scan.numbered.items()]
    for batch in batches(places, plan.options.cluster_limit):
        members = [(gid, scan.numbered[gid]) for gid in batch.gids]
        result = without_model(members, conditions, batch.shared)
        parts = [PlannedClusters(result)] if result else scan.dry.cluster(batch.file, members, conditions)
        requests = [part.request for part in parts if part.request]
        plain += not requests
        questions += requests
        for part in parts:
            for one in (*part.clusters, *expected_clusters(part.unclustered, conditions, made)):
                of_one = [(gid, scan.numbered[gid]) for gid in one.gids]
                by_source = plan.options.prove is not None
                expected += verified_together(of_one, conditions, plan.model.quirks, batch.shared, by_source=by_source)
    return _Planned(questions, expected, plain)


def _dry_run(store: Store, plan: Plan, root: Path) -> DryRun:
    with store.write() as session:
        secret = transcripts.secret(session)

    def find(key: str) -> str | None:
        with store.read() as session:
            return transcripts.answer(session, key)

    return DryRun(root, plan, secret, find)
