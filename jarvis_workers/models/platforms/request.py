"""Serialize requests.

Serialization is deterministic: each request starts with the bytes of the one before, unless the profile drops the
reasoning of an earlier turn. This makes the providers' prompt caches effective, and only the new part must be
serialized and hashed.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from operator import is_
from typing import Any, NamedTuple

from jarvis_workers.models.platforms.apis import APIS
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.models.platforms.protocol import Message, ModelRequest
from jarvis_workers.models.platforms.request_format import Item

# Fields of `extra_body` that change how a request is processed, billed or logged, but not its answer.
NOT_IN_KEY = frozenset(
    {
        "cache_prompt",
        "cache_salt",
        "id_slot",
        "metadata",
        "priority",
        "prompt_cache_key",
        "prompt_cache_retention",
        "request_id",
        "safety_identifier",
        "service_tier",
        "session_id",
        "timings_per_token",
        "user",
    }
)


class Written(NamedTuple):
    """The body of a request, and its cache key: a hash of the request and the vote."""

    body: bytes
    key: str


class RequestWriter:
    """Serializes the requests of a conversation with one model; tools and messages come first, variable parts last."""

    def __init__(self, model: str, profile: Profile) -> None:
        self._model, self._profile = model, profile
        self._format = APIS[profile.api].form
        self._messages: tuple[Message, ...] = ()
        self._start: tuple[object, ...] | None = None
        self._last, self._end, self._hash = b"", 0, sha256()
        self._last_item, self._last_item_at = Item(), 0

    def write(self, request: ModelRequest) -> Written:
        """Return the serialized request, reusing the prefix shared with the previous one."""
        if not self._continues(request):
            self._begin(request)
        new, (tail, untracked) = b"".join(self._new(request)), self._tail(request)
        self._last = self._last[: self._end] + new + tail
        self._end += len(new)
        self._hash.update(new)
        self._messages = request.messages
        whole = self._hash.copy()
        whole.update(tail + b"\0%d" % request.vote)
        return Written(self._marked(tail, untracked), whole.hexdigest())

    def _continues(self, request: ModelRequest) -> bool:
        before, messages = self._messages, request.messages
        if self._start != (request.tools, request.turn) or len(before) > len(messages):
            return False
        if before and len(before) < len(messages) and self._format.joins(before[-1], messages[len(before)]):
            return False
        return all(map(is_, before, messages))

    def _begin(self, request: ModelRequest) -> None:
        head = {"model": self._model, **self._format.head(self._profile, request)}
        self._start, self._messages = (request.tools, request.turn), ()
        self._last = _json(head)[:-1] + b',"%s":[' % self._format.list_field.encode()
        self._end, self._hash = len(self._last), sha256(self._last)
        self._last_item = Item()

    def _new(self, request: ModelRequest) -> Iterator[bytes]:
        at = self._end
        for group in self._groups(request):
            for item in self._format.items(self._profile, group):
                separator = b"," if self._last_item else b""
                written = separator + _json(item)
                self._last_item, self._last_item_at = item, at + len(separator)
                at += len(written)
                yield written

    def _groups(self, request: ModelRequest) -> Iterator[list[Message]]:
        group: list[Message] = []
        for place in range(len(self._messages), len(request.messages)):
            message = request.messages[place]
            if group and not self._format.joins(group[-1], message):
                yield group
                group = []
            group.append(self._sent(message, place >= request.turn))
        if group:
            yield group

    def _sent(self, message: Message, is_of_turn: bool) -> Message:
        """Return a message with the reasoning that the profile sends back."""
        replay = self._profile.reasoning
        if replay == "all" or (replay == "turn" and is_of_turn):
            return message
        if message.reasoning is None and message.reasoning_items is None:
            return message
        return replace(message, reasoning=None, reasoning_items=None)

    def _tail(self, request: ModelRequest) -> tuple[bytes, bytes]:
        """Return the fields after the messages, and those that are no part of the cache key."""
        tail, untracked = self._format.tail(self._profile, request), dict[str, Any]()
        for name, value in self._profile.extra_body.items():
            if name in NOT_IN_KEY:
                untracked[name] = value
            else:
                tail[name] = _merged(tail.get(name), value)
        return b"]," + _json(tail)[1:], b"," + _json(untracked)[1:-1] if untracked else b""

    def _marked(self, tail: bytes, untracked: bytes) -> bytes:
        """Return the request as it is sent, with what concerns only the provider."""
        item = self._format.mark(self._last_item)
        body = self._last
        if item is not self._last_item:
            body = body[: self._last_item_at] + _json(item) + tail
        return body[:-1] + untracked + b"}" if untracked else body


def streamed(body: bytes, profile: Profile) -> bytes:
    """Return a serialized request that asks for its answer as a stream."""
    usage = b',"stream_options":{"include_usage":true}' if profile.stream_usage else b""
    return body[:-1] + b',"stream":true' + usage + b"}"


def _merged(own: object, extra: object) -> object:
    """Return an extra field together with the parts of the same field that this program sets."""
    return {**own, **extra} if isinstance(own, Mapping) and isinstance(extra, Mapping) else extra


def _json(part: Mapping[str, Any]) -> bytes:
    """Encode as JSON; lone surrogates are replaced, since they are not valid UTF-8."""
    return json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
