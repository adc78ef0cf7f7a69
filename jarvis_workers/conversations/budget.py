"""Run budgets by reserve and settle: a request is sent only after its worst-case cost is reserved.

The conversations of a process share an allowance for each run. It is acquired from the store (`store/budgets`) in
parts; a request reserves its maximum cost from it, and the actual cost counts as spent when the answer is saved. If
nothing is left, callers block while any process still holds an unspent reservation; then the run is paused, and no
answer is cut off.
"""

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from jarvis_workers import telemetry
from jarvis_workers.errors import BudgetSpent, ModelUnavailable, StepFailed
from jarvis_workers.pipeline.store_retry import patiently
from jarvis_workers.platforms.costs import cost_of
from jarvis_workers.platforms.profiles import Prices
from jarvis_workers.platforms.protocol import Hear, ModelRequest, Platform, Reply, TokenUsage
from jarvis_workers.platforms.tokens import estimate_request
from jarvis_workers.ratelimit.budget import PARTS, RunBudget, Unit, amount_of
from jarvis_workers.ratelimit.token_calibration import Calibration
from jarvis_workers.store import budgets
from jarvis_workers.store.budgets import AllowanceRequest, BudgetGrant
from jarvis_workers.store.engine import Store
from jarvis_workers.store.transcripts import Item, ModelCall
from jarvis_workers.store.values import Claimed

__all__ = ["BudgetLedger", "BudgetedPlatform", "RunAllowance"]

LOOK_SECONDS = 0.5
MARGIN = 1.25


class RunAllowance:
    """What the conversations of a run may spend in this process; `talks` are those that are on.

    How well prompts are estimated, they learn together: `calibrations` are by model.
    """

    def __init__(self, store: Store, run_id: str, told: threading.Event, clock: Callable[[], float]) -> None:
        self.run_id, self.talks = run_id, 0
        self.budget: RunBudget | None = None
        self.calibrations: defaultdict[str, Calibration] = defaultdict(Calibration)
        self._store, self._told, self._clock = store, told, clock
        self._is_known = False
        self._free = self._aside = self._unsaved = 0
        self._until = 0.0
        self._lock, self._turn, self._moved = threading.Lock(), asyncio.Lock(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nobody uses it, and nothing is to be saved of it."""
        return not self.talks and self._unsaved <= 0

    async def look(self) -> RunBudget | None:
        """Return the run's budget, None where it has none."""
        if self._is_known:
            return self.budget
        async with self._turn:
            if not self._is_known:
                self._take_up(await asyncio.to_thread(patiently, self._find, self._told))
        return self.budget

    async def set_aside(self, job: Claimed, worst: int) -> None:
        """Set aside what an answer may take; raises BudgetSpent."""
        async with self._turn:
            self._loop = asyncio.get_running_loop()
            while not self._has(worst):
                self._moved.clear()
                grant = await asyncio.to_thread(self._draw, job, worst)
                if grant.over:
                    self._is_known = False  # who goes on with the run may give it another
                    raise BudgetSpent(f"run {self.run_id} is not running, or has spent its budget")
                if not grant.given:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._moved.wait(), LOOK_SECONDS)

    def settle(self, unit: Unit, worst: int, taken: int) -> None:
        """Give back what an answer did not take, unless the budget is of another unit by now."""
        with self._lock:
            if self.budget and self.budget.unit == unit:
                self._aside -= worst
                self._unsaved += taken
                self._free += worst - taken
        self._moved.set()

    def saved(self, taken: int) -> None:
        """The store knows by now that this was spent; may be called in any thread."""
        with self._lock:
            self._unsaved -= taken
        if self._loop:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._moved.set)

    def _take_up(self, found: RunBudget | None) -> None:
        with self._lock:
            if self.budget and found and self.budget.unit != found.unit:
                self._free = self._aside = self._unsaved = 0
            self.budget, self._is_known = found, True

    def _has(self, worst: int) -> bool:
        with self._lock:
            timed = self.budget is not None and self.budget.unit == "s"
            enough = self._clock() < self._until if timed else self._free >= worst
            if enough:
                self._free -= worst
                self._aside += worst
            return enough

    def _find(self) -> RunBudget | None:
        with self._store.read() as session:
            return budgets.find(session, self.run_id)

    def _draw(self, job: Claimed, worst: int) -> BudgetGrant:
        """Draw anew; what is free goes back with it, so that it may be enough for somebody."""
        assert self.budget is not None
        with self._lock:
            self._free, kept = 0, max(self._aside + self._unsaved, 0)
        began = self._clock()
        wish = AllowanceRequest(self.budget.unit, kept, worst, worst * max(self.talks, 1))
        grant = patiently(lambda: self._ask_for(job, wish), self._told)
        with self._lock:
            self._free += grant.given
            self._until = began + grant.given / PARTS["s"]
        return grant

    def _ask_for(self, job: Claimed, wish: AllowanceRequest) -> BudgetGrant:
        with self._store.write() as session:
            grant = budgets.draw(session, job, wish)
        if grant.over:
            telemetry.info("nothing to spend", **telemetry.about(job), fence=job.fence)
        return grant


