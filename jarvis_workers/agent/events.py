"""Events of an agent, and the event bus that notifies listeners.

Names and payloads are those of the seed documents (003, 3.3.8). Listeners are called sequentially; their exceptions are
logged and otherwise ignored.
"""

from collections.abc import Callable
from typing import Any

from jarvis_workers.agent.plugins import call_isolated

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

PAYLOADS: dict[str, tuple[str, ...]] = {
    TASK_STARTED: ("agent", "name", "description", "user_input"),
    TASK_COMPLETED: ("agent", "auto_completed", "need_summary"),
    BEFORE_MODEL_CALL: ("agent", "message"),
    AFTER_MODEL_CALL: ("agent", "message", "response"),
    BEFORE_TOOL_CALL: ("agent", "current_response"),
    AFTER_TOOL_CALL: ("agent", "current_response", "need_return", "tool_prompt"),
    BEFORE_ADDON_PROMPT: ("agent", "need_complete", "current_message", "has_session_addon"),
    AFTER_ADDON_PROMPT: ("agent", "need_complete", "addon_text", "final_message"),
    BEFORE_SUMMARY: ("agent", "prompt", "auto_completed", "need_summary"),
    AFTER_SUMMARY: ("agent", "summary"),
    BEFORE_HISTORY_CLEAR: ("agent",),
    AFTER_HISTORY_CLEAR: ("agent",),
    BEFORE_TOOL_FILTER: ("agent", "task", "total_tools", "threshold"),
    TOOL_FILTERED: ("agent", "task", "selected_tools", "total_tools", "threshold"),
    INTERRUPT_TRIGGERED: ("agent", "current_response", "user_input"),
}


class EventBus:
    """The listeners of each event."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = {}

    def subscribe(self, event: str, callback: Listener) -> None:
        self._listeners.setdefault(event, []).append(callback)

    def unsubscribe(self, event: str, callback: Listener) -> None:
        """Remove a listener; a callback that is not subscribed is ignored."""
        if callback in self._listeners.get(event, []):
            self._listeners[event].remove(callback)

    def is_heard(self, event: str) -> bool:
        """Return whether the event has listeners."""
        return bool(self._listeners.get(event))

    def emit(self, event: str, **payload: Any) -> None:
        """Call all listeners of an event; a listener added during the call gets only later events."""
        for callback in tuple(self._listeners.get(event, ())):
            call_isolated(callback, f"a listener of {event}", **payload)
