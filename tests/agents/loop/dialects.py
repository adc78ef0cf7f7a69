"""What servers of different providers send: the same answer in each API, and in the variants of chat.completions.

`Spoken` has the body of a whole answer, the events of a streamed one, and the body of an error.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.agents.loop.server import Step

Body = dict[str, Any]
Events = Iterator[Mapping[str, Any]]


@dataclass(frozen=True)
class Spoken:
    """The forms of a dialect; `events` gets the whole answer, and whether usage is asked for."""

    whole: "Callable[[Step, int], Body]"
    events: Callable[[Body, bool], Events]
    error: Callable[[int, str], Body]


def pieces(text: str) -> list[str]:
    """Return a text in the pieces in which it is streamed."""
    return re.findall(r"\s*\S+|\s+$", text)


def completion(step: "Step", number: int) -> Body:
    """Return a complete answer of chat.completions."""
    message: Body = {"role": "assistant", "content": step.content, **step.extra}
    if step.calls:
        message["tool_calls"] = [_call(place, number, *call) for place, call in enumerate(step.calls)]
    choice = {"index": 0, "message": message, "finish_reason": step.reason}
    return {
        "id": f"chat-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [choice],
        "usage": dict(step.usage),
    }


def _call(place: int, number: int, name: str, arguments: str) -> Body:
    return {"id": f"call_{number}_{place}", "type": "function", "function": {"name": name, "arguments": arguments}}


def chunks(body: Body, with_usage: bool) -> Events:
    """Yield a complete answer as chunks: a chunk per word, calls in two parts, the finish, the usage."""
    choice = body["choices"][0]
    message = choice["message"]
    head = {"id": body["id"], "object": "chat.completion.chunk", "created": 1, "model": body["model"]}

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> Mapping[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for name in set(message) - {"role", "content", "tool_calls"}:
        yield from (chunk({name: piece}) for piece in pieces(message[name] or ""))
    yield from (chunk({"content": piece}) for piece in pieces(message["content"] or ""))
    for place, call in enumerate(message.get("tool_calls", ())):
        arguments = call["function"]["arguments"]
        half, named = len(arguments) // 2, {**call, "function": {**call["function"], "arguments": ""}}
        yield chunk({"tool_calls": [{"index": place, **named}]})
        for part in (arguments[:half], arguments[half:]):
            yield chunk({"tool_calls": [{"index": place, "function": {"arguments": part}}]})
    if choice["finish_reason"]:
        yield chunk({}, choice["finish_reason"])
    if with_usage:
        yield {**head, "choices": [], **{name: body[name] for name in ("usage", "timings") if name in body}}


def _openai(step: "Step", number: int) -> Body:
    body = completion(step, number)
    message = body["choices"][0]["message"]
    refuses = step.finish == "refusal"
    message |= {"refusal": step.content if refuses else None, "annotations": None}
    if refuses:
        message["content"], body["choices"][0]["finish_reason"] = None, "stop"
    return body


def _filtered(step: "Step", number: int) -> Body:
    """A provider with a content filter: the answer ends there."""
    body = completion(step, number)
    choice = body["choices"][0]
    choice["finish_reason"] = "content_filter" if step.finish == "refusal" else choice["finish_reason"]
    return body


def _vllm(step: "Step", number: int) -> Body:
    body = _filtered(step, number)
    choice = body["choices"][0]
    choice["message"] = {"refusal": None, "reasoning": None, "function_call": None, **choice["message"]}
    choice |= {"stop_reason": None, "logprobs": None, "token_ids": None}
    return body | {"prompt_logprobs": None, "kv_transfer_params": None, "service_tier": None}


def _llama(step: "Step", number: int) -> Body:
    body = _filtered(step, number)
    details = {"cached_tokens": step.usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)}
    timings = {"cache_n": details["cached_tokens"], "prompt_n": 1, "predicted_n": 20, "predicted_ms": 3.5}
    return body | {"usage": {**body["usage"], "prompt_tokens_details": details}, "timings": timings}


def _message(step: "Step", number: int) -> Body:
    """Return an answer of Anthropic's Messages API."""
    content: list[Body] = [*step.extra.get("thinking", ())]
    content += [{"type": "text", "text": step.content}] if step.content else []
    for place, (name, arguments) in enumerate(step.calls):
        content.append(
            {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": json.loads(arguments)}
        )
    stops = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}
    usage, cached = step.usage, step.usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)
    written = usage.get("cache_creation_input_tokens", 0)
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": content,
        "stop_reason": stops.get(step.reason or "", step.reason),
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage["prompt_tokens"] - cached - written,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": written,
            "output_tokens": usage["completion_tokens"],
        },
    }


