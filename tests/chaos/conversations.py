"""Conversations of known length with a slow model, and counts of its requests."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.agents.loop.server import Body, ModelServer, Step, calls, late, says
from tests.support.settings_files import write_settings

ROUNDS = 8
TASK, ANSWER = "Where is it?", "It is in a.c."


def slow_model(seconds: float, *others: Step) -> ModelServer:
    """Return a model that searches ROUNDS times and then answers; `others` replace its first rounds."""

    def step(request: Body) -> Step:
        said = rounds(request)
        healthy = says(ANSWER) if said == ROUNDS else calls("search_code", pattern=f"word{said}")
        return late(seconds, others[said] if said < len(others) else healthy)

    return ModelServer(forever=step)


def rounds(request: Body) -> int:
    """Return the number of previous answers of the model."""
    return sum(message["role"] == "assistant" for message in request["messages"])


def asked_again(server: ModelServer) -> int:
    """Return the number of repeated requests."""
    return len(server.requests) - len({json.dumps(request, sort_keys=True) for request in server.requests})


def has_heard(server: ModelServer, many: int) -> Callable[[], bool]:
    """Return whether the server has received this many requests."""
    return lambda: len(server.requests) >= many


def set_model(directory: Path, server: ModelServer, name: str = "local", profile: str = "openai", **more: int) -> None:
    """Configure the server as the only model; `more` are settings of its group."""
    directory.mkdir(parents=True, exist_ok=True)
    group = {"model": "m", "base_url": server.url, "profile": profile, "api_key": "k", **more}
    write_settings(directory, {"models": {name: group}}, directory / "data", directory / "desk" / "data")


def make_sources(root: Path) -> Path:
    """Write a source tree."""
    root.mkdir()
    (root / "a.c").write_text("int it;\n")
    return root
