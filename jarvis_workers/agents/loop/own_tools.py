"""User-defined tools, from files such as ~/.jarvis/tools/*.py.

A file defines a class with `name`, `description`, `parameters` (a JSON schema) and `execute`. The attribute
`protocol_version` selects the calling convention: "2.0" is `execute(arguments, agent)`; "1.0", the default, is
`execute(arguments)` with the agent under the key "agent". A failed call is not repeated with the other convention. A
class whose `check()` returns false is left out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from jarvis_workers.agents.loop.plugins import ForeignError, LeaveOut, call_foreign, leave_out, load_files
from jarvis_workers.agents.tools.tool import Tool, ToolOutcome, schema_reader

OWN_TOOLS = Path("~/.jarvis/tools")
VERSIONS = ("1.0", "2.0")
TOOL_MEMBERS = ("name", "description", "parameters", "execute")


def own_tools(
    directories: Iterable[Path], agent: Callable[[], object], leave_out: LeaveOut = leave_out
) -> Iterator[Tool]:
    """Yield the tools that the files of the directories define; `agent` returns the agent that calls them."""
    for path, module in load_files(directories, leave_out):
        classes = [tool_class for tool_class in vars(module).values() if _is_tool(tool_class, module)]
        if not classes:
            leave_out(path, f"it has no class with {', '.join(TOOL_MEMBERS)}")
        for tool_class in classes:
            try:
                tool = _adapt(tool_class, agent)
            except ForeignError as error:
                leave_out(path, str(error))
            else:
                if tool:
                    yield tool


def _is_tool(value: object, module: ModuleType) -> bool:
    return (
        isinstance(value, type)
        and value.__module__ == module.__name__
        and all(map(value.__dict__.__contains__, TOOL_MEMBERS))
    )


def _adapt(kind: type, agent: Callable[[], object]) -> Tool | None:
    """Return the tool of a class, None if its check() says that it is not available. Raises ForeignError."""
    instance = call_foreign(kind, f"{kind.__name__}()")
    if hasattr(instance, "check") and not call_foreign(instance.check, f"{kind.__name__}.check()"):
        return None
    version = str(getattr(instance, "protocol_version", VERSIONS[0]))
    if version not in VERSIONS or not isinstance(instance.name, str) or not isinstance(instance.parameters, dict):
        versions = " or ".join(VERSIONS)
        raise ForeignError(f"{kind.__name__} needs a name, parameters, and version {versions}")

    def run(arguments: Mapping[str, Any]) -> ToolOutcome:
        try:
            if version == "2.0":
                result = call_foreign(instance.execute, instance.name, dict(arguments), agent())
            else:
                result = call_foreign(instance.execute, instance.name, {**arguments, "agent": agent()})
        except ForeignError as error:
            return ToolOutcome("error", stderr=str(error))
        return _outcome(result)

    return Tool(
        instance.name,
        str(instance.description),
        instance.parameters,
        read=schema_reader(instance.name, instance.parameters),
        run=run,
        brings_foreign=True,
        repeatable=False,
    )


def _outcome(value: object) -> ToolOutcome:
    if not isinstance(value, Mapping):
        return ToolOutcome(stdout=str(value))
    stdout, complained = (str(value.get(name) or "") for name in ("stdout", "stderr"))
    return ToolOutcome("done" if value.get("success") else "failed", stdout, complained)
