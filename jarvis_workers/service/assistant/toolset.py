"""The tools of the assistant: the one place where they are put together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_workers.agent.own_tools import OWN_TOOLS, own_tools
from jarvis_workers.assistant.autonomy import SCRIPT
from jarvis_workers.assistant.person_tools import ASK_USER, ask_user, sub_agent
from jarvis_workers.errors import UsageError
from jarvis_workers.service.assistant.search_server import SearchServer
from jarvis_workers.tools.reading import read_code
from jarvis_workers.tools.scripting import ScriptRunner, execute_script
from jarvis_workers.tools.searching import search_code
from jarvis_workers.tools.tool import Tool
from jarvis_workers.tools.tree import DirectoryTree
from jarvis_workers.tools.web_search import SEARCH_WEB, search_web


@dataclass(frozen=True)
class ToolSources:
    """What tools work on: the directory, the runner of scripts (None without a sandbox), the agent that calls them.

    Without `search_url` there is no search_web.
    """

    root: Path
    scripts: ScriptRunner | None
    agent: Callable[[], object]
    has_person: bool
    search_url: str | None = None


def tools_of(sources: ToolSources) -> list[Tool]:
    """Return all tools that are available."""
    tree = DirectoryTree(sources.root)
    tools = [read_code(tree), search_code(tree)]
    tools += [execute_script(sources.scripts)] if sources.scripts else []
    tools += [search_web(SearchServer(sources.search_url))] if sources.search_url else []
    tools += [ask_user()] if sources.has_person else []
    return [*tools, sub_agent(), *own_tools([OWN_TOOLS], sources.agent)]


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
