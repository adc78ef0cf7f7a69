"""Estimate the cost of `jarvis sec agent` over a scanned tree, without calling a model.

Cluster jobs are planned as in a run, and the actual prompts are built. The resulting clusters are unknown unless the
answer is cached: their number is extrapolated from earlier batches, or one cluster per rule and sink is assumed. Large
numbers of verifications are estimated from a sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.conversations.counting_runtime import FirstRequest
from jarvis_workers.platforms.costs import cost_of
from jarvis_workers.platforms.profiles import Prices
from jarvis_workers.platforms.protocol import TokenUsage
from jarvis_workers.sec.judge.batching import batches, place_of, worst
from jarvis_workers.sec.judge.clustering import Cluster, verified_together, without_model
from jarvis_workers.sec.judge.cost_model import (
    ASSUMED,
    ClusterCounts,
    ConversationProfile,
    ConversationTotals,
    expected_clusters,
    profile_of,
)
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.checkout import unpack
from jarvis_workers.steps.sec.candidates import counted_of, reasons_by_cluster
from jarvis_workers.steps.sec.dry_run import DryRun, Plan, PlannedClusters
from jarvis_workers.steps.sec.options import SecOptions
from jarvis_workers.steps.sec.ruleset import conditions_of
from jarvis_workers.store import clusters, transcripts
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run
from jarvis_workers.store.transcripts import RECENT_JOBS

if TYPE_CHECKING:
    from sqlmodel import Session

__all__ = ["Estimate", "Plan", "StageMeasure", "StageShare", "estimate"]


@dataclass(frozen=True)
class StageShare:
    """The cost of a stage's jobs that call a model; the answers of `known` jobs are cached and free.

    Costs are in dollars; prompts are assumed not to be in the provider's prompt cache.
    """

    jobs: int
    known: int
    calls: int
    prompt: int
    completion: int
    prompt_cost: float
    completion_cost: float
    habit: ConversationProfile


@dataclass(frozen=True)
class Estimate:
    """The estimate for a run. `plain` is the number of cluster jobs that need no model.

    `ratio` is the ratio of counted to estimated tokens in this store's history.
    """

    group: str
    candidates: int
    candidates_found: int
    plain: int
    cluster: StageShare
    verify: StageShare
    ratio: float
    priced: bool


@dataclass(frozen=True)
class StageMeasure:
    """Extrapolates from first prompts to the total cost of jobs."""

    habits: Mapping[str, ConversationProfile]
    ratio: float
    prices: Prices

    @classmethod
    def from_history(
        cls, session: "Session", assumed: Mapping[str, ConversationProfile], prices: Prices
    ) -> "StageMeasure":
        """Return the measure of the stages in `assumed`, according to earlier jobs if there are enough of them."""
        habits = {
            name: profile_of([ConversationTotals(*row) for row in transcripts.recent_usage(session, name)], profile)
            for name, profile in assumed.items()
        }
        return cls(habits, transcripts.ratio(session), prices)

    @property
    def is_priced(self) -> bool:
        """Whether the prices of the model are known."""
        return bool(self.prices.input or self.prices.output)

    def share(self, stage: str, firsts: Sequence[FirstRequest], jobs: int) -> StageShare:
        """Return the cost of `jobs` jobs; `firsts` are the first prompts of all of them, or of a sample."""
        habit, stands_for = self.habits[stage], jobs / max(len(firsts), 1)
        unknown = [first for first in firsts if not first.is_cached]
        times = stands_for * sum(first.times for first in unknown)
        prompt = stands_for * sum(first.times * habit.prompt(first.tokens * self.ratio) for first in unknown)
        used = TokenUsage(round(prompt), round(times * habit.completion))
        return StageShare(
            jobs=jobs,
            known=round(stands_for * (len(firsts) - len(unknown))),
            calls=round(times * habit.rounds),
            prompt=used.prompt,
            completion=used.completion,
            prompt_cost=cost_of(TokenUsage(prompt=used.prompt), self.prices),
            completion_cost=cost_of(TokenUsage(completion=used.completion), self.prices),
            habit=habit,
        )


def estimate(store: Store, blobs: Blobs, run: Run, plan: Plan, *, unpacked: Path) -> Estimate:
    """Estimate the cost of clustering and verifying the candidates of a run; sources are unpacked below `unpacked`."""
    with store.read() as session:
        numbered = dict(counted_of(session, run))
        made = [ClusterCounts(*row) for row in clusters.made(session, RECENT_JOBS)]
        measure = StageMeasure.from_history(session, ASSUMED, plan.model.prices)
    rules = SecOptions.of(run).rules
    plan = replace(plan, severities=rules.severity)
    foresight = _dry_run(store, plan, unpack(blobs, run.snapshot_id, unpacked))
    conditions = conditions_of(blobs.read(rules.blob) if rules.blob else None)
    places = [place_of(gid, result, rules.severity) for gid, result in numbered.items()]
    most = plan.options.max_findings
    chosen = worst(places, most) if most else places
    planned = batches(chosen, plan.options.cluster_limit)
    plain, questions, expected = 0, list[FirstRequest](), list[Cluster]()
    for batch in planned:
        members = [(gid, numbered[gid]) for gid in batch.gids]
        result = without_model(members, conditions, batch.shared)
        parts = [PlannedClusters(result)] if result else foresight.cluster(batch.file, members, conditions)
        requests = [part.request for part in parts if part.request]
        plain += not requests
        questions += requests
        for part in parts:
            for one in (*part.clusters, *expected_clusters(part.unclustered, conditions, made)):
                of_one = [(gid, numbered[gid]) for gid in one.gids]
                expected += verified_together(of_one, conditions, plan.model.quirks, batch.shared)
    some = expected[:: max(len(expected) // plan.sample, 1)]
    with store.read() as session:
        reasons = reasons_by_cluster(session, run, [[(gid, numbered[gid]) for gid in one.gids] for one in some])
    firsts = [foresight.verify(one, numbered, those) for one, those in zip(some, reasons, strict=True)]
    return Estimate(
        group=plan.options.group,
        candidates=len(chosen),
        candidates_found=len(numbered),
        plain=plain,
        cluster=measure.share("cluster", questions, len(questions)),
        verify=measure.share("verify", firsts, len(expected)),
        ratio=measure.ratio,
        priced=measure.is_priced,
    )


def _dry_run(store: Store, plan: Plan, root: Path) -> DryRun:
    with store.write() as session:
        secret = transcripts.secret(session)

    def find(key: str) -> str | None:
        with store.read() as session:
            return transcripts.answer(session, key)

    return DryRun(root, plan, secret, find)
