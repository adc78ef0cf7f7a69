"""The tools of connected MCP servers, as tools of an agent.

Names are NAME.tool_call.TOOL, NAME.resource.get_resource_list and NAME.resource.get_resource, so that no server can
replace a tool of this program.  A tool whose name or schema cannot be passed on is left out with a message.
"""

import json
import re
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

import mcp_types

from jarvis_workers.agents.mcp_client.connection import Connection
from jarvis_workers.agents.mcp_client.results import outcome_of_call, outcome_of_listing, outcome_of_resource
from jarvis_workers.agents.tools.argument_schema import schema_reader
from jarvis_workers.agents.tools.tool import NoArguments, Tool, ToolArguments, typed
from jarvis_workers.paths import plain

TOOLS_MAX = 128
DESCRIPTION_MAX, SCHEMA_MAX, NAME_SHOWN = 2_000, 20_000, 80
TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
PROPERTY = re.compile(r"[A-Za-z0-9_.$@:/-]{1,64}")

T = TypeVar("T")
# Waits in the calling thread for a coroutine of the connection; raises ToolFailed.
Wait = Callable[[Connection, Callable[[], Coroutine[Any, Any, T]]], T]


class ResourceArguments(ToolArguments):
    """The arguments of get_resource."""

    uri: str


def tools_of(connection: Connection, wait: Wait[Any], tell: Callable[[str], None]) -> Iterator[Tool]:
    """Yield the tools of a server; those that cannot be used are told."""
    server = connection.server.name
    names = set[str]()
    for listed in connection.tools[:TOOLS_MAX]:
        fault = "its name occurs twice" if listed.name in names else _fault(listed)
        names.add(listed.name)
        if fault:
            tell(f'MCP server "{server}": the tool {plain(listed.name[:NAME_SHOWN])!r} is left out: {fault}')
        else:
            yield _tool(connection, listed, wait)
    if len(connection.tools) > TOOLS_MAX:
        tell(f'MCP server "{server}": {len(connection.tools)} tools, only the first {TOOLS_MAX} are used')
    if connection.has_resources:
        yield from _resource_tools(connection, wait)


def _tool(connection: Connection, listed: mcp_types.Tool, wait: Wait[Any]) -> Tool:
    name = f"{connection.server.name}.tool_call.{listed.name}"
    description = listed.description or listed.title or ""
    return Tool(
        name,
        description[:DESCRIPTION_MAX],
        listed.input_schema,
        read=schema_reader(name, listed.input_schema),
        run=lambda arguments: outcome_of_call(wait(connection, lambda: connection.call_tool(listed.name, arguments))),
        brings_foreign=True,
        foreign_text=True,
        repeatable=False,
    )


def _resource_tools(connection: Connection, wait: Wait[Any]) -> Iterator[Tool]:
    server = connection.server.name
    yield typed(
        NoArguments,
        lambda _: outcome_of_listing(wait(connection, connection.list_resources)),
        name=f"{server}.resource.get_resource_list",
        description=f"List the resources of the MCP server {server}: address, type, name.",
        brings_foreign=True,
    )
    yield typed(
        ResourceArguments,
        lambda found: outcome_of_resource(wait(connection, lambda: connection.read_resource(found.uri))),
        name=f"{server}.resource.get_resource",
        description=f"Read a resource of the MCP server {server} by its address.",
        brings_foreign=True,
    )


def _fault(listed: mcp_types.Tool) -> str:
    """Return why a tool cannot be passed on, empty if it can."""
    if not TOOL_NAME.fullmatch(listed.name):
        return "its name should be 1 to 128 letters, digits, _, - or ."
    if len(json.dumps(listed.input_schema)) > SCHEMA_MAX:
        return f"its schema is longer than {SCHEMA_MAX} characters"
    if not all(PROPERTY.fullmatch(key) for key in _keys(listed.input_schema)):
        return "its schema has a key that is no name"
    return ""


def _keys(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _keys(inner)
