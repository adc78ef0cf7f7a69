"""Message validation: accept only messages that name a job, and drop all others with a warning.

Redis is not trusted: whoever can write to it may put anything on a queue.  A message is parsed as it comes off the
queue, and a new one with the same content is made of it.  So Celery never sees a header that would end a process
(`timelimit`), hold a job back (`eta`, `expires`) or send other tasks (`chain`, `callbacks`), nor bytes that it cannot
decode, at which it would end the pool.
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
from jarvis_workers.dispatch.broker import SENT_AT
from jarvis_workers.dispatch.routing import task_names

# A label has 200 characters, of which each may be written as 12 bytes, twice in base64.
MESSAGE_BYTES_MAX = 64 << 10
SHOWN_BYTES = 80
STRICT = ConfigDict(strict=True, allow_inf_nan=False)


class Headers(BaseModel):
    """The headers that matter of a task message (Celery's protocol 2)."""

    model_config = STRICT
    task: str
    id: UUID
    sent_at: float = 0.0


class Envelope(BaseModel):
    """A message as it stands on a queue; `body` is base64."""

    model_config = STRICT
    headers: Headers
    body: str


class TaskArguments(BaseModel):
    """The keyword arguments of a task: for people to read in Flower."""

    model_config = ConfigDict(strict=True, extra="forbid")
    run: Annotated[str, Field(max_length=200)]
    label: Annotated[str, Field(max_length=200)]


Body = TypeAdapter(tuple[tuple[Annotated[int, Field(gt=0, lt=2**63, strict=True)]], TaskArguments, Any])


def sanitize(raw: bytes, queue: str, tasks: Collection[str]) -> bytes | None:
    """Return a message of the same task, id and arguments and nothing else; None when it does not name a job."""
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
    """A client that replaces what comes off a queue; no answer, if it does not name a job."""

    def parse_response(self, connection: Any, command_name: Any, **options: Any) -> Any:
        """Return the answer to a command."""
        reply = super().parse_response(connection, command_name, **options)  # type: ignore[no-untyped-call]
        if command_name != "BRPOP" or not reply:
            return reply
        queue, raw = reply[0].decode(), reply[1]
        message = sanitize(raw, queue, task_names())
        if message is None:
            telemetry.warning("message dropped", queue=queue, bytes=len(raw), starts=repr(raw[:SHOWN_BYTES]))
        return message and (reply[0], message)


class Channel(kombu_redis.Channel):
    """Kombu's channel over such a client."""

    def _get_client(self) -> type[Client]:
        return Client


class Transport(kombu_redis.Transport):
    """Kombu's transport over such a channel."""

    Channel = Channel


def distrust_broker() -> None:
    """Let this process take only messages that name a job off any queue; before it connects."""
    TRANSPORT_ALIASES.update(dict.fromkeys(("redis", "rediss"), f"{__name__}:{Transport.__name__}"))