def _message_events(body: Body, _: bool) -> Events:
    usage, stop = body["usage"], body["stop_reason"]
    start = {**body, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(body["content"]):
        yield from _block_events(index, block)
    if stop:
        about = {"stop_reason": stop, "stop_sequence": None}
        yield {"type": "message_delta", "delta": about, "usage": {"output_tokens": usage["output_tokens"]}}
        yield {"type": "message_stop"}


def _block_events(index: int, block: Body) -> Events:
    emptied = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}
    yield {"type": "content_block_start", "index": index, "content_block": {**block, **emptied.get(block["type"], {})}}
    deltas: list[Body] = []
    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "tool_use":
            text = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in ("", text[:5], text[5:])]
    yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
    yield {"type": "content_block_stop", "index": index}


def _response(step: "Step", number: int) -> Body:
    """Return an answer of OpenAI's Responses API."""
    output: list[Body] = [*step.extra.get("reasoning", ())]
    if step.content is not None:
        refused = step.finish == "refusal"
        part = (
            {"type": "refusal", "refusal": step.content} if refused else {"type": "output_text", "text": step.content}
        )
        output.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [part]})
    for place, (name, arguments) in enumerate(step.calls):
        about = {"id": f"fc_{number}_{place}", "call_id": f"call_{number}_{place}", "status": "completed"}
        output.append({"type": "function_call", **about, "name": name, "arguments": arguments})
    details = {"cached_tokens": step.usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)}
    is_cut = step.finish == "length"
    return {
        "id": f"resp_{number}",
        "object": "response",
        "status": {"length": "incomplete", "none": "in_progress"}.get(step.finish or "", "completed"),
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "model": "scripted",
        "output": output,
        "usage": {
            "input_tokens": step.usage["prompt_tokens"],
            "input_tokens_details": details,
            "output_tokens": step.usage["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _response_events(body: Body, _: bool) -> Events:
    yield {"type": "response.created", "response": {**body, "status": "in_progress", "output": [], "usage": None}}
    for index, item in enumerate(body["output"]):
        yield {"type": "response.output_item.added", "output_index": index, "item": {**item, "content": []}}
        for part in item.get("content", ()):
            kind, text = (
                ("refusal", part.get("refusal")) if part["type"] == "refusal" else ("output_text", part["text"])
            )
            yield from ({"type": f"response.{kind}.delta", "delta": piece} for piece in pieces(text))
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    if body["status"] != "in_progress":
        yield {"type": f"response.{body['status']}", "response": body}


def _error(status: int, message: str) -> Body:
    return {"error": {"message": message}}


def _vllm_error(status: int, message: str) -> Body:
    return {"error": {"message": message, "type": "BadRequestError", "param": None, "code": status}}


def _llama_error(status: int, message: str) -> Body:
    return {"error": {"code": status, "message": message, "type": "unavailable_error"}}


def _anthropic_error(status: int, message: str) -> Body:
    return {"type": "error", "error": {"type": "rate_limit_error", "message": message}, "request_id": "req_1"}


DIALECTS: Mapping[str, Spoken] = {
    "": Spoken(completion, chunks, _error),
    "openai": Spoken(_openai, chunks, _error),
    "filtered": Spoken(_filtered, chunks, _error),
    "vllm": Spoken(_vllm, chunks, _vllm_error),
    "llama.cpp": Spoken(_llama, chunks, _llama_error),
    "messages": Spoken(_message, _message_events, _anthropic_error),
    "responses": Spoken(_response, _response_events, _error),
}
