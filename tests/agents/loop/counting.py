"""Count tokens as a server would, independently of the estimates of the program."""

import json
import math
from collections.abc import Mapping
from typing import Any

from tests.agents.loop.server import Body, Step

LETTERS_PER_TOKEN = 3.3


def tokens(text: str) -> int:
    """Return the number of tokens of a text on this server."""
    return math.ceil(len(text) / LETTERS_PER_TOKEN)


def prompt_tokens(request: Body) -> int:
    """Return the number of tokens of a request: messages, tool calls, and descriptions of tools."""
    said = sum(tokens(message.get("content") or "") + _calls(message) + 4 for message in request["messages"])
    return said + (tokens(json.dumps(request["tools"])) if "tools" in request else 0)


def counted(step: Step, request: Body) -> Step:
    """Return an answer with its token usage."""
    prompt = prompt_tokens(request)
    answer = tokens((step.content or "") + "".join(name + arguments for name, arguments in step.calls))
    usage = {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}
    return Step(**{**vars(step), "usage": usage})


def _calls(message: Mapping[str, Any]) -> int:
    made = [call["function"] for call in message.get("tool_calls", ())]
    return sum(tokens(call["name"] + call["arguments"]) for call in made)
