"""Organize long-term memories: merge those whose tags overlap, level by level, the largest group first.

The merged entry is saved before the entries that it replaces are removed, so that a failure loses nothing.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from jarvis_workers.agents.loop.limits import Reason
from jarvis_workers.agents.loop.prompts import fill_from
from jarvis_workers.assistant.chat.asking import DirectModel
from jarvis_workers.assistant.chat.memory_files import MemoryFiles
from jarvis_workers.assistant.memory.entry import MemoryDraft, MemoryEntry, MemoryGroup, MemoryType, group_by_tags
from jarvis_workers.assistant.memory.saving import FOLDER, MergedForm, MergedMemory, merge_group
from jarvis_workers.errors import AgentStopped, UsageError

# Failures in a row of the model's server, after which no other group is tried.
SERVER_FAILURES = 3

Merge = Callable[[MemoryGroup], MergedMemory]


@dataclass
class OrganizedMemories:
    """The result: `merged` entries in place of `replaced` ones, a line for each failure, and the groups not tried."""

    merged: list[MemoryEntry] = field(default_factory=list)
    replaced: int = 0
    failures: list[str] = field(default_factory=list)
    not_tried: int = 0


def overlapping(book: MemoryFiles, types: Collection[MemoryType], min_overlap: int) -> Iterator[MemoryGroup]:
    """Yield the groups of each level, the largest first."""
    for level in book.folders:
        if level in types:
            yield from group_by_tags(list(book.read([level])), min_overlap)


def merge_with(model: DirectModel) -> Merge:
    """Return a function that lets a model merge a group; it raises AgentStopped and UsageError."""

    def merge(group: MemoryGroup) -> MergedMemory:
        agent = model.questioner(fill_from(FOLDER, "merge_system"), MergedForm())
        return model.drive(merge_group(agent, group), agent.tools)

    return merge


def organize(book: MemoryFiles, groups: Collection[MemoryGroup], merge: Merge) -> OrganizedMemories:
    """Merge groups of entries; a group that cannot be merged stays as it is."""
    result, failed = OrganizedMemories(), 0
    for number, group in enumerate(groups):
        try:
            _replace(book, group, merge(group), result)
            failed = 0
        except (AgentStopped, UsageError) as error:
            result.failures.append(f"{group.entries[0].type} {', '.join(group.ids)}: {error}")
            failed = failed + 1 if _is_of_server(error) else 0
        if failed == SERVER_FAILURES:
            result.not_tried = len(groups) - number - 1
            break
    return result


def _replace(book: MemoryFiles, group: MemoryGroup, merged: MergedMemory, result: OrganizedMemories) -> None:
    level = group.entries[0].type
    gone = [one for one in group.ids if book.folders[level].find(one) is None]
    if gone:
        raise UsageError(f"{gone[0]} was removed meanwhile; the others were not merged")
    draft = MemoryDraft(type=level, tags=merged.tags, content=merged.content, merged_from=group.ids)
    result.merged += book.add([draft])
    result.replaced += book.remove(group.ids, [level])


def _is_of_server(error: Exception) -> bool:
    return isinstance(error, AgentStopped) and error.reason in (Reason.REFUSED, Reason.UNAVAILABLE)
