"""execute_script: run a script where it can do no harm. Where that is, is handed in; without it there is no tool."""

from typing import Literal, Protocol

from pydantic import Field

from jarvis_workers.tools.tool import Tool, ToolArguments, ToolOutcome, typed

SCRIPT_MAX = 100_000
DESCRIPTION = (
    "Run a script in a sandbox over a read-only copy of the project: no network, an empty environment, a scratch"
    " directory in $HOME, and limits of time, memory and output."
)

Interpreter = Literal["bash", "sh", "python3"]


class ScriptRunner(Protocol):
    """A place where scripts are run, confined."""

    def __call__(self, interpreter: str, script: str) -> ToolOutcome:
        """Run it to its end or its limits; failing is an outcome, not an exception."""
        ...


class ExecuteScript(ToolArguments):
    """A script, and what runs it."""

    interpreter: Interpreter = "bash"
    script_content: str = Field(min_length=1, max_length=SCRIPT_MAX, description="the text of the script")


def execute_script(run: ScriptRunner) -> Tool:
    """Return the tool for a place to run in."""

    def confined(wanted: ExecuteScript) -> ToolOutcome:
        return run(wanted.interpreter, wanted.script_content)

    return typed(ExecuteScript, confined, name="execute_script", description=DESCRIPTION, brings_foreign=True)
