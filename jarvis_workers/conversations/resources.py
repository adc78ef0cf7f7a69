"""What conversations may use: models, directories, custom code, rate limiters, from a process's configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_workers.agent.events import Listener
from jarvis_workers.agent.own_platforms import own_platforms
from jarvis_workers.agent.plugins import after_tool_callbacks
from jarvis_workers.platforms.answer_cache import AnswerStore
from jarvis_workers.platforms.groups import ModelGroup
from jarvis_workers.platforms.registry import Providers
from jarvis_workers.ratelimit.gate import in_process
from jarvis_workers.ratelimit.policy import MakeLimiter

OWN_MODELS = Path("~/.jarvis/models")
UNPACKED = "sources"


@dataclass(frozen=True)
class AgentSetup:
    """What conversations may use here.

    `groups` are the models by name; `unpacked` is the directory for unpacked sources; `recorded` replaces the answer
    cache of the store, and `offline` allows no answers but cached ones; `listeners` are called after every tool.
    """

    providers: Providers
    groups: Mapping[str, ModelGroup]
    unpacked: Path
    recorded: AnswerStore | None = None
    offline: bool = False
    listeners: tuple[Listener, ...] = ()


def setup_of(
    models: Mapping[str, Mapping[str, Any]],
    cache: Path,
    callbacks: Sequence[str] = (),
    limiter: MakeLimiter = in_process,
) -> AgentSetup:
    """Build the setup: `models` are model groups by name with their keys, `callbacks` paths of users' Python files.

    Sources are unpacked below `cache`.
    """
    providers = Providers({}, dict(own_platforms([OWN_MODELS])), limiter)
    groups = {name: ModelGroup.model_validate(facts) for name, facts in models.items()}
    listeners = tuple(after_tool_callbacks(map(Path, callbacks)))
    return AgentSetup(providers, groups, cache / UNPACKED, listeners=listeners)
