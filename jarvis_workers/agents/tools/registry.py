"""The tools of one agent. Tool names are looked up only in this module, at dispatch.

Names must match exactly: no case folding, no trimming, no look-alike characters. A tool that is not in the list cannot
run, even if other agents have it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from jarvis_workers.agents.tools.tool import BadCall, Tool, ToolFailed, ToolOutcome, read_arguments
from jarvis_workers.errors import UsageError

NAME_SHOWN = 80


class Toolbox:
    """Tools by name, in the order in which they are described to a model."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise UsageError(f'there are two tools called "{tool.name}"; rename one')
            self._tools[tool.name] = tool

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    def only(self, names: Iterable[str]) -> "Toolbox":
        """Return a toolbox with only these tools, in the same order. Raises UsageError for an unknown name."""
        selection = set(names)
        unknown = sorted(selection - set(self._tools))
        if unknown:
            raise UsageError(f'unknown tool "{unknown[0]}"; available tools: {", ".join(self._tools)}')
        return Toolbox(tool for name, tool in self._tools.items() if name in selection)

    def plus(self, *tools: Tool) -> "Toolbox":
        """Return a toolbox with further tools."""
        return Toolbox((*self._tools.values(), *tools))

    def find(self, name: str) -> Tool:
        """Return a tool by name. Raises BadCall if it is not in the list."""
        tool = self._tools.get(name)
        if tool is None:
            available = ", ".join(self._tools) or "none"
            raise BadCall(f"there is no tool {name[:NAME_SHOWN]!r}; your tools are: {available}")
        return tool

    def is_replayed(self, name: str) -> bool:
        """Return whether there is a tool with this name that runs again when a conversation resumes."""
        return name in self._tools and self._tools[name].replayed

    def read(self, name: str, arguments: str) -> Mapping[str, Any]:
        """Return the parsed arguments of a call. Raises BadCall if the tool does not accept them."""
        tool = self.find(name)
        values = read_arguments(arguments)
        tool.read(values)
        return values

    def run(self, name: str, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Run a tool of this toolbox; BadCall and ToolFailed become an outcome in state "error"."""
        return self.repeat(name, arguments)

    def repeat(self, name: str, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Run a tool as `run` does, for the effect of a call that was counted before."""
        try:
            tool = self.find(name)
            return tool.run(tool.read(arguments))
        except (BadCall, ToolFailed) as error:
            return ToolOutcome("error", stderr=str(error))
