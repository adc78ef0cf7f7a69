"""The platform of one job's conversation: a stack of decorators around the provider's platforms.

A request passes down the stack, its answer back up:

    VotingPlatform      choose the model group: the first for vote 0, the second for other votes, the third to escalate
    MeteredPlatform     record the usage of each answer, including cached ones (with 0 tries)
    CachedPlatform      answer from the cache, at no cost in budget or rate limit
    BudgetedPlatform    reserve the worst-case cost in the run's budget, settle the actual cost
    provider's platform wait for the rate limiter, send, retry (`models.platforms.compatible`)

All layers but VotingPlatform exist once per model group.
"""

import time
from collections.abc import Callable

from jarvis_workers.agents.conversations.budget import RunAllowance
from jarvis_workers.agents.conversations.observer import ObservedCall, Observer
from jarvis_workers.agents.conversations.resources import AgentSetup
from jarvis_workers.errors import ModelError, StepFailed
from jarvis_workers.models.platforms.answer_cache import AnswerStore, CachedPlatform
from jarvis_workers.models.platforms.costs import cost_of
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.profiles import Prices
from jarvis_workers.models.platforms.protocol import ModelRequest, Platform, Reply, TokenUsage, estimate_request
from jarvis_workers.models.ratelimit.budget import Unit, amount_of
from jarvis_workers.paths import plain
from jarvis_workers.store.transcripts import ModelCall
from jarvis_workers.store.values import Claimed

LONGEST_NAME = 200
# The worst case assumes this multiple of the estimated prompt tokens: estimates are calibrated, but not exact.
PROMPT_MARGIN = 1.25

Record = Callable[[ModelCall], None]


class PlatformStack:
    """The stack of a job; `platform` is its top, `profiles` are those of the three groups."""

    def __init__(
        self,
        setup: AgentSetup,
        groups: list[ModelGroup],
        job: Claimed,
        allowance: RunAllowance,
        answers: AnswerStore,
        record: Record,
    ) -> None:
        opened = [(setup.providers.open(group), group.prices) for group in groups]
        budgeted = [BudgetedPlatform(platform, job, allowance, prices) for platform, prices in opened]
        self._caches = [CachedPlatform(one, answers, offline=setup.offline) for one in budgeted]
        first, second, third = (MeteredPlatform(one, job, record, setup.observer) for one in self._caches)
        self.platform: Platform = VotingPlatform(first, second, third)
        self.profiles = (first.profile, second.profile, third.profile)
        self.job, self._answers = job, answers

    def forget(self) -> None:
        """Remove the conversation's answers from the cache."""
        for key in set[str]().union(*(cache.keys for cache in self._caches)):
            self._answers.forget(key)


class _Layer:
    """A decorator of a platform."""

    def __init__(self, platform: Platform) -> None:
        self.name, self.model, self.profile = platform.name, platform.model, platform.profile
        self._platform = platform


class VotingPlatform(_Layer):
    """Sends requests of vote 0 to the first platform, of other votes to the second, escalated ones to the third."""

    def __init__(self, first: Platform, second: Platform, third: Platform) -> None:
        super().__init__(first)
        self._second, self._third = second, third

    async def ask_async(self, request: ModelRequest) -> Reply:
        if request.escalated:
            return await self._third.ask_async(request)
        return await (self._second if request.vote > 0 else self._platform).ask_async(request)


class MeteredPlatform(_Layer):
    """Records tokens, cost (dollars) and seconds of each answer as a ModelCall, and notifies the observer."""

    def __init__(self, platform: Platform, job: Claimed, record: Record, observer: Observer) -> None:
        super().__init__(platform)
        self._job, self._record, self._observer = job, record, observer

    async def ask_async(self, request: ModelRequest) -> Reply:
        began, start = time.time(), time.monotonic()
        try:
            reply = await self._platform.ask_async(request)
        except ModelError as error:
            why, seconds = type(error).__name__, time.monotonic() - start
            failed = ObservedCall(self._job, self.name, self.model, "failed", began, seconds, error=why)
            self._observer.model_called(failed)
            raise
        self._observer.model_called(self._observed(reply, began, time.monotonic() - start))
        used = reply.usage
        self._record(
            ModelCall(
                run_id=self._job.run_id,
                job_id=self._job.id,
                model=plain(reply.model[:LONGEST_NAME]),
                prompt=used.prompt,
                cached=used.cached,
                completion=used.completion,
                cost=reply.cost,
                seconds=reply.seconds,
                tries=reply.tries,
                estimated=request.estimated,
            )
        )
        return reply

    def _observed(self, reply: Reply, began: float, seconds: float) -> ObservedCall:
        return ObservedCall(
            job=self._job,
            platform=self.name,
            model=self.model,
            outcome="answered" if reply.tries else "cached",
            began=began,
            seconds=seconds,
            usage=reply.usage,
            cost=reply.cost,
            answered_by=plain(reply.model[:LONGEST_NAME]),
            finish=plain((reply.finish or "")[:LONGEST_NAME]),
        )


class BudgetedPlatform(_Layer):
    """Reserves the worst-case cost of an answer before the request is sent.

    Raises BudgetSpent, or StepFailed if the budget is in dollars and the model has no prices.
    """

    def __init__(self, platform: Platform, job: Claimed, allowance: RunAllowance, prices: Prices) -> None:
        super().__init__(platform)
        self._job, self._allowance, self._prices = job, allowance, prices

    async def ask_async(self, request: ModelRequest) -> Reply:
        budget = await self._allowance.load_budget()
        if budget is None:
            return await self._platform.ask_async(request)
        self._require_prices(budget.unit)
        estimated = estimate_request(request)
        calibrated = self._allowance.calibrations[self.model].tokens(estimated)
        worst, actual = self._max_cost(budget.unit, calibrated), 0
        await self._allowance.reserve(self._job, worst)
        try:
            reply = await self._platform.ask_async(request)
            actual = amount_of(budget.unit, reply.usage.total, reply.cost)
        finally:
            self._allowance.settle(budget.unit, worst, actual)
        self._allowance.calibrate(self.model, estimated, reply.usage.prompt)
        return reply

    def _require_prices(self, unit: Unit) -> None:
        if unit == "usd" and not self._prices.are_set:
            raise StepFailed(
                f"the budget of run {self._allowance.run_id} is in dollars, but the model {self.model} has no prices"
                " here; set them in models in jarvis.yaml, or resume the run with a budget in tokens"
            )

    def _max_cost(self, unit: Unit, prompt: float) -> int:
        """Return the worst-case cost, in parts of `unit`, of a prompt with a margin and the longest answer."""
        most = round(PROMPT_MARGIN * prompt)
        # A provider that reports what it writes to its prompt cache charges more for it.
        writes = most if self.profile.api == "messages" else 0
        usage = TokenUsage(most, self.profile.answer_tokens, cache_writes=writes)
        return max(amount_of(unit, usage.total, cost_of(usage, self._prices)), 1)
