"""Resources of conversations, from the configuration of a process: models, directories, plugins, rate limiters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_workers.agents.conversations.observer import NOBODY, Observer
from jarvis_workers.agents.loop.events import Listener
from jarvis_workers.agents.loop.own_platforms import OWN_MODELS, own_platforms
from jarvis_workers.agents.loop.plugins import LeftOutFiles, after_tool_callbacks
from jarvis_workers.errors import StepFailed
from jarvis_workers.models.platforms.answer_cache import AnswerStore
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.models.platforms.profiles import Profile
from jarvis_workers.models.platforms.registry import Providers
from jarvis_workers.models.ratelimit.gate import in_process
from jarvis_workers.models.ratelimit.policy import MakeLimiter
from jarvis_workers.settings.mcp_servers import McpServer
from jarvis_workers.snapshots.resources import UNPACKED
from jarvis_workers.telemetry import warning


def _log(says: str) -> None:
    warning("tools", says=says)


@dataclass(frozen=True)
class ConfiguredTools:
    """What a user has configured for agents: MCP servers, and a search endpoint with its key.

    `tell` gets one line for each server that cannot be used.
    """

    servers: tuple[McpServer, ...] = ()
    search_url: str | None = None
    search_key: str | None = None
    tell: Callable[[str], None] = _log


NO_TOOLS = ConfiguredTools()


@dataclass(frozen=True)
class AgentSetup:
    """The resources of the conversations of a process.

    `groups` are the model groups by name; `unpacked` is the directory for unpacked sources; `recorded` replaces the
    answer cache of the store; `offline` allows only cached answers; `listeners` are called after every tool call;
    `observer` is notified of conversations, model calls and tool calls; `tools` are directories of users' tools,
    `configured` tools for `agent` runs only; `left_out` has a line for each of the users' files that cannot be used.
    """

    providers: Providers
    groups: Mapping[str, ModelGroup]
    unpacked: Path
    recorded: AnswerStore | None = None
    offline: bool = False
    listeners: tuple[Listener, ...] = ()
    observer: Observer = NOBODY
    configured: ConfiguredTools = NO_TOOLS
    tools: tuple[Path, ...] = ()
    left_out: tuple[str, ...] = ()

    def group(self, name: str) -> ModelGroup:
        """Return a model group. Raises StepFailed if it is not configured here."""
        group = self.groups.get(name)
        if group is None:
            available = ", ".join(self.groups) or "none"
            raise StepFailed(
                f'this machine has no model group "{name}"; available: {available}; see models in jarvis.yaml'
            )
        return group

    def profile(self, name: str) -> Profile:
        """Return the profile of a group's model, the default one if the group is not configured here."""
        group = self.groups.get(name)
        return group.quirks if group else Profile()


def setup_of(
    models: Mapping[str, Mapping[str, Any]],
    cache: Path,
    callbacks: Sequence[str] = (),
    limiter: MakeLimiter = in_process,
    observer: Observer = NOBODY,
    configured: ConfiguredTools = NO_TOOLS,
    tools: Sequence[str] = (),
) -> AgentSetup:
    """Build the setup: `models` are the settings of model groups by name.

    `callbacks` and `tools` are directories of users' plugins. Sources are unpacked below the directory `cache`.
    """
    left_out = LeftOutFiles()
    providers = Providers({}, dict(own_platforms([OWN_MODELS], left_out)), limiter)
    groups = {name: ModelGroup.model_validate(facts) for name, facts in models.items()}
    listeners = tuple(after_tool_callbacks(map(Path, callbacks), left_out))
    return AgentSetup(
        providers,
        groups,
        cache / UNPACKED,
        listeners=listeners,
        observer=observer,
        configured=configured,
        tools=tuple(map(Path, tools)),
        left_out=tuple(left_out.lines),
    )