class BudgetLedger:
    """The purses of a process; `told` ends what waits for the store."""

    def __init__(self, store: Store, told: threading.Event, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._told, self._clock = store, told, clock
        self._lock = threading.Lock()
        self._purses: dict[str, RunAllowance] = {}

    @contextmanager
    def open(self, run_id: str) -> Iterator[RunAllowance]:
        """Open a run's purse for a conversation; what is in it goes back with the last of them."""
        with self._lock:
            if run_id not in self._purses:
                self._purses[run_id] = RunAllowance(self._store, run_id, self._told, self._clock)
            purse = self._purses[run_id]
            purse.talks += 1
        try:
            yield purse
        finally:
            with self._lock:
                purse.talks -= 1
                self._forget(purse)

    def saved(self, items: Iterable[Item]) -> None:
        """Take in that answers were saved as spent."""
        for item in items:
            if isinstance(item, ModelCall):
                self._spent(item)

    def _spent(self, call: ModelCall) -> None:
        with self._lock:
            purse = self._purses.get(call.run_id)
        if purse is None or purse.budget is None or not call.tries:
            return
        purse.saved(amount_of(purse.budget.unit, call.prompt + call.completion, call.cost))
        with self._lock:
            self._forget(purse)

    def _forget(self, purse: RunAllowance) -> None:
        if purse.is_idle:
            self._purses.pop(purse.run_id, None)


class BudgetedPlatform:
    """A platform that is asked as far as the budget goes, in the conversation of a job."""

    def __init__(self, platform: Platform, job: Claimed, purse: RunAllowance, prices: Prices) -> None:
        self.name, self.model, self.profile = platform.name, platform.model, platform.profile
        self._platform, self._job, self._purse, self._prices = platform, job, purse, prices

    def ask(self, request: ModelRequest, hear: Hear | None = None) -> Reply:
        raise ModelUnavailable("a job's conversation can only be used in its event loop")

    async def ask_async(self, request: ModelRequest) -> Reply:
        budget = await self._purse.look()
        if budget is None:
            return await self._platform.ask_async(request)
        if budget.unit == "usd" and not (self._prices.input or self._prices.output):
            raise StepFailed(
                f"the budget of run {self._purse.run_id} is in dollars, and the model {self.model} has no prices here;"
                " set them in models in jarvis.yaml, or resume the run with a budget in tokens"
            )
        estimated = estimate_request(request)
        worst, taken = self._worst(budget.unit, estimated), 0
        await self._purse.set_aside(self._job, worst)
        try:
            reply = await self._platform.ask_async(request)
            taken = amount_of(budget.unit, reply.usage.total, reply.cost)
        finally:
            self._purse.settle(budget.unit, worst, taken)
        known = self._purse.calibrations
        known[self.model] = known[self.model].learn(estimated, reply.usage.prompt)
        return reply

    def _worst(self, unit: Unit, estimated: int) -> int:
        """Return what an answer takes at most: its prompt, with some room for what was not estimated well."""
        prompt = round(MARGIN * self._purse.calibrations[self.model].tokens(estimated))
        usage = TokenUsage(prompt, self.profile.answer_tokens)
        return max(amount_of(unit, usage.total, cost_of(usage, self._prices)), 1)
