"""The tools of this process and its users that an agent of a job may call."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from jarvis_workers.agents.conversations.resources import AgentSetup
from jarvis_workers.agents.conversations.script_sandbox import ScriptSandboxes
from jarvis_workers.agents.conversations.web_fetch import fetch_document
from jarvis_workers.agents.loop.own_tools import OWN_TOOLS, own_tools
from jarvis_workers.agents.loop.plugins import LeftOutFiles
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.agents.mcp_client.servers import McpServers
from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.agents.tools.reading import read_code
from jarvis_workers.agents.tools.searching import search_code
from jarvis_workers.agents.tools.tool import Tool, execute_script
from jarvis_workers.agents.tools.web_search import search_web


class ConversationTools:
    """The tools of a conversation; `left_out` collects the files and servers of users that this process cannot use."""

    def __init__(self, setup: AgentSetup, sandboxes: ScriptSandboxes, resources: ExitStack) -> None:
        self._setup, self._sandboxes, self._resources = setup, sandboxes, resources
        self.left_out = LeftOutFiles(setup.left_out)

    def reading(self, root: Path) -> list[Tool]:
        """Return the tools that read and search the files of a directory."""
        tree = DirectoryTree(root)
        return [read_code(tree), search_code(tree)]

    def scripts(self, root: Path) -> list[Tool]:
        """Return the tool that runs scripts on the directory `root`; an empty list if there is no sandbox."""
        scripts = self._sandboxes.open(root)
        if scripts is None:
            return []
        self._resources.callback(scripts.close)
        return [execute_script(scripts)]

    async def server_tools(self) -> list[Tool]:
        """Start the configured MCP servers and return their tools; the servers end with the conversation."""
        configured = self._setup.configured

        def tell(says: str) -> None:
            configured.tell(says)
            self.left_out.add(says)

        running = McpServers(configured.servers, tell)
        self._resources.callback(running.close)
        return await in_thread(running.open)

    async def own_tools(self, agent: Callable[[], object]) -> list[Tool]:
        """Load the users' tools; `agent` returns the agent that calls them."""
        directories = [OWN_TOOLS, *self._setup.tools]
        return await in_thread(list, own_tools(directories, agent, self.left_out))

    def web_search(self) -> list[Tool]:
        """Return the tool that searches the web; an empty list if no endpoint is configured."""
        configured = self._setup.configured
        if configured.search_url is None:
            return []
        return [search_web(configured.search_url, partial(fetch_document, key=configured.search_key))]
