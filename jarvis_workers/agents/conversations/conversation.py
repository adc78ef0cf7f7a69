"""The conversation of a job: its platform, tools and transcript, from opening to end."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from jarvis_workers import __version__
from jarvis_workers.agents.conversations.deadline import pause_deadline
from jarvis_workers.agents.conversations.observer import NOBODY, ObservedTools
from jarvis_workers.agents.conversations.platform_stack import PlatformStack
from jarvis_workers.agents.conversations.resources import AgentSetup
from jarvis_workers.agents.conversations.script_sandbox import SandboxedScripts
from jarvis_workers.agents.conversations.store_adapters import StoredLog
from jarvis_workers.agents.conversations.web_fetch import fetch_document
from jarvis_workers.agents.loop.agent import Agent
from jarvis_workers.agents.loop.drivers import AgentWorld, drive_async
from jarvis_workers.agents.loop.effects import Conversation
from jarvis_workers.agents.loop.events import AFTER_TOOL_CALL, EventBus
from jarvis_workers.agents.loop.nonces import Marks
from jarvis_workers.agents.loop.own_tools import OWN_TOOLS, own_tools
from jarvis_workers.agents.loop.plugins import LeftOutFiles
from jarvis_workers.agents.loop.threads import in_thread
from jarvis_workers.agents.loop.transcript import Transcript, read_line
from jarvis_workers.agents.mcp_client.server_files import servers_or_files
from jarvis_workers.agents.mcp_client.servers import McpServers
from jarvis_workers.agents.tools.scripting import execute_script
from jarvis_workers.agents.tools.tool import Tool
from jarvis_workers.agents.tools.web_search import search_web
from jarvis_workers.errors import StepFailed, UsageError
from jarvis_workers.telemetry import warning

T = TypeVar("T")
OpenScripts = Callable[[Path], SandboxedScripts | None]


class JobConversation:
    """An open conversation, created by `AgentRuntime.open`; `profiles` are those of its model groups.

    `left_out` collects the files and servers of users that this process cannot use, and callbacks that failed.
    """

    def __init__(
        self,
        log: StoredLog,
        marks: Marks,
        stack: PlatformStack,
        setup: AgentSetup,
        open_scripts: OpenScripts,
        resources: ExitStack,
    ) -> None:
        self.marks, self.platform, self.profiles = marks, stack.platform, stack.profiles
        self._log, self._stack, self._resources = log, stack, resources
        self._setup, self._open_scripts = setup, open_scripts
        self.left_out = LeftOutFiles(setup.left_out)
        # free the messages at the end of the conversation, even if the caller still refers to this object
        resources.callback(vars(self).clear)

    def scripts(self, root: Path) -> list[Tool]:
        """Return the tool that runs scripts on the directory `root`; an empty list if there is no sandbox."""
        scripts = self._open_scripts(root)
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

        servers = await in_thread(servers_or_files, configured.servers, tell)
        running = McpServers(servers, tell)
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

    async def lead(
        self, talk: Conversation[T], agent: Agent, about: Mapping[str, Any], hidden: Sequence[Tool] = ()
    ) -> T:
        """Drive an agent's conversation to its end; raises AgentStopped.

        `about` identifies the conversation; a transcript with a different identity is not resumed.  The `hidden` tools
        are run by the conversation itself; the model cannot call them.
        """
        bus, start = EventBus(self.left_out.add), {**about, "tools": list(agent.tools.names)}
        for listener in self._setup.listeners:
            bus.subscribe(AFTER_TOOL_CALL, listener)
        observer = self._setup.observer
        own = agent.tools.plus(*hidden)
        tools = own if observer is NOBODY else ObservedTools(own, self._stack.job, observer)
        transcript = self._transcript(start)
        return await drive_async(talk, AgentWorld(self.platform, tools, transcript, bus, pause_deadline=pause_deadline))

    async def forget(self) -> None:
        """Remove the answers of a failed conversation from the cache; they remain in the transcript."""
        self._stack.forget()
        await self._log.sync_async()

    def _transcript(self, about: Mapping[str, Any]) -> Transcript:
        """Resume the transcript, or restart it after a change of version or tools.

        Raises StepFailed if a restart would repeat a tool that must not run twice.
        """
        start = {"version": __version__, "model": self.platform.model, **about}
        try:
            return Transcript(self._log, start)
        except UsageError as problem:
            if any(record and record["kind"] == "call" for record in map(read_line, self._log.lines())):
                why = "it cannot restart, because a tool has run that must not run twice"
                raise StepFailed(f"{problem}; {why}") from problem
            warning("transcript restarted", job=self._log.job_id, says=str(problem))
            self._log.keep(0)
            return Transcript(self._log, start)
