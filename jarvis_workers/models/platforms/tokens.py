"""Estimate token counts without a tokenizer, which would have to download its vocabulary.

Each of these counts as one token: up to `LETTERS` letters of a word, up to three digits, up to two punctuation
characters, a non-ASCII character, or a run of white space up to 16 characters. Token counts reported by the provider
correct the estimate: `Calibration` maintains the ratio.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from jarvis_workers.models.platforms.protocol import Message, ModelRequest, Reply, ToolSpec

LETTERS = 7
PIECE = re.compile(rf" ?+[A-Za-z]{{1,{LETTERS}}}+|\d{{1,3}}+| ?+[!-/:-@\[-`{{-~]{{1,2}}+|\s{{1,16}}+|[^\x00-\x7f]")
# The tokens of a message's role and separators in chat formats.
PER_MESSAGE = 4


def estimate(text: str) -> int:
    """Return the estimated number of tokens of a text."""
    return len(PIECE.findall(text))


def estimate_message(message: Message) -> int:
    """Return the estimated number of tokens of a message."""
    calls = sum(estimate(call.arguments) + estimate(call.name) for call in message.calls)
    return PER_MESSAGE + estimate(message.content) + calls


def estimate_tools(specs: Iterable[ToolSpec]) -> int:
    """Return the estimated number of tokens of tool descriptions."""
    return sum(estimate(f"{spec.name} {spec.description} {spec.parameters}") for spec in specs)


def estimate_request(request: ModelRequest) -> int:
    """Return the estimated number of tokens of a request, from its conversation if available, else computed."""
    return request.estimated or sum(map(estimate_message, request.messages)) + estimate_tools(request.tools)


def with_estimated_usage(reply: Reply, request: ModelRequest) -> Reply:
    """Return the reply with estimates for token counts that the server did not report, so that budgets still apply."""
    usage = reply.usage
    if usage.prompt and usage.completion:
        return reply
    answer = Message("assistant", reply.content + (reply.reasoning or ""), calls=reply.calls)
    prompt, completion = usage.prompt or estimate_request(request), usage.completion or estimate_message(answer)
    return replace(reply, usage=replace(usage, prompt=prompt, completion=completion))
