"""The tools of the assistant: the one place where they are put together."""

from collections.abc import Callable, Sequence
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
from jarvis_workers.assistant.autonomy import SCRIPT
from jarvis_workers.assistant.chat.memory_files import MemoryFiles
from jarvis_workers.assistant.chat.methodology_files import MethodologyFiles
from jarvis_workers.assistant.memory.tools import memory_tools
from jarvis_workers.assistant.methodology import save_methodology
from jarvis_workers.assistant.person_tools import ASK_USER, ask_user, sub_agent
from jarvis_workers.errors import UsageError

SEARCH_WEB = "search_web"


@dataclass(frozen=True, kw_only=True)
class ToolSources:
    """What tools work on: the directory, the runner of scripts (None without a sandbox), the agent that calls them.

    `servers` are the tools of MCP servers, `own` the directories of users' tools, of whose files
    `left_out` gets those that cannot be used. Without a book there are no tools for
    memories, or for methodologies.
    """

    root: Path
    scripts: ScriptRunner | None
    agent: Callable[[], object]
    has_person: bool
    configured: ConfiguredTools
    servers: Sequence[Tool] = ()
    own: Sequence[Path] = (OWN_TOOLS,)
    left_out: LeftOutFiles = field(default_factory=LeftOutFiles)
    memories: MemoryFiles | None = None
    methodologies: MethodologyFiles | None = None


def tools_of(sources: ToolSources) -> list[Tool]:
    """Return all tools that are available."""
    tree = DirectoryTree(sources.root)
    tools = [read_code(tree), search_code(tree)]
    tools += [execute_script(sources.scripts)] if sources.scripts else []
    tools += [ask_user()] if sources.has_person else []
    tools += memory_tools(sources.memories) if sources.memories else []
    tools += [save_methodology(sources.methodologies)] if sources.methodologies else []
    if url := sources.configured.search_url:
        tools.append(search_web(url, partial(fetch_document, key=sources.configured.search_key)))
    return [*tools, sub_agent(), *sources.servers, *own_tools(sources.own, sources.agent, sources.left_out)]


def usable(tools: list[Tool], names: Sequence[str] | None, where: str) -> list[Tool]:
    """Return the tools with these names, or all. Raises UsageError, which names `where`, for an unknown name.

    A tool that is only missing here, without a person, a sandbox or a search server, is left out.
    """
    if names is None:
        return tools
    available = {*(tool.name for tool in tools), SCRIPT, ASK_USER, SEARCH_WEB}
    unknown = [name for name in names if name not in available]
    if unknown:
        raise UsageError(f'{where}: unknown tool "{unknown[0]}"; available: {", ".join(sorted(available))}')
    return [tool for tool in tools if tool.name in names]
