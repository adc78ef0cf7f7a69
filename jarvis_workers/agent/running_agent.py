"""What the parts of the loop need of the agent at work."""

from typing import Any, Protocol

from jarvis_workers.agent.effects import Conversation, Definition, Tell
from jarvis_workers.agent.limits import AgentLimits
from jarvis_workers.agent.session import Session
from jarvis_workers.agent.untrusted_text import Guard
from jarvis_workers.platforms.protocol import ModelRequest, Reply
from jarvis_workers.tools.registry import Toolbox

__all__ = ["RunningAgent"]


class RunningAgent(Protocol):
    """An agent in a conversation, as loop.py has it; `ask` raises AgentStopped."""

    about: Definition
    tools: Toolbox
    limits: AgentLimits
    session: Session
    guard: Guard
    compactions: int

    def ask(self, message: str, request: ModelRequest | None = None) -> Conversation[Reply]: ...

    def tell(self, event: str, **payload: Any) -> Tell: ...

    def request(self) -> ModelRequest: ...

    def restrict(self, names: list[str]) -> None: ...
