"""execute_script: run a script in a sandbox supplied by the caller; without a sandbox, the tool does not exist."""

from typing import Literal, Protocol

from pydantic import Field

from jarvis_workers.agents.tools.tool import Tool, ToolArguments, ToolOutcome, typed

SCRIPT_MAX = 100_000
DESCRIPTION = (
    "Run a script in a sandbox over a read-only copy of the project: no network, an empty environment, a scratch"
    " directory in $HOME, and limits on time, memory and output."
)

Interpreter = Literal["bash", "sh", "python3"]


class ScriptRunner(Protocol):
    """Runs scripts in a sandbox."""

    def __call__(self, interpreter: str, script: str) -> ToolOutcome:
        """Run a script to completion or up to its limits; failure is an outcome, not an exception."""


class ExecuteScript(ToolArguments):
    """A script and its interpreter."""

    interpreter: Interpreter = "bash"
    script_content: str = Field(min_length=1, max_length=SCRIPT_MAX)


def execute_script(run: ScriptRunner) -> Tool:
    """Return the execute_script tool for a runner."""

    def confined(arguments: ExecuteScript) -> ToolOutcome:
        return run(arguments.interpreter, arguments.script_content)

    return typed(ExecuteScript, confined, name="execute_script", description=DESCRIPTION, brings_foreign=True)
