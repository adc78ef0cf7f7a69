"""Build the resources of conversations (models, directories, custom code, limiters) from a process's configuration."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jarvis_workers.agent.own_platforms import own_platforms
from jarvis_workers.agent.plugins import after_tool_callbacks
from jarvis_workers.conversations.runtime import AgentSetup
from jarvis_workers.platforms.groups import ModelGroup
from jarvis_workers.platforms.registry import Providers
from jarvis_workers.ratelimit.gate import in_process
from jarvis_workers.ratelimit.policy import MakeLimiter

OWN_MODELS = Path("~/.jarvis/models")
UNPACKED = "sources"


def means_of(
    models: Mapping[str, Mapping[str, Any]],
    cache: Path,
    callbacks: Sequence[str] = (),
    limiter: MakeLimiter = in_process,
) -> AgentSetup:
    """Return the means: model groups by name, keys and all; a directory to unpack in; users' own code; who limits."""
    providers = Providers({}, dict(own_platforms([OWN_MODELS])), limiter)
    groups = {name: ModelGroup.model_validate(facts) for name, facts in models.items()}
    listeners = tuple(after_tool_callbacks(map(Path, callbacks)))
    return AgentSetup(providers, groups, cache / UNPACKED, listeners=listeners)
