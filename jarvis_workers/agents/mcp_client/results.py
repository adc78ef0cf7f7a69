"""Results of MCP servers as text for a model: bounded, without binary content."""

import json
from collections.abc import Iterable, Sequence

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

from jarvis_workers.agents.tools.tool import ToolOutcome

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
