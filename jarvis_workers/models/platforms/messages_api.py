"""Anthropic's Messages API.

It has content blocks instead of texts, results of tools in messages of the user, and marks up to which the provider
caches a prompt: at the end of the system prompt, and of the last message, which the next request continues.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jarvis_workers.errors import BrokenAnswer
from jarvis_workers.models.platforms.json_fields import arguments_text, mapping, number, optional, quote, text
from jarvis_workers.models.platforms.profiles import Effort, Profile
from jarvis_workers.models.platforms.protocol import (
    REFUSAL,
    Message,
    ModelRequest,
    Reply,
    TokenUsage,
    ToolCall,
    ToolSpec,
    wire_name,
)
from jarvis_workers.models.platforms.request_format import Item, RequestFormat

CACHED = {"cache_control": {"type": "ephemeral"}}
# The API rejects blank texts.
NO_TEXT = "(no text)"
THINKING = ("thinking", "redacted_thinking")
FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": REFUSAL,
}
BLOCKS_MAX = 512
# Parts of a block that arrive in pieces, by the type of the piece: the field of the piece, and that of the block.
PIECES = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "input"),
}


def _head(profile: Profile, request: ModelRequest) -> dict[str, Any]:
    head: dict[str, Any] = {}
    if request.tools:
        head["tools"] = [_tool(spec) for spec in request.tools]
        if profile.parallel_switch:
            several = profile.parallel_calls and request.has_readers
            head["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": not several}
    system = "\n\n".join(message.content for message in request.messages if message.role == "system")
    return head | ({"system": [{"type": "text", "text": system, **CACHED}]} if system.strip() else {})


def _tool(spec: ToolSpec) -> Item:
    return {"name": wire_name(spec.name), "description": spec.description, "input_schema": dict(spec.parameters)}


def _joins(before: Message, message: Message) -> bool:
    """Return whether two messages are parts of one message of the user."""
    return {before.role, message.role} <= {"user", "tool"}


def _items(profile: Profile, group: Sequence[Message]) -> list[Item]:
    sent = [message for message in group if message.role != "system"]
    if not sent:
        return []
    role = "assistant" if sent[0].role == "assistant" else "user"
    return [{"role": role, "content": [block for message in sent for block in _blocks(message)]}]


def _blocks(message: Message) -> list[Item]:
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.call_id, "content": message.content}]
    blocks: list[Item] = json.loads(message.reasoning_items) if message.reasoning_items else []
    if message.content.strip():
        blocks.append({"type": "text", "text": message.content})
    blocks += [_call(call) for call in message.calls]
    return blocks if any(block["type"] not in THINKING for block in blocks) else [{"type": "text", "text": NO_TEXT}]


def _call(call: ToolCall) -> Item:
    return {
        "type": "tool_use",
        "id": call.id,
        "name": wire_name(call.name),
        "input": json.loads(call.arguments or "{}"),
    }


def _mark(item: Item) -> Item:
    """Return the last message with a mark for the prompt cache at its end."""
    if not item or item["role"] == "assistant":
        return item
    *blocks, last = item["content"]
    return {**item, "content": [*blocks, {**last, **CACHED}]}


def _tail(profile: Profile, request: ModelRequest) -> dict[str, Any]:
    tail: dict[str, Any] = {"max_tokens": profile.answer_tokens}
    if profile.temperature is not None:
        tail["temperature"] = profile.temperature if request.temperature is None else request.temperature
    if request.schema is not None:
        tail["output_config"] = {"format": {"type": "json_schema", "schema": dict(request.schema)}}
    return _with_effort(tail, profile.reasoning_effort) if profile.reasoning_effort else tail


def _with_effort(tail: dict[str, Any], effort: Effort) -> dict[str, Any]:
    if effort == "none":
        return tail | {"thinking": {"type": "disabled"}}
    level = "low" if effort == "minimal" else effort
    return tail | {
        "thinking": {"type": "adaptive"},
        "output_config": {**tail.get("output_config", {}), "effort": level},
    }


FORM = RequestFormat("messages", _head, _items, _tail, _joins, _mark)


def read_message(answer: Mapping[str, Any]) -> Reply:
    """Return the reply in a message object. Raises BrokenAnswer."""
    if answer.get("type") == "error" or not isinstance(answer.get("content"), list):
        raise BrokenAnswer(f"the server's response has no content: {quote(answer.get('error', answer))}")
    blocks = [mapping(block) for block in answer["content"]]
    thinking = [block for block in blocks if block.get("type") in THINKING]
    stop = optional(answer.get("stop_reason"))
    return Reply(
        content="".join(text(block.get("text")) for block in blocks if block.get("type") == "text"),
        calls=tuple(_read_call(block, place) for place, block in enumerate(blocks) if block.get("type") == "tool_use"),
        reasoning="".join(text(block.get("thinking")) for block in thinking) or None,
        finish=FINISHES.get(stop, stop) if stop else None,
        usage=_usage(answer.get("usage")),
        model=text(answer.get("model")),
        reasoning_items=json.dumps(thinking, ensure_ascii=False) if thinking else None,
    )


def _read_call(block: Mapping[str, Any], place: int) -> ToolCall:
    arguments = arguments_text(block.get("input")) or "{}"
    return ToolCall(text(block.get("id")) or f"call_{place}", text(block.get("name")), arguments)


def _usage(value: object) -> TokenUsage:
    """Return the usage; the API counts tokens that are read from or written to the prompt cache apart."""
    cached, writes = number(value, "cache_read_input_tokens"), number(value, "cache_creation_input_tokens")
    prompt = number(value, "input_tokens") + cached + writes
    return TokenUsage(prompt, number(value, "output_tokens"), cached, cache_writes=writes)


class MessageEvents:
    """The events of a streamed message."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._usage: dict[str, Any] = {}

    def add(self, event: Mapping[str, Any]) -> str:
        match event.get("type"):
            case "error":
                raise BrokenAnswer(f"the server ended its answer with an error: {quote(event.get('error'))}")
            case "message_start":
                self._message = dict(mapping(event.get("message")))
                self._count(self._message)
            case "content_block_start":
                block = dict(mapping(event.get("content_block")))
                self._blocks[number(event, "index")] = block
                if block.get("type") == "tool_use":
                    block["input"] = ""
                if len(self._blocks) > BLOCKS_MAX:
                    raise BrokenAnswer(f"the answer has more than {BLOCKS_MAX} content blocks")
                return text(block.get("text"))
            case "content_block_delta":
                return self._add_piece(number(event, "index"), mapping(event.get("delta")))
            case "message_delta":
                self._message["stop_reason"] = mapping(event.get("delta")).get("stop_reason")
                self._count(event)
        return ""

    def answer(self) -> Mapping[str, Any]:
        blocks = [block for _, block in sorted(self._blocks.items())]
        return {**self._message, "content": blocks, "usage": self._usage}

    def _add_piece(self, index: int, delta: Mapping[str, Any]) -> str:
        field, name = PIECES.get(text(delta.get("type")), ("", ""))
        piece = text(delta.get(field))
        if name and index in self._blocks:
            self._blocks[index][name] = text(self._blocks[index].get(name)) + piece
        return piece if name == "text" else ""

    def _count(self, event: Mapping[str, Any]) -> None:
        """Take the token counts of an event, which are those of the answer so far."""
        usage = event.get("usage")
        self._usage |= {name: count for name, count in mapping(usage or {}).items() if count is not None}
