"""The answer cache: answers of models by the SHA-256 of model, request, sampling and vote (`request.RequestWriter`).

Only usable answers are cached: complete, not empty, with JSON arguments in their tool calls. The caller supplies the
storage; one implementation is a directory of files, which can also record a conversation with a real model and replay
it.
"""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from jarvis_workers.errors import ModelUnavailable, UsageError
from jarvis_workers.models.platforms.protocol import ModelRequest, Platform, Reply, ToolCall, record_of, reply_from
from jarvis_workers.models.platforms.request import RequestWriter


class AnswerStore(Protocol):
    """Storage of cached answers: `key` is 64 hexadecimal digits, `text` the JSON of `protocol.record_of`."""

    def find(self, key: str) -> str | None:
        """Return the cached text, or None."""

    def put(self, key: str, text: str) -> None:
        """Cache an answer; an existing answer with the same key is kept."""

    def forget(self, key: str) -> None:
        """Remove an answer that proved useless; a store owned by the user may ignore this."""


class CachedPlatform:
    """A cache in front of a platform, for one conversation; `offline` raises ModelUnavailable on a cache miss.

    Requests after a cache miss contain a new answer, so from the first miss on the cache is written but no longer read.
    `keys` are the keys of all answers of the conversation that are in the cache.
    """

    def __init__(self, platform: Platform, answers: AnswerStore, *, offline: bool = False) -> None:
        self.name, self.model, self.profile = platform.name, platform.model, platform.profile
        self._platform = platform
        self._answers, self._offline = answers, offline
        self._may_hit = True
        self.keys: set[str] = set()
        self._writer = RequestWriter(platform.model, platform.profile)

    async def ask_async(self, request: ModelRequest) -> Reply:
        body, key = self._writer.write(request)
        cached_answer = await asyncio.to_thread(self._recall, key) if self._may_hit else None
        if cached_answer and request.on_text:
            request.on_text(cached_answer.content)
        return cached_answer or self._keep(key, await self._platform.ask_async(replace(request, body=body)))

    def _recall(self, key: str) -> Reply | None:
        text = self._answers.find(key)
        if text is not None:
            self.keys.add(key)
            return reply_from(json.loads(text)).remembered()
        if self._offline:
            raise ModelUnavailable(f"no recorded answer to request {key[:12]}; record the conversation again")
        self._may_hit = False
        return None

    def _keep(self, key: str, reply: Reply) -> Reply:
        if can_be_read(reply):
            # Lone surrogates cannot be encoded as UTF-8.
            text = json.dumps(record_of(reply), ensure_ascii=False).encode("utf-8", "backslashreplace")
            self._answers.put(key, text.decode())
            self.keys.add(key)
        return reply


class AnswerFolder:
    """AnswerStore in a directory, one file per key. `find` raises UsageError for an unreadable file."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def find(self, key: str) -> str | None:
        try:
            return (self._directory / f"{key}.json").read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{self._directory}: a recorded answer cannot be read: {error}") from error

    def put(self, key: str, text: str) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        place = self._directory / f"{key}.json"
        if not place.exists():
            unfinished = place.with_suffix(".part")
            unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")
            unfinished.rename(place)

    def forget(self, key: str) -> None:
        """Do nothing: recorded answers belong to the user."""


def can_be_read(reply: Reply) -> bool:
    """Return whether an answer may be cached."""
    return reply.is_whole and bool(reply.content.strip() or reply.calls) and all(map(_has_arguments, reply.calls))


def _has_arguments(call: ToolCall) -> bool:
    try:
        return isinstance(json.loads(call.arguments or "{}"), dict)
    except (ValueError, RecursionError):
        return False
