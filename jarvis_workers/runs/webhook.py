"""Notify a web address of the end of each run.

Workers send the due notifications of all runs of their store, and a command those of the runs that it has executed. A
lease allows one process at a time to send, and an event records each notified end: a run is notified once, or again
with the same id if a process dies in between.
"""

import hmac
import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from secrets import token_hex
from typing import Any, NamedTuple

from tenacity import Retrying, retry_if_result, stop_after_attempt, wait_exponential

from jarvis_workers import telemetry
from jarvis_workers.agents.conversations.web_fetch import open_without_redirects
from jarvis_workers.errors import SettingsError, SnapshotError, StoreError
from jarvis_workers.executors.dispatch.outages import TOLERATED
from jarvis_workers.paths import plain, read_regular
from jarvis_workers.pipeline.stages import TOTALS_OF_FINDINGS, find_kind, function_of
from jarvis_workers.runs.labels import project_of
from jarvis_workers.runs.run_facts import rounded_cost
from jarvis_workers.runs.run_pages import usage_of_runs
from jarvis_workers.runs.runs import labels_of
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import leases, notifications
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

LEASE = "webhook"
LEASE_SECONDS = 90.0
LEASE_ATTEMPTS, LEASE_POLL_SECONDS = 60, 0.5
TIMEOUT_SECONDS = 5.0
ATTEMPTS = 4
BATCH = 100
# A day, and a step of the database's clock by another one.
RECENT_SECONDS = 48 * 3600.0
TEMPORARY = (408, 425, 429, 500, 502, 503, 504)
ERROR_MAX = 200
KEY_BYTES = 16_384
NO_TOTALS: dict[str, Any] = {"findings": None, "not_checked": None}


class _Answer(NamedTuple):
    """The outcome of an attempt; `is_temporary` means that another one may succeed."""

    outcome: str
    is_temporary: bool = False


@dataclass(frozen=True)
class Webhook:
    """The address, the key that signs (None: unsigned), and `sleep` between attempts."""

    url: str
    key: bytes | None = None
    sleep: Callable[[float], None] = time.sleep

    def send(self, delivery: str, content: bytes) -> str:
        """Send a notification with bounded attempts; return the outcome, "delivered" or the error."""
        attempts = Retrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_exponential(multiplier=0.5, max=4),
            retry=retry_if_result(lambda answer: answer.is_temporary),
            retry_error_callback=lambda last: last.outcome and last.outcome.result(),
            sleep=self.sleep,
        )
        answer: _Answer = attempts(self._post, delivery, content)
        return plain(answer.outcome)[:ERROR_MAX]

    def _post(self, delivery: str, content: bytes) -> _Answer:
        moment = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "jarvis-workers",
            "X-Jarvis-Delivery": delivery,
            "X-Jarvis-Timestamp": moment,
        }
        if self.key:
            digest = hmac.digest(self.key, f"{moment}.".encode() + content, "sha256").hex()
            headers["X-Jarvis-Signature"] = f"sha256={digest}"
        try:
            request = urllib.request.Request(self.url, content, headers, method="POST")
            with open_without_redirects(request, TIMEOUT_SECONDS):
                return _Answer("delivered")
        except urllib.error.HTTPError as error:
            error.close()
            return _Answer(f"HTTP status {error.code}", error.code in TEMPORARY)
        except OSError as error:
            return _Answer(f"{type(error).__name__}: {error}", is_temporary=True)
        except (HTTPException, ValueError) as error:  # their texts quote the address, which may hold a secret
            return _Answer(type(error).__name__, is_temporary=isinstance(error, HTTPException))


def webhook_of(settings: Settings) -> Webhook | None:
    """Return the webhook of the settings, or None if none is set. Raises SettingsError."""
    notify = settings.notify
    if notify.webhook_url is None:
        return None
    if notify.webhook_secret_file is None:
        return Webhook(notify.webhook_url)
    try:
        key = read_regular(notify.webhook_secret_file, KEY_BYTES)[:KEY_BYTES].strip()
    except OSError as error:
        raise SettingsError(f"notify.webhook_secret_file: cannot be read: {error.strerror}") from error
    if not key:
        raise SettingsError("notify.webhook_secret_file: is empty")
    return Webhook(notify.webhook_url, key)


def deliver_pending(store: Store, blobs: Blobs, webhook: Webhook, only: Collection[str] | None = None) -> int:
    """Send due notifications, unless another process is sending; return their number.

    With `only`, those of other runs are left to workers, and a process that is sending is waited for.
    Raises StoreError, also if a run is removed while its notification is sent.
    """
    holder, number = f"{os.getpid()}-{token_hex(4)}", 0
    try:
        while number < BATCH:
            if not _may_send(store, holder, webhook, attempts=1 if only is None else LEASE_ATTEMPTS):
                return number
            with store.read() as session:
                due = notifications.pending(session, RECENT_SECONDS, only)
            if due is None:
                break
            _deliver(store, blobs, webhook, due)
            number += 1
    finally:
        with store.write() as session:
            leases.release(session, LEASE, holder)
    return number


def _may_send(store: Store, holder: str, webhook: Webhook, attempts: int) -> bool:
    """Take or extend the lease that allows this process to send."""
    for attempt in range(attempts):
        if attempt:
            webhook.sleep(LEASE_POLL_SECONDS)
        with store.write() as session:
            if leases.take(session, LEASE, holder, LEASE_SECONDS):
                return True
    return False


def notify_forever(store: Store, blobs: Blobs, webhook: Webhook, stop: threading.Event, tick_seconds: float) -> None:
    """Send due notifications on each tick until `stop` is set; problems with the store are logged."""
    while not stop.wait(tick_seconds):
        try:
            deliver_pending(store, blobs, webhook)
        except (StoreError, *TOLERATED) as error:
            telemetry.warning("webhook failed", says=str(error))


def _deliver(store: Store, blobs: Blobs, webhook: Webhook, run: Run) -> None:
    delivery = f"{run.id}-{int((run.ended_at or 0.0) * 1000)}"
    content = json.dumps({"event": "run.ended", "delivery": delivery, **run_ended(store, blobs, run)}).encode()
    outcome = webhook.send(delivery, content)
    telemetry.info("webhook", run=run.id, outcome=outcome)
    with store.write() as session:
        notifications.record(session, run.id, outcome)


def run_ended(store: Store, blobs: Blobs, run: Run) -> Mapping[str, Any]:
    """Return the content of the notification of a run."""
    labels = labels_of(store, [run.id])[run.id]
    usage = usage_of_runs(store, [run]).get(run.id)
    facts = {name: getattr(run, name) for name in ("id", "kind", "state", "reason", "root", "created_at", "ended_at")}
    return {
        "run": facts | {"project": project_of(run, labels), "labels": labels},
        **(NO_TOTALS | _totals(store, blobs, run)),
        "cost": rounded_cost(usage.cost) if usage else 0.0,
    }


def _totals(store: Store, blobs: Blobs, run: Run) -> dict[str, Any]:
    """Return the numbers of a run, empty for a kind without any."""
    kind = find_kind(run.kind)
    name = kind and (kind.totals or (TOTALS_OF_FINDINGS if kind.has_findings else None))
    if name is None:
        return {}
    with suppress(SnapshotError):
        totals: dict[str, Any] = function_of(name)(store, blobs, run)
        return totals
    return {}
