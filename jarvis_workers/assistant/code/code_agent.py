"""The agent that changes code: its tools over a working copy of the sources, and its memories."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_workers.agents.conversations.runtime import JobConversation
from jarvis_workers.agents.conversations.working_copy import without_places
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.effects import Definition
from jarvis_workers.agents.tools.editing import PATCH, REWRITE, EditWorkspace, edit_tools, watched_reading
from jarvis_workers.agents.tools.searching import search_code
from jarvis_workers.agents.tools.tool import Tool, Toolbox, ToolOutcome
from jarvis_workers.assistant.code.code_options import CodeOptions
from jarvis_workers.assistant.memory.saving import use_memory
from jarvis_workers.assistant.memory.tools import MEMORY_TOOLS, memory_tools
from jarvis_workers.assistant.store.stored_memory import StoredMemory
from jarvis_workers.assistant.sub_code_agent import SUB_CODE_AGENT, sub_code_tool
from jarvis_workers.errors import StepFailed, UsageError
from jarvis_workers.store.engine import Store

# All tools but those of the user, which is checked by a test.
BUILT_IN = ("read_code", "search_code", "execute_script", PATCH, REWRITE, SUB_CODE_AGENT, "search_web", *MEMORY_TOOLS)
# Tools that may be missing: without a sandbox, a search endpoint, or memories.
OPTIONAL = frozenset({"execute_script", "search_web", *MEMORY_TOOLS})


async def open_agent(
    options: CodeOptions, definition: Definition, talk: JobConversation, workspace: EditWorkspace, store: Store
) -> tuple[Agent, list[Tool]]:
    """Return the agent with the tools that the options name, and its hidden tools.

    Raises StepFailed for a tool that is not there.
    """
    agents: list[Agent] = []
    book = StoredMemory(store, options.project) if options.project else None
    root = workspace.root
    scripts = [_local(tool, root) for tool in talk.scripts(root)]
    reading = [watched_reading(workspace), search_code(workspace.tree)]
    tools = [*reading, *scripts, *edit_tools(workspace), sub_code_tool(), *talk.web_search()]
    tools += memory_tools(book) if book else []
    names = list(options.tools) or [tool.name for tool in tools]
    users = await talk.own_tools(lambda: agents[0])
    present = Toolbox([*tools, *(tool for tool in users if tool.name not in {one.name for one in tools})])
    try:
        box = present.only(name for name in names if name in present.names or name not in OPTIONAL)
    except UsageError as problem:
        raise StepFailed(f"--append-tools or the tool group: {problem}") from problem
    profile, limits = talk.platform.profile, options.agent_limits
    agents.append(Agent(definition, box, profile=profile, marks=talk.marks, limits=limits))
    return agents[0], use_memory(agents[0], book) if book else []


def _local(tool: Tool, root: Path) -> Tool:
    """Return a tool whose outcomes do not contain the path of the scratch copy."""

    def run(arguments: Any) -> ToolOutcome:
        return without_places(tool.run(arguments), {root: "."})

    return replace(tool, run=run)
