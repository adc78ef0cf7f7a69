"""The tools of the assistant: the one place where they are put together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from jarvis_workers.agents.conversations.resources import ConfiguredTools
from jarvis_workers.agents.conversations.web_fetch import fetch_document
from jarvis_workers.agents.loop.own_tools import OWN_TOOLS, own_tools
from jarvis_workers.agents.loop.plugins import LeftOutFiles
from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.agents.tools.reading import read_code
from jarvis_workers.agents.tools.searching import search_code
from jarvis_workers.agents.tools.tool import ScriptRunner, Tool, execute_script
from jarvis_workers.agents.tools.web_search import search_web
from jarvis_workers.assistant.autonomy import SCRIPT, WRITE_NOTHING
from jarvis_workers.assistant.definition_file import DefinitionFile
from jarvis_workers.assistant.person_tools import ASK_USER, ask_user, sub_agent
from jarvis_workers.errors import UsageError

SEARCH_WEB = "search_web"


@dataclass(frozen=True, kw_only=True)
class ToolSources:
    """What tools work on: the directory, the runner of scripts (None without a sandbox), the agent that calls them.

    `servers` are the tools of MCP servers, `knowledge` those for memories and methodologies, `own` the directories of
    users' tools beside OWN_TOOLS, of whose files `left_out` gets those that cannot be used.
    """

    root: Path
    scripts: ScriptRunner | None
    agent: Callable[[], object]
    has_person: bool
    configured: ConfiguredTools
    servers: Sequence[Tool] = ()
    own: Sequence[str] = ()
    left_out: LeftOutFiles = field(default_factory=LeftOutFiles)
    knowledge: Sequence[Tool] = ()


def tools_of(sources: ToolSources) -> list[Tool]:
    """Return all tools that are available."""
    tree = DirectoryTree(sources.root)
    tools = [read_code(tree), search_code(tree)]
    tools += [execute_script(sources.scripts)] if sources.scripts else []
    tools += [ask_user()] if sources.has_person else []
    tools += sources.knowledge
    if url := sources.configured.search_url:
        tools.append(search_web(url, partial(fetch_document, key=sources.configured.search_key)))
    own = own_tools((OWN_TOOLS, *map(Path, sources.own)), sources.agent, sources.left_out)
    return [*tools, sub_agent(), *sources.servers, *own]


def choose_tools(
    tools: list[Tool], definition: DefinitionFile, group: str | None, groups: Mapping[str, Sequence[str]]
) -> list[Tool]:
    """Return the tools of the definition, or of the tool group; with `disable_file_edit` those that write no files.

    Raises UsageError.
    """
    if definition.use_tools is not None:
        tools = _usable(tools, definition.use_tools, "use_tools")
    elif group is not None:
        if group not in groups:
            available = ", ".join(groups) or "none; set tool_groups in jarvis.yaml"
            raise UsageError(f'there is no tool group "{group}"; available: {available}')
        tools = _usable(tools, groups[group], f"tool_groups.{group}")
    return [tool for tool in tools if tool.name in WRITE_NOTHING] if definition.disable_file_edit else tools


def _usable(tools: list[Tool], names: Sequence[str], where: str) -> list[Tool]:
    """Return the tools with these names. Raises UsageError, which names `where`, for an unknown name.

    A tool that is only missing here, without a person, a sandbox or a search server, is left out.
    """
    available = {*(tool.name for tool in tools), SCRIPT, ASK_USER, SEARCH_WEB}
    unknown = [name for name in names if name not in available]
    if unknown:
        raise UsageError(f'{where}: unknown tool "{unknown[0]}"; available: {", ".join(sorted(available))}')
    return [tool for tool in tools if tool.name in names]
