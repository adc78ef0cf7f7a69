"""What a dry run can say about the stages of `jarvis sec agent` that depend on answers.

The files to read are known, and the first prompts about them are built. How many defects they have, and what is
confirmed or left open, is not: for that there are only bounds, for numbers of defects that are rarely exceeded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeVar

from jarvis_workers.agents.conversations.counting_runtime import FirstRequest
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.paths import from_shown
from jarvis_workers.pipeline.runner import history_of
from jarvis_workers.runs.stage_measure import StageMeasure, StageShare
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.clustering import INVESTIGATED_AT_ONCE, VERIFIED_AT_ONCE
from jarvis_workers.sec.judge.cost_model import TOKENS_OF_A_DEFECT
from jarvis_workers.sec.stages.dry_run import DryRun, Plan
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.proof_selection import places_to_prove
from jarvis_workers.sec.stages.read_files import plan_reading
from jarvis_workers.sec.store import candidates
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

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
