"""The tools of an agent that changes code: those of a group or the default ones, and appended ones."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.agents.loop.own_tools import OWN_TOOLS, own_tools
from jarvis_workers.agents.loop.report import SUBMIT
from jarvis_workers.assistant.code.code_agent import BUILT_IN
from jarvis_workers.assistant.methodology import SAVE_METHODOLOGY
from jarvis_workers.assistant.person_tools import ASK_USER, SUB_AGENT
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import listing, plain
from jarvis_workers.runs.central_repository import tool_directories

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings

DEFAULT_TOOLS = (
    *("read_code", "search_code", "execute_script", "patch", "rewrite", "search_web"),
    *("save_memory", "retrieve_memory", "clear_memory", "sub_code_agent"),
)
# The built-in tools of all agents.
EVERY_BUILT_IN = frozenset({*BUILT_IN, ASK_USER, SUB_AGENT, SAVE_METHODOLOGY, SUBMIT})
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
    """Raise UsageError for names that no tool has."""
    if problem := next(unknown_tools(settings, names, BUILT_IN, tell), None):
        raise UsageError(f"--append-tools or the tool group: {problem.says}")


@dataclass(frozen=True)
class UnknownTool:
    """A name that no tool of the agent has, and the message about it."""

    name: str
    says: str


def unknown_tools(
    settings: "Settings", names: Sequence[str], built_in: Sequence[str], tell: Callable[[str], None]
) -> Iterator[UnknownTool]:
    """Yield the names that neither a built-in tool of the agent nor a tool of the user has.

    Workers of a cluster have tools of their own, which are not known here: then only the built-in tools of other agents
    are unknown. The user's tools are loaded only if a name is not that of a built-in one.
    """
    unknown = [name for name in dict.fromkeys(names) if name not in built_in]
    if not unknown:
        return
    is_local = settings.place == "local"
    directories = [OWN_TOOLS, *map(Path, tool_directories(settings, tell))] if is_local else []
    own = [tool.name for tool in own_tools(directories, lambda: None)]
    available = listing([plain(name) for name in dict.fromkeys((*built_in, *own))], NAMES_MAX)
    more = "" if is_local else ", and those of the workers"
    for name in unknown:
        if name not in own and (is_local or name in EVERY_BUILT_IN):
            yield UnknownTool(name, f'unknown tool "{plain(name)}"; available tools: {available}{more}')
