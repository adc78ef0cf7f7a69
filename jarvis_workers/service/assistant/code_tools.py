"""The tools of an agent that changes code: those of a group or the default ones, and appended ones."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.agent.own_tools import OWN_TOOLS, own_tools
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import listing, plain
from jarvis_workers.service.assistant.central_repository import tool_directories
from jarvis_workers.steps.assistant.change_code import BUILT_IN

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings

DEFAULT_TOOLS = (
    *("read_code", "search_code", "execute_script", "patch", "rewrite", "search_web"),
    *("save_memory", "retrieve_memory", "clear_memory", "sub_code_agent"),
)
NAMES_MAX = 30


def tool_names(settings: "Settings", group: str | None, appended: Sequence[str]) -> list[str]:
    """Return the names of the agent's tools, each once. Raises UsageError for a group that is not there."""
    group = group or settings.tool_group
    groups: Mapping[str, tuple[str, ...]] = settings.tool_groups
    if group and group not in groups:
        names = ", ".join(sorted(groups)) or "none"
        raise UsageError(f'-G: there is no tool group "{plain(group)}"; tool_groups in jarvis.yaml has: {names}')
    return list(dict.fromkeys((*(groups[group] if group else DEFAULT_TOOLS), *appended)))


def check_tools(settings: "Settings", names: Sequence[str], tell: Callable[[str], None]) -> None:
    """Raise UsageError for names that no tool has. Workers of a cluster have tools of their own, which are not known.

    The user's tools are loaded only if a name is not that of a built-in one.
    """
    unknown = [name for name in names if name not in BUILT_IN]
    if not unknown or settings.place == "cluster":
        return
    directories = [OWN_TOOLS, *map(Path, tool_directories(settings, tell))]
    own = [tool.name for tool in own_tools(directories, lambda: None)]
    if missing := [name for name in unknown if name not in own]:
        available = listing([plain(name) for name in dict.fromkeys((*BUILT_IN, *own))], NAMES_MAX)
        raise UsageError(
            f'--append-tools or the tool group: unknown tool "{plain(missing[0])}"; available tools: {available}'
        )
