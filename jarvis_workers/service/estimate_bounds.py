"""What a dry run can say about the stages of `jarvis sec agent` that depend on answers.

The functions of --discover are known, and their first prompts are built. How many defects they have, and what is
confirmed or left open, is not: for that there are only bounds, for numbers of defects that are rarely exceeded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TypeVar

from jarvis_workers.conversations.counting_runtime import FirstRequest
from jarvis_workers.paths import from_shown
from jarvis_workers.pipeline.runner import history_of
from jarvis_workers.platforms.groups import ModelGroup
from jarvis_workers.ratelimit.budget import amount_of
from jarvis_workers.sec.discovery.defects import CONFIDENCE, PATTERN
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.judge.clustering import VERIFIED_AT_ONCE, Cluster
from jarvis_workers.sec.judge.cost_model import TOKENS_OF_A_DEFECT
from jarvis_workers.service.stage_measure import StageMeasure, StageShare
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.steps.sec.chosen_functions import ChosenFunction
from jarvis_workers.steps.sec.discover import choose_functions
from jarvis_workers.steps.sec.dry_run import DryRun, Plan
from jarvis_workers.steps.sec.judge_options import JudgeOptions
from jarvis_workers.steps.sec.proof_selection import places_to_prove
from jarvis_workers.steps.sec.read_files import plan_reading
from jarvis_workers.store import candidates
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

# A weakness of most defects that --discover looks for: out-of-bounds write.
EXAMPLE_CWE = 787
TYPICAL = FirstRequest(6_000)

# What is assumed to be reported of a function, and beside the candidates of a run: more than almost all do.
DEFECTS, SEEN = 5, 20

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


def chosen_for_search(scan: DryScan, blobs: Blobs) -> list[ChosenFunction]:
    """Return the functions that --discover searches, in the order of the ranking; none without it."""
    most = scan.plan.options.discover
    return choose_functions(blobs, history_of(scan.store, blobs, scan.run), most)[0] if most else []


def search_share(scan: DryScan, functions: Sequence[ChosenFunction]) -> StageShare:
    """Return the cost of searching the functions, at most --discover-budget."""
    firsts = list[FirstRequest]()
    for function in _sample(scan, functions):
        with scan.store.read() as session:
            there = candidates.of_rules_in(session, scan.run.id, from_shown(function.file))
        firsts.append(scan.dry.search(function, there))
    return _within_budget(scan, scan.measure.share("discover", firsts, len(functions)))


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
    functions: Sequence[ChosenFunction],
    reading: StageShare | None,
    verified: Sequence[FirstRequest],
    verifications: int,
    escalation: ModelGroup | None,
) -> dict[str, StageShare]:
    """Return upper bounds by name: for what models see, read or discover, for the escalation, and for proofs.

    `functions` are those that the budget leaves to search, `reading` is the cost of reading.
    `verified` are the first requests of all `verifications` of candidates, or of a sample.
    """
    shares, options = scan.measure.share, scan.plan.options
    defects = [_defect(one) for one in _sample(scan, functions)]
    found = [scan.dry.verify(Cluster(one.description, (1,)), {1: one}) for one in defects]
    times = 1 + options.second_look
    every = [FirstRequest(one.tokens, times=times) for one in (*verified, *found) if one.tokens] or [TYPICAL]
    many = {"discovered": DEFECTS * len(functions), "seen": SEEN if verifications or functions or reading else 0}
    named = _named(reading)
    bounds = {}
    if reading:
        bounds["named"] = shares("verify", every, ceil(named / VERIFIED_AT_ONCE))
    if options.discover:
        bounds["discovered"] = shares("verify", found, many["discovered"])
    bounds["seen"] = shares("verify", every, many["seen"])
    once = [one._replace(times=1) for one in every]
    if escalation:
        bounds["escalate"] = shares("verify", once, verifications + sum(many.values()), escalation.prices)
    if options.prove:
        bounds["prove"] = shares("prove", once, _places(scan) + sum(many.values()) + named)
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


def _defect(function: ChosenFunction) -> Candidate:
    """Return a candidate like those that the search of a function reports."""
    category, about = "memory_mgmt", "A defect of the function."
    return Candidate("c/cpp", category, PATTERN, function.file, function.line, "", about, "", CONFIDENCE, EXAMPLE_CWE)


def _within_budget(scan: DryScan, share: StageShare) -> StageShare:
    budget = scan.plan.options.discover_budget
    spent = amount_of(budget.unit, share.prompt + share.completion, share.cost) if budget else 0
    if budget is None or spent <= budget.cap:
        return share
    part = budget.cap / spent
    return replace(
        share,
        jobs=ceil(part * share.jobs),
        calls=ceil(part * share.calls),
        prompt=round(part * share.prompt),
        completion=round(part * share.completion),
        prompt_cost=part * share.prompt_cost,
        completion_cost=part * share.completion_cost,
    )


def _sample(scan: DryScan, items: Sequence[T]) -> Sequence[T]:
    return items[:: max(len(items) // scan.plan.sample, 1)]
