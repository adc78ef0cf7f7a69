"""Notify a web address of the end of each run.

Workers, and commands that execute runs themselves, send due notifications. A lease allows one process at a time to
send, and an event records each notified end: a run is notified once, or again with the same id if a process dies in
between.
"""

import hmac
import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from secrets import token_hex
from typing import Any, NamedTuple

from tenacity import Retrying, retry_if_result, stop_after_attempt, wait_exponential

from jarvis_workers import telemetry
from jarvis_workers.conversations.web_fetch import open_without_redirects
from jarvis_workers.dispatch.outages import TOLERATED
from jarvis_workers.errors import SettingsError, SnapshotError, StoreError
from jarvis_workers.paths import plain
from jarvis_workers.service.labels import project_of
from jarvis_workers.service.reports.totals import TotalsCache
from jarvis_workers.service.run_facts import rounded_cost
from jarvis_workers.service.run_pages import usage_of_runs
from jarvis_workers.service.runs import labels_of
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import leases, notifications
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

LEASE = "webhook"
LEASE_SECONDS = 90.0
TIMEOUT_SECONDS = 5.0
ATTEMPTS = 4
BATCH = 100
RECENT_SECONDS = 24 * 3600.0
TEMPORARY = (408, 425, 429, 500, 502, 503, 504)
ERROR_MAX = 200


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
        key = notify.webhook_secret_file.read_bytes().strip()
    except OSError as error:
        raise SettingsError(f"notify.webhook_secret_file: cannot be read: {error.strerror}") from error
    if not key:
        raise SettingsError("notify.webhook_secret_file: is empty")
    return Webhook(notify.webhook_url, key)


def deliver_pending(store: Store, blobs: Blobs, webhook: Webhook) -> int:
    """Send due notifications, unless another process is sending; return the number of runs.

    Raises StoreError, also if a run is removed while its notification is sent.
    """
    holder, number = f"{os.getpid()}-{token_hex(4)}", 0
    try:
        while number < BATCH:
            with store.write() as session:
                if not leases.take(session, LEASE, holder, LEASE_SECONDS):
                    return number
                due = notifications.pending(session, RECENT_SECONDS)
            if due is None:
                break
            _deliver(store, blobs, webhook, due)
            number += 1
    finally:
        with store.write() as session:
            leases.release(session, LEASE, holder)
    return number


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
    totals = None
    with suppress(SnapshotError):
        totals = TotalsCache().read(store, blobs, [run]).get(run.id)
    facts = {name: getattr(run, name) for name in ("id", "kind", "state", "reason", "root", "created_at", "ended_at")}
    return {
        "run": facts | {"project": project_of(run, labels), "labels": labels},
        "findings": {"total": totals.total, **totals.by_severity} if totals else None,
        "not_checked": totals.not_checked if totals else None,
        "cost": rounded_cost(usage.cost) if usage else 0.0,
    }
