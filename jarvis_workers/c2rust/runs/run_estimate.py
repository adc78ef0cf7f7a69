"""Estimate what a run over a C project asks a model: a dry run in a store of its own, then averages of conversations.

The prompts are those of the run. What follows from answers is assumed: further answers, reviews, accepted drivers; no
function is replaced by a library. A dry run leaves nothing but cached results and blobs: its store is temporary.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.agents.conversations.counting_runtime import CountingRuntime, FirstRequest, RequestCounts
from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.c2rust import driver_question, replacement_question, signature_question
from jarvis_workers.c2rust.body_review import MOST_CALLS
from jarvis_workers.c2rust.stages.options import MoveOptions
from jarvis_workers.c2rust.stages.pipelines import DRY, RUN
from jarvis_workers.errors import UsageError
from jarvis_workers.executors.local.executor import LocalExecutor
from jarvis_workers.models.platforms.usage_profile import ConversationProfile
from jarvis_workers.models.ratelimit.budget import RunBudget, amount_of
from jarvis_workers.pipeline.stages import stages_of as pipeline_of
from jarvis_workers.runs import wiring
from jarvis_workers.runs.models import model_facts, model_group
from jarvis_workers.runs.runs import stages_of
from jarvis_workers.runs.stage_measure import StageMeasure, StageShare
from jarvis_workers.store import transcripts
from jarvis_workers.store.engine import open_store
from jarvis_workers.words import ENGLISH

if TYPE_CHECKING:
    from jarvis_workers.runs.request import RunInput, RunRequest
    from jarvis_workers.settings import Settings
    from jarvis_workers.store.engine import Store
    from jarvis_workers.store.values import Run

TRANSLATE, DRIVER = "translate", "driver"
# Until this store has seen enough jobs. A function takes 1.6 answers of 800 tokens (the average that the design of
# c2rust assumes) and two requests of a reviewer, each of 3/4 of the size of the question (docs/c2rust.md has the
# measurement). A refused answer and the reason are repeated by the next request, as is the first topic of a review.
ASSUMED: Mapping[str, ConversationProfile] = {
    "replace": ConversationProfile(1.1, 50, 100),
    "layout": ConversationProfile(1.2, 500, 1_200),
    "signatures": ConversationProfile(1.3, 700, 600),
    DRIVER: ConversationProfile(1.6, 700, 500),
    TRANSLATE: ConversationProfile(1.6, 700, 800),
}
REVIEW, REVIEW_SIZE = ConversationProfile(2, 150, 60), 0.75
# Of the functions that only a driver can reach, this share is translated.
DRIVERS_ACCEPTED = 0.5


@dataclass(frozen=True)
class BudgetFit:
    """Whether an estimate fits a budget; `says` has both amounts. None for a budget of time."""

    fits: bool | None
    says: str


@dataclass(frozen=True)
class RunEstimate:
    """The estimate for a run by stage. There are never more than `most_calls` requests.

    `drivers` are the functions that only a driver can reach, `gaps` the units that were not read. `ratio` is the ratio
    of counted to estimated tokens in this store's history. If the run also `improves` the optimized crate, its requests
    for that are in no number.
    """

    group: str
    stages: Mapping[str, StageShare]
    most_calls: int
    ratio: float
    priced: bool
    drivers: int = 0
    gaps: int = 0
    improves: bool = False
    budget: BudgetFit | None = None


class DryExecutor(NamedTuple):
    """Executes a dry run: its executor and its store, and the requests that it counts."""

    local: LocalExecutor
    store: "Store"
    counts: RequestCounts


@contextmanager
def open_dry_executor(
    settings: "Settings", answers: "Store", *, tell: Callable[[str], None], show: wiring.Show
) -> Iterator[DryExecutor]:
    """Yield the executor of a dry run, with a temporary store; cached answers are those of the store `answers`."""
    quiet = settings.model_copy(update={"notify": settings.notify.model_copy(update={"webhook_url": None})})
    counts = RequestCounts()
    with TemporaryDirectory(prefix="jarvis-dry-") as place:
        url = f"sqlite:///{Path(place, 'jarvis.db')}"

        def runtime() -> CountingRuntime:
            setup = setup_of(model_facts(settings), settings.data_dir / "cache")
            # The gates of cached answers need not run: a translation with cached answers asks nothing.
            return CountingRuntime(open_store(url), answers, setup, counts, ended=[TRANSLATE])

        with (
            closing(open_store(url)) as store,
            wiring.executor_of(quiet, store, tell=tell, show=show, runtime=runtime) as local,
        ):
            yield DryExecutor(local, store, counts)


def dry_request(request: "RunRequest[RunInput]") -> "RunRequest[RunInput]":
    """Return the request for a dry run."""
    kind = DRY[request.kind]
    optional = {stage.name for stage in pipeline_of(kind) if stage.optional}
    skipped = tuple(name for name in request.skipped_stages if name in optional)
    return replace(request, kind=kind, budget=None, name=None, skipped_stages=skipped)


def estimate_run(
    settings: "Settings", answers: "Store", dry: DryExecutor, run: "Run", request: "RunRequest[RunInput]"
) -> RunEstimate:
    """Return the estimate for a request after its dry run. Raises UsageError if it failed."""
    stages = {one.name: one for one in stages_of(dry.store, run)}
    failed = sum(one.failed for one in stages.values())
    if run.state not in ("done", "incomplete") or failed:
        raise UsageError(f"nothing was estimated: {run.reason or ENGLISH.count(failed, 'job') + ' failed'}")
    options = MoveOptions.of(run)
    planned = {name: dry.counts.of_stage(name) for name in ASSUMED if name in stages}
    unreached = sum(not one.is_cached for one in planned.get(DRIVER, ()))
    requests = planned | {TRANSLATE: _with_driven(planned, unreached)} if TRANSLATE in planned else planned
    model = model_group(settings, options.group)
    with answers.read() as session:
        assumed = _assumed(options, requests, transcripts.ratio(session))
        measure = StageMeasure.from_history(session, assumed, model.prices)
    shares = {name: measure.share(name, firsts, len(firsts)) for name, firsts in requests.items()}
    jobs = {name: len(firsts) + unreached * (name == TRANSLATE) for name, firsts in planned.items()}
    return RunEstimate(
        group=options.group,
        stages=shares,
        most_calls=sum(count * _most_calls(options, name) for name, count in jobs.items()),
        ratio=measure.ratio,
        priced=measure.is_priced,
        drivers=unreached,
        gaps=stages["symbols"].not_checked if "symbols" in stages else 0,
        improves=request.kind == RUN and "improve" not in request.skipped_stages,
        budget=_fit(request.budget, shares.values()) if request.budget else None,
    )


def _with_driven(planned: Mapping[str, Sequence[FirstRequest]], unreached: int) -> list[FirstRequest]:
    """Return the requests of translations, with those of functions whose drivers are expected to be accepted."""
    sizes = [one.tokens for one in planned[TRANSLATE] or planned.get(DRIVER, ())]
    size = round(fmean(sizes)) if sizes else 0
    return [*planned[TRANSLATE], *[FirstRequest(size)] * round(DRIVERS_ACCEPTED * unreached)]


def _assumed(
    options: MoveOptions, requests: Mapping[str, Sequence[FirstRequest]], ratio: float
) -> dict[str, ConversationProfile]:
    """Return the assumed profiles of stages; a translation is followed by its review.

    `ratio` is that of counted to estimated tokens.
    """
    assumed = {name: ASSUMED[name] for name in requests}
    if options.review and requests.get(TRANSLATE):
        body, size = assumed[TRANSLATE], ratio * fmean(one.tokens for one in requests[TRANSLATE])
        rounds = body.rounds + REVIEW.rounds
        added = body.added + REVIEW.added - REVIEW.rounds * (1 - REVIEW_SIZE) * size
        assumed[TRANSLATE] = ConversationProfile(rounds, added, (body.completion() + REVIEW.completion()) / rounds)
    return assumed


def _most_calls(options: MoveOptions, stage: str) -> int:
    """Return the number of requests that a job of a stage never exceeds."""
    translators = options.attempts * (2 if options.escalate else 1)
    most = {
        "replace": 1 + replacement_question.RETRIES,
        "layout": 1 + options.plan_max_retries,
        "signatures": signature_question.ATTEMPTS + options.agent_limits.reasks,
        DRIVER: driver_question.ATTEMPTS,
        TRANSLATE: translators + (MOST_CALLS if options.review else 0),
    }
    return most[stage]


def _fit(budget: RunBudget, shares: Iterable[StageShare]) -> BudgetFit:
    if budget.unit == "s":
        return BudgetFit(None, "the time of a run is not estimated")
    found = list(shares)
    tokens = sum(one.prompt + one.completion for one in found)
    amount = amount_of(budget.unit, tokens, sum(one.prompt_cost + one.completion_cost for one in found))
    return BudgetFit(amount <= budget.cap, budget.says(amount))
