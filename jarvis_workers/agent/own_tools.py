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

from jarvis_workers.agent.plugins import ForeignError, call_foreign, call_isolated, load_files
from jarvis_workers.telemetry import warning
from jarvis_workers.tools.argument_schema import schema_reader
from jarvis_workers.tools.tool import Tool, ToolOutcome

OWN_TOOLS = Path("~/.jarvis/tools")
VERSIONS = ("1.0", "2.0")
TOOL_MEMBERS = ("name", "description", "parameters", "execute")


def own_tools(directories: Iterable[Path], agent: Callable[[], object]) -> Iterator[Tool]:
    """Yield the tools that the files of the directories define; `agent` returns the agent that calls them."""
    for path, module in load_files(directories):
        classes = [tool_class for tool_class in vars(module).values() if _is_tool(tool_class, module)]
        if not classes:
            warning("plugin has no tool", path=str(path), expected=", ".join(TOOL_MEMBERS))
        for tool_class in classes:
            tool = _adapt(path, tool_class, agent)
            if tool:
                yield tool


def _is_tool(value: object, module: ModuleType) -> bool:
    return (
        isinstance(value, type)
        and value.__module__ == module.__name__
        and all(map(value.__dict__.__contains__, TOOL_MEMBERS))
    )


def _adapt(path: Path, kind: type, agent: Callable[[], object]) -> Tool | None:
    instance = call_isolated(kind, f"{path}: {kind.__name__}()")
    if instance is None or (hasattr(instance, "check") and not call_isolated(instance.check, f"{path}: check()")):
        return None
    version = str(getattr(instance, "protocol_version", VERSIONS[0]))
    if version not in VERSIONS or not isinstance(instance.name, str) or not isinstance(instance.parameters, dict):
        versions = ", ".join(VERSIONS)
        warning(
            "custom tool ignored", path=str(path), version=version, expected=f"a name, parameters, version {versions}"
        )
        return None

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
