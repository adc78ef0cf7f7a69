"""Tools that a conversation calls on an answer and that the model does not see: they build and test on a bench."""

from collections.abc import Callable, Mapping
from typing import Any

from jarvis_workers.agents.tools.tool import Tool, ToolFailed, ToolOutcome
from jarvis_workers.errors import SandboxError, StepFailed, UsageError


def bench_tool(name: str, description: str, failure: str, run: Callable[[Any], str], argument: str = "text") -> Tool:
    """Return the tool that runs a function on an argument; `failure` says what a bench that cannot be used prevents."""

    def outcome(arguments: Mapping[str, Any]) -> ToolOutcome:
        try:
            return ToolOutcome(stdout=run(arguments[argument]))
        except (StepFailed, UsageError, SandboxError) as error:
            raise ToolFailed(f"{failure}: {error}") from error

    return Tool(name, description, {}, lambda arguments: arguments, outcome)
