"""Run budgets with reservations: a request is sent only after its worst-case cost is reserved.

The conversations of a process share an allowance for each run. The allowance is acquired from the store
(`store/budgets`) in parts; a request reserves its maximum cost, and the actual cost counts as spent when the answer is
saved. If nothing is left, callers block while any process still holds an unspent reservation; then the run is paused.
No answer is cut off.  Amounts are in integer subunits of the budget's unit (`models/ratelimit/budget.PARTS`).
"""

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from jarvis_workers import telemetry
from jarvis_workers.errors import BudgetSpent
from jarvis_workers.models.ratelimit.budget import PARTS, RunBudget, Unit, amount_of
from jarvis_workers.models.ratelimit.token_calibration import Calibration
from jarvis_workers.pipeline.store_retry import retry_store
from jarvis_workers.store import budgets
from jarvis_workers.store.budgets import AllowanceRequest, BudgetGrant
from jarvis_workers.store.engine import Store
from jarvis_workers.store.transcripts import Item, ModelCall
from jarvis_workers.store.values import Claimed

# How often a blocked caller polls the store: the end of another process's reservation is not announced.
POLL_SECONDS = 0.5


class RunAllowance:
    """The part of a run's budget that the conversations of this process may spend.

    `conversations` is the number of open conversations; `calibrations` correct estimated prompt tokens, by model.
    `stop` ends the wait for an unavailable store.
    """

    def __init__(self, store: Store, run_id: str, stop: threading.Event, clock: Callable[[], float]) -> None:
        self.run_id, self.conversations = run_id, 0
        self.budget: RunBudget | None = None
        self.calibrations: defaultdict[str, Calibration] = defaultdict(Calibration)
        self._store, self._stop, self._clock = store, stop, clock
        self._is_loaded = False
        self._free = self._reserved = self._unsaved = 0
        self._until = 0.0
        self._lock, self._turn, self._changed = threading.Lock(), asyncio.Lock(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no conversation uses the allowance and all of its spending is saved."""
        return not self.conversations and self._unsaved <= 0

    async def load_budget(self) -> RunBudget | None:
        """Return the run's budget, or None if it has none; the budget is read from the store once."""
        if self._is_loaded:
            return self.budget
        async with self._turn:
            if not self._is_loaded:
                self._set_budget(await asyncio.to_thread(retry_store, self._find, self._stop))
        return self.budget

    async def reserve(self, job: Claimed, worst: int) -> None:
        """Reserve the worst-case cost of an answer, blocking while other reservations are open; raises BudgetSpent."""
        async with self._turn:
            self._loop = asyncio.get_running_loop()
            while not self._take(worst):
                self._changed.clear()
                grant = await asyncio.to_thread(self._draw, job, worst)
                if grant.over:
                    self._is_loaded = False  # a resumed run may have a new budget
                    raise BudgetSpent(f"run {self.run_id} is not running, or has spent its budget")
                if not grant.amount:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._changed.wait(), POLL_SECONDS)

    def settle(self, unit: Unit, worst: int, actual: int) -> None:
        """Release a reservation and count its actual cost, unless the unit of the budget has changed meanwhile."""
        with self._lock:
            if self.budget and self.budget.unit == unit:
                self._reserved -= worst
                self._unsaved += actual
                self._free += worst - actual
        self._changed.set()

    def mark_saved(self, actual: int) -> None:
        """Record that the store counts this cost as spent. Thread-safe."""
        with self._lock:
            self._unsaved -= actual
        if self._loop:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._changed.set)

    def calibrate(self, model: str, estimated: int, reported: int) -> None:
        """Correct the estimates for a model by the prompt tokens that its server reported."""
        self.calibrations[model] = self.calibrations[model].learn(estimated, reported)

    def _set_budget(self, budget: RunBudget | None) -> None:
        with self._lock:
            if self.budget and budget and self.budget.unit != budget.unit:
                self._free = self._reserved = self._unsaved = 0
            self.budget, self._is_loaded = budget, True

    def _take(self, worst: int) -> bool:
        with self._lock:
            timed = self.budget is not None and self.budget.unit == "s"
            enough = self._clock() < self._until if timed else self._free >= worst
            if enough:
                self._free -= worst
                self._reserved += worst
            return enough

    def _find(self) -> RunBudget | None:
        with self._store.read() as session:
            return budgets.find(session, self.run_id)

    def _draw(self, job: Claimed, worst: int) -> BudgetGrant:
        """Draw a new allowance and return the unreserved remainder of the old one, for other processes to use."""
        assert self.budget is not None
        with self._lock:
            self._free, committed = 0, max(self._reserved + self._unsaved, 0)
        began = self._clock()
        wish = AllowanceRequest(self.budget.unit, committed, worst, worst * max(self.conversations, 1))
        grant = retry_store(lambda: self._request(job, wish), self._stop)
        with self._lock:
            self._free += grant.amount
            self._until = began + grant.amount / PARTS["s"]
        return grant

    def _request(self, job: Claimed, wish: AllowanceRequest) -> BudgetGrant:
        with self._store.write() as session:
            grant = budgets.draw(session, job, wish)
        if grant.over:
            telemetry.info("budget exhausted", **telemetry.about(job), fence=job.fence)
        return grant


class BudgetLedger:
    """The allowances of a process by run; `stop` ends the wait for an unavailable store."""

    def __init__(self, store: Store, stop: threading.Event, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._stop, self._clock = store, stop, clock
        self._lock = threading.Lock()
        self._allowances: dict[str, RunAllowance] = {}

    @contextmanager
    def open(self, run_id: str) -> Iterator[RunAllowance]:
        """Open a run's allowance for a conversation; it is dropped when the last conversation of the run ends."""
        with self._lock:
            if run_id not in self._allowances:
                self._allowances[run_id] = RunAllowance(self._store, run_id, self._stop, self._clock)
            allowance = self._allowances[run_id]
            allowance.conversations += 1
        try:
            yield allowance
        finally:
            with self._lock:
                allowance.conversations -= 1
                self._drop_idle(allowance)

    def mark_saved(self, items: Iterable[Item]) -> None:
        """Record that the costs of these items are saved in the store."""
        for item in items:
            if isinstance(item, ModelCall):
                self._mark_saved(item)

    def _mark_saved(self, call: ModelCall) -> None:
        with self._lock:
            allowance = self._allowances.get(call.run_id)
        if allowance is None or allowance.budget is None or not call.tries:
            return
        allowance.mark_saved(amount_of(allowance.budget.unit, call.prompt + call.completion, call.cost))
        with self._lock:
            self._drop_idle(allowance)

    def _drop_idle(self, allowance: RunAllowance) -> None:
        if allowance.is_idle:
            self._allowances.pop(allowance.run_id, None)
