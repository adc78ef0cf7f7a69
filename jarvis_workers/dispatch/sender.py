"""Ring for jobs that wait: as many as the workers can soon take, fairly, and again for those nobody heard of.

A duplicate costs one refused claim; a lost message is rung again when its queue has been empty
twice, when the next message there is younger by a tick, when Redis has forgotten its epoch, or
after `resend_seconds`.
"""

import math
from collections.abc import Iterable

from jarvis_workers.dispatch.broker import Doorbell, Ring
from jarvis_workers.dispatch.routes import POOLS, task_name
from jarvis_workers.store import sending
from jarvis_workers.store.engine import Store
from jarvis_workers.store.sending import Sent

EXECUTOR = "cluster"
LEAST_SLOTS = 2
MEAN_SECONDS = 0.5
LEAST_MEAN_SECONDS = 0.01
LARGEST_WINDOW = 2000


class Sender:
    """Sends for every queue; one a process. Raises StoreError and BrokerUnavailable."""

    def __init__(
        self, store: Store, bell: Doorbell, *, lease_seconds: float, tick_seconds: float, resend_seconds: float
    ) -> None:
        self.store, self.bell = store, bell
        self.lease_seconds, self.tick_seconds, self.resend_seconds = lease_seconds, tick_seconds, resend_seconds
        self._was_empty: dict[str, bool] = {}

    def send(self) -> int:
        """Ring for what waits; return how many messages."""
        return sum(self._send_new(queue) for queue in POOLS)

    def send_again(self) -> int:
        """Ring again for what was sent and is not heard of; for the elected controller, once a tick."""
        forgotten = self.bell.is_new()
        return sum(self._send_again(queue, forgotten) for queue in POOLS)

    def _send_new(self, queue: str) -> int:
        with self.store.read() as session:
            demands = sending.demand(session, EXECUTOR, queue, LARGEST_WINDOW)
        shares = sending.share(demands, self._window(queue)) if any(one.waiting for one in demands) else {}
        if not shares:
            return 0
        with self.store.write() as session:
            sent = sending.mark_sent(session, queue, shares, suspects_last=POOLS[queue].kind == "threads")
        return self._ring(queue, sent)

    def _window(self, queue: str) -> int:
        with self.store.read() as session:
            slots = max(LEAST_SLOTS, sending.slots(session, queue, self.lease_seconds))
            mean = sending.mean_seconds(session, queue)
        return window(slots, self.tick_seconds, mean)

    def _send_again(self, queue: str, forgotten: bool) -> int:
        since = self.bell.waits_since(queue)
        lost = forgotten or (since is None and self._was_empty.get(queue, False))
        self._was_empty[queue] = since is None
        older = self.tick_seconds if lost else self.resend_seconds
        with self.store.write() as session:
            sent = sending.resend(session, queue, older, before=(since or 0.0) - self.tick_seconds)
        return self._ring(queue, sent)

    def _ring(self, queue: str, sent: Iterable[Sent]) -> int:
        # What was lost once has waited long enough; in a pool of many slots, suspects had better come last.
        hurry = POOLS[queue].kind == "prefork"
        rings = [
            Ring(
                task_name(one.kind, one.step),
                queue,
                one.id,
                one.run_id,
                one.label,
                one.sent_at,
                urgent=hurry and one.crashes > 0,
            )
            for one in sent
        ]
        if rings:
            self.bell.ring(rings)
        return len(rings)


def window(slots: int, tick_seconds: float, mean_seconds: float | None) -> int:
    """Return how many jobs may be outstanding, so that the slots are busy until the next tick."""
    mean = max(LEAST_MEAN_SECONDS, MEAN_SECONDS if mean_seconds is None else mean_seconds)
    return min(LARGEST_WINDOW, math.ceil(slots * (2 + tick_seconds / mean)))
