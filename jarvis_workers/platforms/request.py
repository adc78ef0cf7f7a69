"""Write what a chat.completions server reads.

The same conversation gives the same bytes: a request begins with the one before it, but where the profile drops
the model's thoughts of an earlier turn.  That is what makes providers' prompt caches work.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from jarvis_workers.platforms.profiles import Profile
from jarvis_workers.platforms.words import Message, Request, ToolCall, ToolSpec

SEED = 7


def encode(request: Request, model: str, profile: Profile) -> dict[str, Any]:
    """Return the body of the request; `tools` and messages first, what may change last."""
    body: dict[str, Any] = {"model": model}
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
        if profile.parallel_switch:
            body["parallel_tool_calls"] = False
    body["messages"] = [
        _message(message, profile, keeps_thoughts=_keeps(profile, place >= request.turn))
        for place, message in enumerate(request.messages)
    ]
    if request.schema is not None:
        body["response_format"] = _form(request.schema)
    return body | _sampling(request, profile)


def request_hash(body: Mapping[str, Any], vote: int = 0) -> str:
    """Return what a request is known by again: all that the answer depends on, and the number of the vote."""
    text = json.dumps([body, vote], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _sampling(request: Request, profile: Profile) -> dict[str, Any]:
    chosen: dict[str, Any] = {profile.max_tokens_field: profile.answer_tokens}
    if profile.temperature is not None:
        chosen["temperature"] = profile.temperature
    if profile.seed:
        chosen["seed"] = SEED + request.vote
    return chosen


def _keeps(profile: Profile, in_this_turn: bool) -> bool:
    return profile.reasoning == "all" or (profile.reasoning == "turn" and in_this_turn)


def _message(message: Message, profile: Profile, *, keeps_thoughts: bool) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role, "content": _clean(message.content)}
    if message.call_id is not None:
        body["tool_call_id"] = message.call_id
    if message.calls:
        body["tool_calls"] = [_call(call) for call in message.calls]
    if message.reasoning is not None and keeps_thoughts:
        body[profile.reasoning_field] = _clean(message.reasoning)
    return body


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _clean(call.arguments)}}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}
    return {"type": "function", "function": function}


def _form(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "report", "schema": dict(schema), "strict": True}}


def _clean(text: str) -> str:
    """Half of a surrogate pair is no text that a server can read."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
