"""A saved session: the messages of a conversation as JSON, and the name of its file.

The system prompt is not taken from a saved session but built anew, so that a file cannot bring instructions. Nor are
reasoning items, which are sent to the provider as they are, and belong to a turn that has ended.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.limits import AgentUsage
from jarvis_workers.errors import UsageError
from jarvis_workers.models.platforms.protocol import Message, TokenUsage

UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
NAME_MAX = 60
MESSAGES_MAX = 10_000
ADVICE = "remove it, or start without --restore-session"


def _admit(message: Message) -> Message:
    if message.role == "system":
        raise ValueError("has the role system")
    return replace(message, reasoning_items=None)


class SavedSession(BaseModel):
    """The content of a session file; `id` is that of the session, from which its marks are derived."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    version: Literal[1] = 1
    id: str = Field(pattern=r"^[0-9a-f]{32}$")
    agent: str
    platform: str
    model: str
    prompt: str = ""
    conversation_length: int = 0
    turn: int = Field(default=1, ge=1)
    rounds: int = Field(default=0, ge=0)
    messages: tuple[Annotated[Message, AfterValidator(_admit)], ...] = Field(default=(), max_length=MESSAGES_MAX)
    usage: TokenUsage = TokenUsage()
    cost: float = Field(default=0.0, ge=0)
    unpriced: int = Field(default=0, ge=0)
    user_data: Mapping[str, Any] = Field(default_factory=dict)


def session_name(agent: str, platform: str, model: str) -> str:
    """Return the name of the session file of an agent; each part has only letters, digits and `._-`."""
    return f"saved_session_{_safe(agent)}_{_safe(platform)}_{_safe(model)}.json"


def save_session(agent: Agent, session_id: str, platform: str, model: str) -> str:
    """Return the session of an agent as JSON; values of listeners that are not JSON are left out."""
    session, spent = agent.session, agent.spent
    user_data = {name: value for name, value in session.user_data.items() if _is_plain(value)}
    saved = SavedSession(
        id=session_id,
        agent=agent.name,
        platform=platform,
        model=model,
        prompt=session.task,
        conversation_length=session.tokens,
        turn=session.turn,
        rounds=session.rounds,
        messages=tuple(session.messages[1:]),
        usage=spent.usage,
        cost=spent.cost,
        unpriced=spent.unpriced,
        user_data=user_data,
    )
    # Lone surrogates, which a model may write, are no UTF-8, but may stand in JSON as escapes.
    text = json.dumps(saved.model_dump(mode="json"), ensure_ascii=False, indent=1)
    return text.encode("utf-8", "backslashreplace").decode()


def read_session(text: str, where: str) -> SavedSession:
    """Return a saved session. Raises UsageError."""
    try:
        return SavedSession.model_validate(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not a saved session: {_problem(error)}; {ADVICE}") from error


def restore_session(agent: Agent, saved: SavedSession) -> None:
    """Continue a saved session with an agent, which has a new system prompt."""
    agent.session.restore([*saved.messages], turn=min(saved.turn, len(saved.messages) + 1), rounds=saved.rounds)
    agent.session.task = saved.prompt
    agent.session.user_data.update(saved.user_data)
    agent.spent = replace(agent.spent, usage=saved.usage, cost=saved.cost, unpriced=saved.unpriced)


def clear_session(agent: Agent) -> None:
    """Forget the messages and the usage of a conversation."""
    agent.session.restore([], turn=1, rounds=0)
    agent.session.task = ""
    agent.spent = AgentUsage()


def _problem(error: ValueError | RecursionError) -> str:
    if not isinstance(error, ValidationError):
        return "it is not JSON"
    wrong = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, wrong["loc"])) or "the file"
    return f"{place}: {wrong['msg']}"


def _safe(name: str) -> str:
    return UNSAFE.sub("-", name).strip("-.")[:NAME_MAX] or "unnamed"


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(inner) for key, inner in value.items())
    return isinstance(value, str | int | float | bool | None)
