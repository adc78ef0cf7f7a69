"""The sender: notify workers of waiting jobs, fairly and within a window, and repeat lost notifications.

A duplicate notification costs one rejected claim.  A notification is treated as lost and sent again when its queue was
empty at two consecutive ticks, when the next message of the queue is newer by more than a tick, when Redis has lost its
data, or after `resend_seconds`.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from jarvis_workers import telemetry
from jarvis_workers.executors.dispatch.broker import Notification, Notifier
from jarvis_workers.executors.dispatch.routing import POOLS, task_name
from jarvis_workers.store import dispatching
from jarvis_workers.store.dispatching import Sent
from jarvis_workers.store.engine import Store

EXECUTOR = "cluster"
LEAST_SLOTS = 2
MEAN_SECONDS = 0.5
LEAST_MEAN_SECONDS = 0.01
LARGEST_WINDOW = 2000
NOBODY: Mapping[str, int] = {}


class Sender:
    """Sends the notifications of all queues; one per process. Its methods raise StoreError and BrokerUnavailable."""

    def __init__(
        self, store: Store, notifier: Notifier, *, lease_seconds: float, tick_seconds: float, resend_seconds: float
    ) -> None:
        self.store, self.notifier = store, notifier
        self.lease_seconds, self.tick_seconds, self.resend_seconds = lease_seconds, tick_seconds, resend_seconds
        self._was_empty: dict[str, bool] = {}

    def send(self) -> int:
        """Send notifications of waiting jobs; return the number of notifications."""
        return sum(self._send_new(queue) for queue in POOLS)

    def send_again(self) -> int:
        """Repeat lost notifications, and send those of crashed jobs; return their number.

        The elected controller calls it once per tick.  Crashed jobs are sent even if the window is full.
        """
        forgotten = self.notifier.is_new()
        return sum(self._send_again(queue, forgotten) for queue in POOLS)

    def _send_new(self, queue: str) -> int:
        with self.store.read() as session:
            slots = max(LEAST_SLOTS, dispatching.slots(session, queue, self.lease_seconds))
            most = window(slots, self.tick_seconds, dispatching.mean_seconds(session, queue))
            demands = dispatching.demand(session, EXECUTOR, queue, most)
        shares = dispatching.share(demands, most)
        if not shares:
            return 0
        with self.store.write() as session:
            sent = dispatching.mark_sent(session, queue, shares, suspects_last=POOLS[queue].kind == "threads")
        return self._notify(queue, sent, dict.fromkeys(dispatching.newcomers(demands), slots))

    def _send_again(self, queue: str, forgotten: bool) -> int:
        since = self.notifier.waits_since(queue)
        lost = forgotten or (since is None and self._was_empty.get(queue, False))
        self._was_empty[queue] = since is None
        older = self.tick_seconds if lost else self.resend_seconds
        with self.store.write() as session:
            sent = dispatching.resend(session, queue, older, before=(since or 0.0) - self.tick_seconds)
            if POOLS[queue].kind == "prefork":
                slots = max(LEAST_SLOTS, dispatching.slots(session, queue, self.lease_seconds))
                sent += dispatching.mark_crashed_sent(session, EXECUTOR, queue, slots)
        return self._notify(queue, sent)

    def _notify(self, queue: str, sent: Sequence[Sent], ahead: Mapping[str, int] = NOBODY) -> int:
        """Send notifications and return their number.

        The first `ahead[run_id]` notifications of a run are urgent, and those of crashed jobs on a prefork queue.
        """
        # A process with many slots has room for few suspects, so they come last there.
        hurry = POOLS[queue].kind == "prefork"
        left = Counter(ahead)
        notifications = []
        for one in sent:
            urgent = (hurry and one.crashes > 0) or left[one.run_id] > 0
            left[one.run_id] -= 1
            name = task_name(one.kind, one.step)
            notifications.append(Notification(name, queue, one.id, one.run_id, one.label, one.sent_at, urgent=urgent))
        if notifications:
            self.notifier.notify(notifications)
        for notification in notifications:
            telemetry.debug(
                "sent", job=notification.job, run=notification.run, label=notification.label, task=notification.task
            )
        return len(notifications)


def window(slots: int, tick_seconds: float, mean_seconds: float | None) -> int:
    """Return how many jobs may be sent and unfinished, so that all slots are busy until the next tick."""
    mean = max(LEAST_MEAN_SECONDS, MEAN_SECONDS if mean_seconds is None else mean_seconds)
    return min(LARGEST_WINDOW, math.ceil(slots * (2 + tick_seconds / mean)))
