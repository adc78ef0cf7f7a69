"""One conversation of a job: its model, tools and transcript, from its opening to its end."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from jarvis_workers import __version__
from jarvis_workers.agent.agent import Agent
from jarvis_workers.agent.drivers import AgentWorld, drive_async
from jarvis_workers.agent.effects import Conversation
from jarvis_workers.agent.events import AFTER_TOOL_CALL, EventBus, Listener
from jarvis_workers.agent.nonces import Marks
from jarvis_workers.agent.transcript import Transcript, read_line
from jarvis_workers.conversations.platform_stack import PlatformStack
from jarvis_workers.conversations.script_sandbox import SandboxedScripts
from jarvis_workers.conversations.store_adapters import StoredLog
from jarvis_workers.errors import StepFailed, UsageError
from jarvis_workers.telemetry import warning
from jarvis_workers.tools.scripting import execute_script
from jarvis_workers.tools.tool import Tool

T = TypeVar("T")
OpenScripts = Callable[[Path], SandboxedScripts | None]


class JobConversation:
    """A conversation that is open; `AgentRuntime.open` makes it. `profiles` are those of vote 0 and of other votes."""

    def __init__(
        self,
        log: StoredLog,
        marks: Marks,
        stack: PlatformStack,
        listeners: Iterable[Listener],
        open_scripts: OpenScripts,
        resources: ExitStack,
    ) -> None:
        self.marks, self.platform, self.profiles = marks, stack.platform, stack.profiles
        self._log, self._stack, self._resources = log, stack, resources
        self._listeners, self._open_scripts = listeners, open_scripts
        # free the messages with the conversation, although its caller may still refer to it
        resources.callback(vars(self).clear)

    def scripts(self, root: Path) -> list[Tool]:
        """Return the tool that runs scripts over a directory; none where nothing can confine them."""
        scripts = self._open_scripts(root)
        if scripts is None:
            return []
        self._resources.callback(scripts.close)
        return [execute_script(scripts)]

    async def lead(self, talk: Conversation[T], agent: Agent, about: Mapping[str, Any]) -> T:
        """Drive an agent's conversation to its end; raises AgentStopped.

        `about` identifies the conversation: a transcript with another one is not resumed.
        """
        bus, start = EventBus(), {**about, "tools": list(agent.tools.names)}
        for listener in self._listeners:
            bus.subscribe(AFTER_TOOL_CALL, listener)
        return await drive_async(talk, AgentWorld(self.platform, agent.tools, self._transcript(start), bus))

    async def forget(self) -> None:
        """Remove the answers from the cache, since nothing came of them; the transcript keeps them."""
        self._stack.forget()
        await self._log.sync_async()

    def _transcript(self, about: Mapping[str, Any]) -> Transcript:
        """Resume the transcript; restart it if it is of another version or other tools, unless that repeats effects."""
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
