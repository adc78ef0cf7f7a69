"""Output handlers: what an answer without a tool call may ask for besides ending the task.

An answer goes to the only handler that can handle it; if several can, or if it also calls a tool, none runs and the
model is told. Handlers have no side effects: a resumed conversation calls them again with the same answers.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from jarvis_workers.agents.tools.tool import BadCall


class OutputHandler(Protocol):
    """A handler of one kind of answer."""

    def name(self) -> str:
        """Return the name of the action, for messages to the model."""

    def can_handle(self, answer: str) -> bool:
        """Return whether an answer asks for this action."""

    def prompt(self) -> str:
        """Return the part of the system prompt that explains the action."""

    def handle(self, answer: str, agent: Any) -> tuple[bool, Any]:
        """Return (need_return, result): end the task with the result, or continue with it as the next message.

        `agent` is the `agents.loop.Agent` that wrote the answer.
        Raises BadCall for a malformed answer; its message is for the model.
        """


def find_handler(handlers: Iterable[OutputHandler], answer: str, tool: str | None) -> OutputHandler | None:
    """Return the handler of an answer, if any; `tool` is the tool that it calls. Raises BadCall for several actions."""
    able = [handler for handler in handlers if handler.can_handle(answer)]
    names = [handler.name() for handler in able] + ([tool] if tool else [])
    if able and len(names) > 1:
        raise BadCall(f"the answer has several actions ({', '.join(names)}), and none was run; take one per answer")
    return able[0] if able else None
