"""The broker: a Celery app on Redis that notifies workers of waiting jobs; none of its state is essential.

No result backend, no prefetch, no gossip. Messages are acknowledged early, since a lost job is recovered through its
lease in the store. Redis may be flushed at any time.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import Any, NamedTuple

import redis
from celery import Celery
from kombu import Exchange, Queue
from kombu.exceptions import ChannelError, KombuError

from jarvis_workers.executors.dispatch.broker_errors import broker_error, parse_broker_address
from jarvis_workers.executors.dispatch.routing import POOLS, queue_key

EPOCH_KEY = "jarvis:epoch"
SENT_AT = "sent_at"
# What workers and senders do, on keys of its own that do not outlive the transaction.
LIST_KEY, SET_KEY, ORDERED_KEY = "jarvis:probe", "_kombu.binding.jarvis.probe", "_kombu.binding_probe"
PROBE_SCRIPT = "return 0"
PROBE = (
    ("LPUSH", LIST_KEY, "1"),
    ("RPUSH", LIST_KEY, "1"),
    ("LLEN", LIST_KEY),
    ("LINDEX", LIST_KEY, "-1"),
    ("LREM", LIST_KEY, "1", "1"),
    ("BRPOP", LIST_KEY, "1"),
    ("SET", LIST_KEY, "1"),
    ("GET", LIST_KEY),
    ("TIME",),
    ("SCRIPT LOAD", PROBE_SCRIPT),
    ("EVAL", PROBE_SCRIPT, "0"),
    ("EVALSHA", hashlib.sha1(PROBE_SCRIPT.encode(), usedforsecurity=False).hexdigest(), "0"),
    ("SADD", SET_KEY, "1"),
    ("SREM", SET_KEY, "1"),
    ("ZADD", ORDERED_KEY, "1", "1"),
    ("ZRANGEBYSCORE", ORDERED_KEY, "0", "1"),
    ("DEL", LIST_KEY, SET_KEY, ORDERED_KEY),
)
CONNECT_SECONDS = 2
# Senders detect a dead connection after this many seconds, consumers after twice as many.
SOCKET_SECONDS = HEALTH_SECONDS = 5
# The maximum number of messages that other senders may have queued between the two steps of an urgent notification.
MOST_BETWEEN = 1000
# Other processes send between the two steps: the script finds the message by its id, since newer ones may exist.
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
    """A notification: a job, and the names that Flower shows. An urgent one goes to the front of its queue."""

    task: str
    queue: str
    job: int
    run: str
    label: str
    sent_at: float
    urgent: bool = False


class BrokerApp(Celery):
    """A Celery app whose broker is that of the settings; Celery itself prefers the variable CELERY_BROKER_URL."""

    own_url = ""

    def connection(self, hostname: str | None = None, **options: Any) -> Any:  # type: ignore[override]
        """Return a connection, to this app's broker by default."""
        return super().connection(hostname or self.own_url, **options)

    def connection_for_read(self, url: str | None = None, **options: Any) -> Any:
        """Return a connection for consumers."""
        return super().connection_for_read(url or self.own_url, **options)

    def connection_for_write(self, url: str | None = None, **options: Any) -> Any:
        """Return a connection for producers."""
        return super().connection_for_write(url or self.own_url, **options)


def make_app(broker_url: str) -> Celery:
    """Return the app that workers and senders share. Raises BrokerRefused for an address that cannot be used."""
    app = BrokerApp("jarvis", backend=None, set_as_current=False)
    transport_options = {
        "socket_timeout": SOCKET_SECONDS,
        "socket_connect_timeout": CONNECT_SECONDS,
        "socket_keepalive": True,
        "health_check_interval": HEALTH_SECONDS,
        # Lost messages are sent again from the store, not restored from a list in Redis.
        "ack_emulation": False,
    }
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
        # Any client of Redis could end workers by remote control. Flower needs events only.
        worker_enable_remote_control=False,
        worker_prefetch_multiplier=1,
        worker_send_task_events=True,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        # Redis answers with errors during a failover or while it loads its data; these must not end the pool.
        broker_channel_error_retry=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=CONNECT_SECONDS,
        worker_consumer="jarvis_workers.executors.dispatch.consumer:Consumer",
        **(settings := parse_broker_address(broker_url).celery_settings(transport_options)),
    )
    app.own_url = settings["broker_url"]
    return app


class Notifier:
    """Sends notifications of jobs. Notifications that fail are repeated by the sender (`sender.Sender`)."""

    def __init__(self, broker_url: str) -> None:
        self._where = str(parse_broker_address(broker_url))
        self._redis = connect(broker_url)
        self.app = make_app(broker_url)
        self.app.conf.broker_transport_options["max_retries"] = 0
        self._to_the_front = self._redis.register_script(TO_THE_FRONT)

    def check(self) -> None:
        """Raise BrokerUnavailable unless Redis responds, and lets this user write and run scripts.

        A transaction with a command that is refused is not executed at all.
        """
        with self._speaking(), self._redis.pipeline() as probe:
            for command in PROBE:
                probe.execute_command(*command)  # type: ignore[no-untyped-call]
            probe.execute()

    def describe(self) -> dict[str, str]:
        """Return the version, memory use, eviction policy and persistence of Redis."""
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
        """Return whether Redis saves snapshots; a managed Redis that hides its configuration is assumed to."""
        try:
            return bool(self._redis.config_get("save").get("save"))
        except redis.ResponseError:
            return True

    def notify(self, notifications: Sequence[Notification]) -> None:
        """Put notifications on their queues, urgent ones at the front."""
        with self._speaking(), self.app.producer_pool.acquire(block=True, timeout=SOCKET_SECONDS) as producer:
            for one in notifications:
                if not one.urgent:
                    self._put(producer, one, one.sent_at)
            # In reverse, so that urgent messages keep their order at the front.
            for one in reversed(notifications):
                if one.urgent:
                    was_sent = self._put(producer, one, min(one.sent_at, self.waits_since(one.queue) or one.sent_at))
                    self._to_the_front(keys=[queue_key(one.queue)], args=[was_sent, MOST_BETWEEN])

    def _put(self, producer: Any, one: Notification, sent_at: float) -> str:
        """Send a message and return its id; an urgent one has the `sent_at` of the message that it overtakes."""
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
        """Return the number of messages on a queue."""
        with self._speaking():
            return int(self._redis.llen(queue_key(queue)))

    def waits_since(self, queue: str) -> float | None:
        """Return when the next message of a queue was sent, None if it is empty; older messages have left the queue."""
        with self._speaking():
            message = self._redis.lindex(queue_key(queue), -1)
        return _sent_at(message) if message else None

    def is_new(self) -> bool:
        """Return whether Redis has lost its data since the last call by any process."""
        with self._speaking():
            return bool(self._redis.set(EPOCH_KEY, token_hex(8), nx=True))

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()
        self.app.close()

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        try:
            yield
        except (redis.RedisError, KombuError, ChannelError, OSError) as error:
            raise broker_error(error, self._where) from error


def _sent_at(message: bytes | str) -> float:
    """Return when a message was sent; 0 for messages of other applications that use the same Redis."""
    try:
        return float(json.loads(message)["headers"].get(SENT_AT, 0.0))
    except (AttributeError, KeyError, TypeError, ValueError):
        return 0.0


def connect(url: str) -> redis.Redis:
    """Return a client without retries. Raises BrokerRefused for an address that cannot be used."""
    return parse_broker_address(url).client(CONNECT_SECONDS)
