"""Events of an agent, and the event bus that notifies listeners.

Names and payloads are those of the seed documents (003, 3.3.8). Listeners are called sequentially; their exceptions are
logged and otherwise ignored.
"""

from collections.abc import Callable
from typing import Any

from jarvis_workers.agents.loop.plugins import call_isolated

TASK_STARTED = "TASK_STARTED"
TASK_COMPLETED = "TASK_COMPLETED"
BEFORE_MODEL_CALL = "BEFORE_MODEL_CALL"
AFTER_MODEL_CALL = "AFTER_MODEL_CALL"
BEFORE_TOOL_CALL = "BEFORE_TOOL_CALL"
AFTER_TOOL_CALL = "AFTER_TOOL_CALL"
BEFORE_ADDON_PROMPT = "BEFORE_ADDON_PROMPT"
AFTER_ADDON_PROMPT = "AFTER_ADDON_PROMPT"
BEFORE_SUMMARY = "BEFORE_SUMMARY"
AFTER_SUMMARY = "AFTER_SUMMARY"
BEFORE_HISTORY_CLEAR = "BEFORE_HISTORY_CLEAR"
AFTER_HISTORY_CLEAR = "AFTER_HISTORY_CLEAR"
BEFORE_TOOL_FILTER = "BEFORE_TOOL_FILTER"
TOOL_FILTERED = "TOOL_FILTERED"
INTERRUPT_TRIGGERED = "INTERRUPT_TRIGGERED"

Listener = Callable[..., Any]


class EventBus:
    """The listeners of each event; `failed` is called with a line about each exception of one."""

    def __init__(self, failed: Callable[[str], None] = lambda _: None) -> None:
        self._listeners: dict[str, list[Listener]] = {}
        self._failed = failed

    def subscribe(self, event: str, callback: Listener) -> None:
        self._listeners.setdefault(event, []).append(callback)

    def unsubscribe(self, event: str, callback: Listener) -> None:
        """Remove a listener; a callback that is not subscribed is ignored."""
        if callback in self._listeners.get(event, []):
            self._listeners[event].remove(callback)

    def has_listeners(self, event: str) -> bool:
        """Return whether the event has listeners."""
        return bool(self._listeners.get(event))

    def emit(self, event: str, **payload: Any) -> None:
        """Call all listeners of an event; a listener added during the call gets only later events."""
        for callback in tuple(self._listeners.get(event, ())):
            call_isolated(callback, f"a listener of {event}", self._failed, **payload)
