"""Scripts of a conversation with a person: those of the agent, and the person's own `!commands`, in one sandbox."""

import threading
from collections.abc import Iterator
from pathlib import Path

from jarvis_workers.agents.conversations.script_sandbox import SandboxedScripts
from jarvis_workers.agents.loop.output import shorten
from jarvis_workers.agents.loop.untrusted_text import Guard
from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import Sandbox, best_tier

OUTPUTS_MAX = 5


class ChatScripts:
    """Runs scripts over a directory (`agents.tools.scripting.ScriptRunner`); the first one opens the sandbox."""

    def __init__(self, root: Path) -> None:
        self._root = str(root.resolve())
        self.tier = best_tier() if self._root != "/" else Tier.C
        self._scripts = self._new()
        self._outputs: list[tuple[str, str]] = []

    def __call__(self, interpreter: str, script: str) -> ToolOutcome:
        return self._scripts(interpreter, script)

    @property
    def runner(self) -> "ChatScripts | None":
        """The runner of scripts, None without a sandbox."""
        return self if self.tier != Tier.C else None

    def run_for_person(self, command: str) -> ToolOutcome:
        """Run a command of the person; its output goes with the next input."""
        outcome = self("bash", command)
        self._outputs = [*self._outputs, (command, outcome.text())][-OUTPUTS_MAX:]
        return outcome

    def take_output(self, guard: Guard) -> Iterator[str]:
        """Yield the commands of the person since the last input with their output, which is marked."""
        for command, output in self._outputs:
            yield f"The user ran this command in the sandbox: {command}\n{guard.admit(shorten(output))}"
        self._outputs = []

    def stop(self) -> None:
        """Kill the running scripts; further ones run in a new sandbox."""
        ended, self._scripts = self._scripts, self._new()
        ended.close()

    def close(self) -> None:
        self._scripts.close()

    def _new(self) -> SandboxedScripts:
        return SandboxedScripts(lambda: Sandbox(self._root, self.tier), threading.BoundedSemaphore(1))
