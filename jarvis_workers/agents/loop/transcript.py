"""Transcript of a conversation: a write-ahead log from which it resumes after a crash.

The loop is deterministic, so its inputs are all that is recorded. Records are durable before they take effect: an
answer before its tool runs, the start of a non-repeatable tool before it runs, a result before the next request. A
resumed conversation first replays the recorded inputs.

Each line contains the hash of its text; an incomplete last line is discarded.
"""

import json
from collections import deque
from collections.abc import Mapping
from hashlib import sha256
from itertools import takewhile
from typing import Any, Protocol

from jarvis_workers.agents.loop.effects import Answer, Ask, RunTool, Upload, Want
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.errors import UsageError
from jarvis_workers.models.platforms.protocol import Message, ModelRequest, Reply, fields_of, record_of, reply_from

HASH_LETTERS = 12
UNKNOWN = "it was interrupted, and may have been partly done; check its effects before you repeat it"


class Log(Protocol):
    """An append-only log of lines."""

    def lines(self) -> list[bytes]:
        """Return the lines appended before the log was opened, without newlines."""

    def append(self, line: bytes) -> None:
        """Append a line without waiting."""

    async def sync_async(self) -> None:
        """Wait until all lines are durable, without blocking the event loop."""

    def keep(self, count: int) -> None:
        """Truncate the log to its first `count` lines."""


class Transcript:
    """The records of one conversation; `about` identifies it.

    Raises UsageError if the log contains the transcript of another conversation.
    """

    def __init__(self, log: Log, about: Mapping[str, Any]) -> None:
        self._log = log
        self._records = deque(self._read())
        self._messages: tuple[Message, ...] = ()
        start = {"kind": "start", **about}
        if not self._records:
            self._write(start)
        elif (recorded := self._records.popleft()) != json.loads(json.dumps(start)):
            raise UsageError(f"the transcript belongs to another conversation: {_difference(recorded, start)}")

    @property
    def is_replaying(self) -> bool:
        """Whether recorded inputs are still to be replayed."""
        return bool(self._records)

    def find(self, want: Want) -> Answer | None:
        """Return the recorded result of an effect, or None after the last record; raises UsageError for a mismatch."""
        if not self._records:
            return None
        record = self._records.popleft()
        if isinstance(want, Ask):
            self._expect(record, "answer", question(want.request))
            self._messages = want.request.messages
            return reply_from(record["reply"])
        if isinstance(want, Upload):
            self._expect(record, "uploaded", None)
            return bool(record["worked"])
        assert isinstance(want, RunTool)
        if record["kind"] == "call":
            self._expect(record, "call", want.name)
            if not self._records:
                self.add_result(want, unknown := ToolOutcome("error", stderr=UNKNOWN))
                return unknown
            record = self._records.popleft()
        self._expect(record, "result", want.name)
        return ToolOutcome(**record["outcome"])

    async def sync_async(self) -> None:
        await self._log.sync_async()

    def add(self, want: Want, answer: Answer) -> None:
        """Record the result of an effect, before the conversation receives it."""
        if isinstance(answer, Reply):
            assert isinstance(want, Ask)
            questions = self._new_questions(want.request)
            self._write(
                {"kind": "answer", "of": question(want.request), "asked": questions, "reply": record_of(answer)}
            )
        elif isinstance(answer, ToolOutcome):
            assert isinstance(want, RunTool)
            self.add_result(want, answer)
        else:
            self._write({"kind": "uploaded", "of": None, "worked": answer})

    def _new_questions(self, request: ModelRequest) -> list[str]:
        """Return the messages of the user that the request before did not have; tool results have records of theirs."""
        earlier, self._messages = self._messages, request.messages
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(earlier, self._messages, strict=False)))
        return [message.content for message in self._messages[same:] if message.role == "user"]

    def add_call(self, want: RunTool) -> None:
        """Record the start of a tool that must not run twice."""
        self._write({"kind": "call", "of": want.name, "arguments": want.arguments})

    def add_result(self, want: RunTool, outcome: ToolOutcome) -> None:
        self._write({"kind": "result", "of": want.name, "arguments": want.arguments, "outcome": fields_of(outcome)})

    def _expect(self, record: Mapping[str, Any], kind: str, of: str | None) -> None:
        if (record["kind"], record["of"]) != (kind, of):
            raise UsageError(
                f"the transcript does not match the conversation: it has {record['kind']} {record['of']!r} where"
                f" {kind} {of!r} is expected; the program or its prompts have changed: start a new conversation"
            )

    def _read(self) -> list[dict[str, Any]]:
        lines = self._log.lines()
        records = []
        for line in lines:
            record = read_line(line)
            if record is None:
                break
            records.append(record)
        if len(records) < len(lines):
            self._log.keep(len(records))
        return records

    def _write(self, record: Mapping[str, Any]) -> None:
        text = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode()
        self._log.append(_hash(text) + b" " + text)


def question(request: ModelRequest) -> str:
    """Return a hash of length, last message and tools, which identifies a request within its conversation."""
    last = request.messages[-1]
    tools = ",".join(tool.name for tool in request.tools)
    text = f"{len(request.messages)}\0{last.role}\0{last.content}\0{tools}"
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_LETTERS]


def read_line(line: bytes) -> dict[str, Any] | None:
    """Parse a line and return its record, None if the line is incomplete."""
    claimed, _, text = line.partition(b" ")
    if claimed != _hash(text):
        return None
    document = json.loads(text)
    return document if isinstance(document, dict) else None


def _hash(text: bytes) -> bytes:
    return sha256(text).hexdigest()[:HASH_LETTERS].encode()


def _difference(recorded: Mapping[str, Any], start: Mapping[str, Any]) -> str:
    name = next(name for name in [*start, *recorded] if recorded.get(name) != start.get(name))
    return f"{name} was {recorded.get(name)!r} and is now {start.get(name)!r}"
