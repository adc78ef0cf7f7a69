"""A conversation of a known length with a model that takes its time, and what that model was asked how often."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.agents.server import Body, ModelServer, Step, calls, late, says

ROUNDS = 8
TASK, ANSWER = "Where is it?", "It is in a.c."


def slow_model(seconds: float, *others: Step) -> ModelServer:
    """Look for something ROUNDS times and answer; `others` are what it does instead in the first rounds."""

    def step(request: Body) -> Step:
        said = rounds(request)
        healthy = says(ANSWER) if said == ROUNDS else calls("search_code", pattern=f"word{said}")
        return late(seconds, others[said] if said < len(others) else healthy)

    return ModelServer(forever=step)


def rounds(request: Body) -> int:
    """How often the model has spoken before."""
    return sum(message["role"] == "assistant" for message in request["messages"])


def asked_again(server: ModelServer) -> int:
    """How many requests said nothing that had not been asked before."""
    return len(server.requests) - len({json.dumps(request, sort_keys=True) for request in server.requests})


def has_heard(server: ModelServer, many: int) -> Callable[[], bool]:
    """Whether so many requests have come."""
    return lambda: len(server.requests) >= many


def set_model(directory: Path, server: ModelServer, name: str = "local") -> None:
    """Make the server the only model that is set there."""
    directory.mkdir(exist_ok=True)
    group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
    (directory / "jarvis.yaml").write_text(json.dumps({"models": {name: group}}))


def make_sources(root: Path) -> Path:
    """Write a tree to look into."""
    root.mkdir()
    (root / "a.c").write_text("int it;\n")
    return root
