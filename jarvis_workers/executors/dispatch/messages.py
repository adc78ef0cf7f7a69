"""Message validation: accept only messages that name a job, and drop all others with a warning.

Redis is not trusted: any of its clients can put anything on a queue.  Each message taken off a queue is parsed, and a
new message is built from the job, task and arguments only.  So Celery never gets a header that would kill a process
(`timelimit`), delay a job (`eta`, `expires`) or send other tasks (`chain`, `callbacks`), nor undecodable bytes, which
would end the pool.
"""

import base64
import json
from collections.abc import Collection
from typing import Annotated, Any
from uuid import UUID, uuid4

import redis
from kombu.transport import TRANSPORT_ALIASES
from kombu.transport import redis as kombu_redis
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from jarvis_workers import telemetry
from jarvis_workers.executors.dispatch.broker import SENT_AT
from jarvis_workers.executors.dispatch.routing import task_names

# A label has 200 characters, each of up to 12 bytes in JSON; a message has it in the headers and, in base64, the body.
MESSAGE_BYTES_MAX = 64 << 10
SHOWN_BYTES = 80
STRICT = ConfigDict(strict=True, allow_inf_nan=False)


class Headers(BaseModel):
    """The headers of a task message (Celery's protocol 2) that are copied to the new message."""

    model_config = STRICT
    task: str
    id: UUID
    sent_at: float = 0.0


class Envelope(BaseModel):
    """A message on a queue; `body` is base64."""

    model_config = STRICT
    headers: Headers
    body: str


class TaskArguments(BaseModel):
    """The keyword arguments of a task, for display in Flower."""

    model_config = ConfigDict(strict=True, extra="forbid")
    run: Annotated[str, Field(max_length=200)]
    label: Annotated[str, Field(max_length=200)]


Body = TypeAdapter(tuple[tuple[Annotated[int, Field(gt=0, lt=2**63, strict=True)]], TaskArguments, Any])


def sanitize(raw: bytes, queue: str, tasks: Collection[str]) -> bytes | None:
    """Return a message with only the task, id and arguments of `raw`; None if `raw` does not name a job."""
    if len(raw) > MESSAGE_BYTES_MAX:
        return None
    try:
        envelope = Envelope.model_validate_json(raw)
        (job,), names, _ = Body.validate_json(base64.b64decode(envelope.body, validate=True))
    except ValueError:
        return None
    return _message(envelope.headers, job, names, queue) if envelope.headers.task in tasks else None


def _message(headers: Headers, job: int, names: TaskArguments, queue: str) -> bytes:
    named = names.model_dump()
    body = json.dumps([[job], named, {"callbacks": None, "errbacks": None, "chain": None, "chord": None}])
    task_id = str(headers.id)
    message = {
        "body": base64.b64encode(body.encode()).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {
            "lang": "py",
            "task": headers.task,
            "id": task_id,
            "root_id": task_id,
            "parent_id": None,
            "argsrepr": repr([job]),
            "kwargsrepr": repr(named),
            "ignore_result": True,
            SENT_AT: headers.sent_at,
        },
        "properties": {
            "correlation_id": task_id,
            "delivery_info": {"exchange": queue, "routing_key": queue},
            "delivery_tag": str(uuid4()),
            "body_encoding": "base64",
            "priority": 0,
        },
    }
    return json.dumps(message).encode()


class Client(redis.StrictRedis):
    """A Redis client that sanitizes each message taken off a queue, and drops those that do not name a job."""

    def parse_response(self, connection: Any, command_name: Any, **options: Any) -> Any:
        """Return the reply to a command; None for a BRPOP whose message is dropped."""
        reply = super().parse_response(connection, command_name, **options)  # type: ignore[no-untyped-call]
        if command_name != "BRPOP" or not reply:
            return reply
        queue, raw = reply[0].decode(), reply[1]
        message = sanitize(raw, queue, task_names())
        if message is None:
            telemetry.warning("message dropped", queue=queue, bytes=len(raw), starts=repr(raw[:SHOWN_BYTES]))
        return message and (reply[0], message)


class Channel(kombu_redis.Channel):
    """Kombu's channel with the sanitizing client."""

    def _get_client(self) -> type[Client]:
        return Client


class Transport(kombu_redis.Transport):
    """Kombu's transport with the sanitizing client."""

    Channel = Channel


class SentinelChannel(kombu_redis.SentinelChannel):
    """Kombu's channel to a master that sentinels know, with the sanitizing client."""

    def _get_client(self) -> type[Client]:
        return Client


class SentinelTransport(kombu_redis.SentinelTransport):
    """Kombu's transport for sentinels, with the sanitizing client."""

    Channel = SentinelChannel


def distrust_broker() -> None:
    """Sanitize all messages that this process takes off queues; must be called before it connects to the broker."""
    TRANSPORT_ALIASES.update(dict.fromkeys(("redis", "rediss"), f"{__name__}:{Transport.__name__}"))
    TRANSPORT_ALIASES["sentinel"] = f"{__name__}:{SentinelTransport.__name__}"
