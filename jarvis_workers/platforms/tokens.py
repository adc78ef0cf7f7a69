"""Estimate tokens without a tokenizer, which would want its tables from the net.

A word of letters is a token per `LETTERS` letters or part of them, three digits are one, so is a run of two
marks, a letter of Chinese, and a line's indentation.  What a provider reports corrects the rest: `Calibration`
keeps the ratio.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from jarvis_workers.platforms.protocol import Message, ModelRequest, Reply, ToolSpec

LETTERS = 7
PIECE = re.compile(rf" ?+[A-Za-z]{{1,{LETTERS}}}+|\d{{1,3}}+| ?+[!-/:-@\[-`{{-~]{{1,2}}+|\s{{1,16}}+|[^\x00-\x7f]")
PER_MESSAGE = 4
CHARACTERS = 4


def estimate(text: str) -> int:
    """Return about how many tokens a text is."""
    return len(PIECE.findall(text))


def estimate_message(message: Message) -> int:
    """Return about how many tokens a message is."""
    calls = sum(estimate(call.arguments) + estimate(call.name) for call in message.calls)
    return PER_MESSAGE + estimate(message.content) + calls


def estimate_tools(specs: Iterable[ToolSpec]) -> int:
    """Return about how many tokens it takes to tell of tools."""
    return sum(estimate(f"{spec.name} {spec.description} {spec.parameters}") for spec in specs)


def estimate_request(request: ModelRequest) -> int:
    """Return about how many tokens a request is: what its conversation has counted, or what is counted now."""
    return request.estimated or sum(map(estimate_message, request.messages)) + estimate_tools(request.tools)


def with_estimated_usage(reply: Reply, request: ModelRequest) -> Reply:
    """Return a reply with estimates for the tokens that its server did not report: else no budget would ever end."""
    usage = reply.usage
    if usage.prompt and usage.completion:
        return reply
    answer = Message("assistant", reply.content + (reply.reasoning or ""), calls=reply.calls)
    prompt, completion = usage.prompt or estimate_request(request), usage.completion or estimate_message(answer)
    return replace(reply, usage=replace(usage, prompt=prompt, completion=completion))
