"""The tools of connected MCP servers, as tools of an agent.

Names are NAME.tool_call.TOOL, NAME.resource.get_resource_list and NAME.resource.get_resource, so that no server can
replace a tool of this program.  A tool whose name or schema cannot be passed on is left out with a message.
"""

import json
import re
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import mcp_types
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ReadResourceResult,
    Resource,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from jarvis_workers.agents.mcp_client.connection import Connection
from jarvis_workers.agents.tools.tool import NoArguments, Tool, ToolArguments, ToolOutcome, schema_reader, typed
from jarvis_workers.paths import plain

# Results of MCP servers as text for a model: bounded, without binary content.

LETTERS_MAX = 200_000
RESOURCES_MAX, TITLE_MAX = 500, 200


def outcome_of_call(result: CallToolResult) -> ToolOutcome:
    """Return the outcome of a call; an error that the tool reports is state "failed"."""
    text = _bounded(map(_text_of, result.content))
    if not text and result.structured_content is not None:
        text = _bounded([json.dumps(result.structured_content, ensure_ascii=False)])
    if result.is_error:
        return ToolOutcome("failed", stderr=text or "the tool reported an error without a text")
    return ToolOutcome(stdout=text)


def outcome_of_resource(result: ReadResourceResult) -> ToolOutcome:
    """Return the contents of a resource."""
    return ToolOutcome(stdout=_bounded(map(_contents_of, result.contents)))


def outcome_of_listing(resources: Sequence[Resource]) -> ToolOutcome:
    """Return one line for each resource: address, type, name and description."""
    lines = [_line_of(one) for one in resources[:RESOURCES_MAX]]
    if len(resources) > RESOURCES_MAX:
        lines.append(f"[{len(resources) - RESOURCES_MAX} more resources]")
    return ToolOutcome(stdout=_bounded(lines) or "(no resources)")


def _line_of(resource: Resource) -> str:
    title = " ".join(f"{resource.name} {resource.description or ''}".split())[:TITLE_MAX]
    return f"{resource.uri} ({resource.mime_type or 'unknown type'}): {title}"


def _text_of(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return f"[{block.type}, {block.mime_type}, {len(block.data)} base64 characters, not shown]"
        case ResourceLink():
            return f"[resource {block.uri}]"
        case EmbeddedResource():
            return _contents_of(block.resource)


def _contents_of(contents: TextResourceContents | BlobResourceContents) -> str:
    if isinstance(contents, TextResourceContents):
        return contents.text
    return f"[{contents.mime_type or 'binary content'}, {len(contents.blob)} base64 characters, not shown]"


def _bounded(parts: Iterable[str]) -> str:
    text = "\n".join(parts)
    return text if len(text) <= LETTERS_MAX else f"{text[:LETTERS_MAX]}\n[{len(text) - LETTERS_MAX} more characters]"


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
