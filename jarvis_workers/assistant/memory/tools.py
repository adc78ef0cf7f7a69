"""save_memory, retrieve_memory and clear_memory; and a hidden tool that lists tags for the addon prompt.

Only retrieved texts and tags are untrusted. What looks like a key is not saved. The result of save_memory has no id, so
that equal conversations send equal requests to the model.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field

from jarvis_workers.agents.tools.tool import NoArguments, Tool, ToolArguments, ToolFailed, ToolOutcome, typed
from jarvis_workers.assistant.memory.entry import (
    LONG_TERM,
    MEMORY_TYPES,
    VALID,
    MemoryBook,
    MemoryDraft,
    MemoryEntry,
    MemoryType,
    Tags,
    frequent_tags,
    not_blank,
    with_any_tag,
)
from jarvis_workers.errors import JarvisError
from jarvis_workers.redact import redact_server_text

SAVE, RETRIEVE, CLEAR, LIST_TAGS = "save_memory", "retrieve_memory", "clear_memory", "list_memory_tags"
MEMORY_TOOLS = (SAVE, RETRIEVE, CLEAR)
SAVED_MAX, RETRIEVED_MAX, REMOVED_MAX = 20, 100, 1_000
LIMIT = 10
CHARACTERS_MAX = 12_000
SAVED_CHARACTERS = 20_000

T = TypeVar("T")
Filters = Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=100)]


class MemoryToSave(ToolArguments):
    """A memory as the model gives it."""

    memory_type: MemoryType
    tags: Tags
    content: Annotated[str, Field(max_length=SAVED_CHARACTERS), VALID, AfterValidator(not_blank)]


class SaveMemory(ToolArguments):
    """The memories to save."""

    memories: Annotated[list[MemoryToSave], Field(min_length=1, max_length=SAVED_MAX)]


class RetrieveMemory(ToolArguments):
    """A search by tags, newest first; without types, on all levels."""

    memory_types: tuple[MemoryType, ...] = ()
    tags: Filters = ()
    limit: Annotated[int, Field(ge=1, le=RETRIEVED_MAX)] = LIMIT


class ClearMemory(ToolArguments):
    """The entries to remove: of these types, with any of the tags, and with one of the ids."""

    memory_types: Annotated[tuple[MemoryType, ...], Field(min_length=1)]
    tags: Filters = ()
    ids: Filters = ()


def memory_tools(book: MemoryBook) -> list[Tool]:
    """Return the tools of an agent that may use a book."""
    levels = ", ".join(book.types)
    tools = [
        typed(
            SaveMemory,
            _of(lambda request: _save(book, request)),
            name=SAVE,
            description=f"Save facts for later: {levels}.",
            repeatable=False,
        ),
        typed(
            RetrieveMemory,
            _of(lambda request: _retrieve(book, request)),
            name=RETRIEVE,
            description="Read saved memories with any of the tags, newest first.",
            brings_foreign=True,
        ),
        typed(
            ClearMemory,
            _of(lambda request: _clear(book, request)),
            name=CLEAR,
            description="Remove saved memories by ids or tags.",
            repeatable=False,
        ),
    ]
    return [replace(tool, parameters=_with_levels(tool.parameters, list(book.types))) for tool in tools]


def _with_levels(schema: Any, levels: list[str]) -> Any:
    """Return a schema in which only the levels of a book can be chosen."""
    if isinstance(schema, list):
        return [_with_levels(part, levels) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("enum") == list(MEMORY_TYPES):
        return {**schema, "enum": levels}
    return {name: _with_levels(part, levels) for name, part in schema.items()}


def memory_tags(book: MemoryBook) -> Tool:
    """Return the hidden tool that lists the tags in use; it is run by the conversation, not by the model."""
    run = _of(lambda _: ToolOutcome(stdout="\n".join(frequent_tags(book.read(book.types)))))
    return typed(
        NoArguments, run, name=LIST_TAGS, description="List the tags of memories, one a line.", brings_foreign=True
    )


def _of(run: Callable[[T], ToolOutcome]) -> Callable[[T], ToolOutcome]:
    """Report a place that cannot be used to the model."""

    def run_or_fail(request: T) -> ToolOutcome:
        try:
            return run(request)
        except JarvisError as error:
            raise ToolFailed(str(error)) from error

    return run_or_fail


def _save(book: MemoryBook, request: SaveMemory) -> ToolOutcome:
    _check(book, [one.memory_type for one in request.memories])
    drafts = [
        MemoryDraft(type=one.memory_type, tags=one.tags, content=redact_server_text(one.content))
        for one in request.memories
    ]
    book.add(drafts)
    return ToolOutcome(stdout=f"saved: {_count(len(drafts))}")


def _retrieve(book: MemoryBook, request: RetrieveMemory) -> ToolOutcome:
    _check(book, request.memory_types)
    matches = with_any_tag(book.read(request.memory_types or book.types), request.tags)
    texts = list(_fitting(islice(matches, request.limit)))
    return ToolOutcome(stdout="\n\n".join(texts) or "no memory matches")


def _clear(book: MemoryBook, request: ClearMemory) -> ToolOutcome:
    _check(book, request.memory_types)
    long_term = [one for one in request.memory_types if one in LONG_TERM]
    if long_term and not request.tags and not request.ids:
        raise ToolFailed(f"give tags or ids: all of {', '.join(long_term)} is not removed at once; nothing was removed")
    ids = set(request.ids)
    if request.tags or not ids:
        matches = with_any_tag(book.read(request.memory_types), request.tags)
        ids = {one.id for one in islice((one for one in matches if not ids or one.id in ids), REMOVED_MAX)}
    rest = "; there may be more: call again" if len(ids) == REMOVED_MAX else ""
    return ToolOutcome(stdout=f"removed: {_count(book.remove(ids, request.memory_types))}{rest}")


def _check(book: MemoryBook, types: Collection[MemoryType]) -> None:
    for one in types:
        if one not in book.types:
            raise ToolFailed(f"{one} is not available here, but {', '.join(book.types)}; nothing was done")


def _fitting(entries: Iterator[MemoryEntry]) -> Iterator[str]:
    """Yield the texts of entries, and a remark instead of those that would make the result too long."""
    left = CHARACTERS_MAX
    for place, entry in enumerate(entries):
        text = f"{entry.type} {entry.id} (tags: {', '.join(entry.tags)}; {entry.changed_at:%Y-%m-%d})\n{entry.content}"
        left -= len(text)
        if left < 0 and place:
            yield "there are more matches, which are too long to be shown; ask for other tags, or a smaller limit"
            return
        yield text


def _count(number: int) -> str:
    return f"{number} {'memory' if number == 1 else 'memories'}"
