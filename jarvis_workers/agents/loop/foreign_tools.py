"""Sanitize the descriptions and schemas of tools that others wrote, before they enter a prompt or a request."""

from dataclasses import replace
from typing import Any

from jarvis_workers.agents.loop.untrusted_text import Guard, escape
from jarvis_workers.agents.tools.registry import Toolbox
from jarvis_workers.agents.tools.tool import Tool

DESCRIPTION = "description"


def admit_tools(tools: Toolbox, guard: Guard) -> Toolbox:
    """Return the tools with admitted descriptions; those of this program stay as they are."""
    if not any(tool.foreign_text for tool in tools.tools):
        return tools
    return Toolbox(_admit(tool, guard) if tool.foreign_text else tool for tool in tools.tools)


def _admit(tool: Tool, guard: Guard) -> Tool:
    parameters = {key: _admit_schema(value, guard, key) for key, value in tool.parameters.items()}
    return replace(tool, description=guard.admit(tool.description), parameters=parameters, foreign_text=False)


def _admit_schema(part: Any, guard: Guard, key: str = "") -> Any:
    """Return a part of a schema: its descriptions marked; other texts, which a call may repeat, only if suspicious."""
    if isinstance(part, str):
        admitted, plain = guard.admit(part), escape(part)
        is_harmless = admitted == guard.mark_lines(iter(plain.split("\n")))
        return plain if is_harmless and key != DESCRIPTION else admitted
    if isinstance(part, dict):
        return {name: _admit_schema(value, guard, name) for name, value in part.items()}
    return [_admit_schema(value, guard) for value in part] if isinstance(part, list) else part
