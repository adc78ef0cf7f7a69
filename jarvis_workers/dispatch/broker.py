"""The broker: a Celery app on Redis that notifies workers of waiting jobs; no state in it is essential.

No result backend, no prefetch, no gossip; early acknowledgement, as the lease in the store is
what recovers a lost job. Redis may be flushed at any time.
"""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import Any, NamedTuple

import redis
from celery import Celery
from kombu import Exchange, Queue
from kombu.exceptions import OperationalError
from redis.backoff import NoBackoff
from redis.retry import Retry

from jarvis_workers.dispatch.routing import POOLS, queue_key
from jarvis_workers.errors import BrokerUnavailable

NO_ADDRESS = "JARVIS_BROKER_URL: not a Redis address such as redis://localhost:6379/0"
EPOCH_KEY = "jarvis:epoch"
SENT_AT = "sent_at"
CONNECT_SECONDS = 2
# A silent connection is noticed after this, by whoever sends, or twice this, by who waits for messages.
SOCKET_SECONDS = HEALTH_SECONDS = 5
# What others may have put on a queue between the two steps of an urgent ring.
MOST_BETWEEN = 1000
# Between the two steps others ring too: what goes to the front must be the message itself, not the newest.
TO_THE_FRONT = """
for place = 0, tonumber(ARGV[2]) - 1 do
  local message = redis.call('LINDEX', KEYS[1], place)
  if not message then return 0 end
  if string.find(message, ARGV[1], 1, true) then
    redis.call('LREM', KEYS[1], 1, message)
    return redis.call('RPUSH', KEYS[1], message)
  end
end
return 0
"""


class Notification(NamedTuple):
    """A notification: the job, and what Flower shows of it. Urgent ones go first in their queue."""

    task: str
    queue: str
    job: int
    run: str
    label: str
    sent_at: float
    urgent: bool = False


def make_app(broker_url: str) -> Celery:
    """Return the app that workers and senders share."""
    app = Celery("jarvis", broker=broker_url, backend=None, set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        task_queues=[Queue(key, Exchange(key, type="direct"), routing_key=key) for key in map(queue_key, POOLS)],
        task_default_queue=queue_key("control"),
        task_create_missing_queues=False,
        task_acks_late=False,
        worker_disable_prefetch=True,
        # Whoever can write to Redis could end workers by it; Flower's tables are made from events.
        worker_enable_remote_control=False,
        worker_prefetch_multiplier=1,
        worker_send_task_events=True,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_timeout=CONNECT_SECONDS,
        broker_transport_options={
            "socket_timeout": SOCKET_SECONDS,
            "socket_connect_timeout": CONNECT_SECONDS,
            "socket_keepalive": True,
            "health_check_interval": HEALTH_SECONDS,
            # What is taken off a queue and lost is sent again by the store's word, not from a list in Redis.
            "ack_emulation": False,
        },
    )
    return app


class Notifier:
    """Sends notifications of jobs. The sender repeats those that cannot be sent now."""

    def __init__(self, broker_url: str) -> None:
        self._redis = connect(broker_url)
        self.app = make_app(broker_url)
        self.app.conf.broker_transport_options["max_retries"] = 0
        self._where = _address(self.app)
        self._to_the_front = self._redis.register_script(TO_THE_FRONT)

    def check(self) -> None:
        """Raise BrokerUnavailable unless Redis answers."""
        with self._speaking():
            self._redis.ping()

    def describe(self) -> dict[str, str]:
        """Return version, memory in use, eviction policy and persistence of Redis."""
        with self._speaking():
            facts = self._redis.info()
        saves = "append-only file" if facts.get("aof_enabled") else "snapshots" if self._snapshots() else "none"
        return {
            "version": str(facts.get("redis_version", "of unknown version")),
            "memory": f"{facts.get('used_memory_human', 'unknown')} in use",
            "share": str(facts.get("used_memory", 0) / (facts.get("maxmemory") or math.inf)),
            "eviction": str(facts.get("maxmemory_policy", "unknown")),
            "persistence": saves,
        }

    def _snapshots(self) -> bool:
        """Say whether Redis saves by itself; a managed one may not tell."""
        try:
            return bool(self._redis.config_get("save").get("save"))
        except redis.ResponseError:
            return True

    def notify(self, notifications: Sequence[Notification]) -> None:
        """Put messages on their queues."""
        with self._speaking(), self.app.producer_pool.acquire(block=True, timeout=SOCKET_SECONDS) as producer:
            for one in notifications:
                if not one.urgent:
                    self._put(producer, one, one.sent_at)
            # The last of the urgent is put in front first.
            for one in reversed(notifications):
                if one.urgent:
                    said = self._put(producer, one, min(one.sent_at, self.waits_since(one.queue) or one.sent_at))
                    self._to_the_front(keys=[queue_key(one.queue)], args=[said, MOST_BETWEEN])

    def _put(self, producer: Any, one: Notification, sent_at: float) -> str:
        """Send a message, return its id. One that overtakes is as old as what it overtakes: it says nothing of that."""
        sent = self.app.send_task(
            one.task,
            args=[one.job],
            kwargs={"run": one.run, "label": one.label},
            queue=queue_key(one.queue),
            headers={SENT_AT: sent_at},
            producer=producer,
            ignore_result=True,
            retry=False,
        )
        return str(sent.id)

    def depth(self, queue: str) -> int:
        """Return how many messages wait on a queue."""
        with self._speaking():
            return int(self._redis.llen(queue_key(queue)))

    def waits_since(self, queue: str) -> float | None:
        """Return when the next message of a queue was sent, None if there is none: what was sent before is gone."""
        with self._speaking():
            message = self._redis.lindex(queue_key(queue), -1)
        return _sent_at(message) if message else None

    def is_new(self) -> bool:
        """Return whether Redis has lost its data since the last call of any process."""
        with self._speaking():
            return bool(self._redis.set(EPOCH_KEY, token_hex(8), nx=True))

    def close(self) -> None:
        """Give back the connections."""
        self._redis.close()
        self.app.close()

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        try:
            yield
        except (redis.RedisError, OperationalError, OSError) as error:
            said = str(error).strip().splitlines()
            raise BrokerUnavailable(
                f"{self._where}: {said[0] if said else type(error).__name__}; is Redis running? see JARVIS_BROKER_URL"
            ) from error


def _sent_at(message: bytes | str) -> float:
    """Return when a message was sent; what is not ours, in a Redis that others use too, says nothing about that."""
    try:
        return float(json.loads(message)["headers"].get(SENT_AT, 0.0))
    except (AttributeError, KeyError, TypeError, ValueError):
        return 0.0


def connect(url: str) -> redis.Redis:
    """Return a client that asks once: whoever asks has a tick to come back to."""
    try:
        return redis.Redis.from_url(
            url,
            socket_timeout=CONNECT_SECONDS,
            socket_connect_timeout=CONNECT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
    except ValueError as error:
        raise BrokerUnavailable(NO_ADDRESS) from error


def _address(app: Celery) -> str:
    """Return the broker's address without its password, if Celery can make something of it: it takes fewer forms."""
    try:
        connection = app.connection_for_write()
        int((connection.virtual_host or "").strip("/") or 0)
        return str(connection.as_uri())
    except (KeyError, TypeError, ValueError) as error:
        raise BrokerUnavailable(NO_ADDRESS) from error
