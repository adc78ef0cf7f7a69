"""The tools of one agent. A name is looked up here, at dispatch, and nowhere else.

It must be equal to the letter: no case is folded, no space cut, nothing that looks alike is taken for it.  What is not
in the list cannot be run, whatever tools there are elsewhere.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from jarvis_workers.errors import UsageError
from jarvis_workers.tools.tool import BadCall, Tool, ToolFailed, ToolOutcome, read_arguments

NAME_SHOWN = 80


class Toolbox:
    """Tools by name, in the order in which a model is told of them."""

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
        """Return a box with just these, in the order of this one; raises UsageError for one that is not here."""
        wanted = set(names)
        unknown = sorted(wanted - set(self._tools))
        if unknown:
            raise UsageError(f'there is no tool "{unknown[0]}"; there are: {", ".join(self._tools)}')
        return Toolbox(tool for name, tool in self._tools.items() if name in wanted)

    def plus(self, *tools: Tool) -> "Toolbox":
        """Return a box with these too."""
        return Toolbox((*self._tools.values(), *tools))

    def find(self, name: str) -> Tool:
        """Return a tool of this list; raises BadCall."""
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            raise BadCall(f"there is no tool {name[:NAME_SHOWN]!r}; your tools are: {known}")
        return tool

    def read(self, name: str, arguments: str) -> Mapping[str, Any]:
        """Return a call's arguments as they are handed on; raises BadCall if the tool cannot take them."""
        tool = self.find(name)
        found = read_arguments(arguments)
        tool.read(found)
        return found

    def run(self, name: str, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Run a tool of this list, and no other."""
        try:
            tool = self.find(name)
            return tool.run(tool.read(arguments))
        except (BadCall, ToolFailed) as error:
            return ToolOutcome("error", stderr=str(error))
