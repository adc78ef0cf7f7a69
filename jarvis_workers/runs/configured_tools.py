"""The tools that a user has configured for agents: MCP servers, and the endpoint of search_web."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from jarvis_workers.agents.conversations.resources import ConfiguredTools
from jarvis_workers.errors import SettingsError
from jarvis_workers.settings import Settings


def configured_tools(settings: Settings, tell: Callable[[str], None]) -> ConfiguredTools:
    """Return the configured tools of this process."""
    return ConfiguredTools(settings.mcp, settings.search.url, _search_key(settings), tell)


def configured_facts(settings: Settings) -> dict[str, Any]:
    """Return the configured tools as JSON data including keys, which may only be written to a pipe of a child."""
    servers = tuple(server.facts() for server in settings.mcp)
    return {"mcp": servers, "search_url": settings.search.url, "search_key": _search_key(settings)}


def check_search_key(settings: Settings, environ: Mapping[str, str] = os.environ) -> None:
    """Raise SettingsError if the key of the search endpoint is not set."""
    name = settings.search.key_env
    if settings.search.url and name and not environ.get(name):
        raise SettingsError(f"search.key_env: the key is taken from {name}, which is not set")


def _search_key(settings: Settings, environ: Mapping[str, str] = os.environ) -> str | None:
    return environ.get(settings.search.key_env or "") or None
