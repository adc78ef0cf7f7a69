"""Where memories are kept, as the tools see it; and the selection of entries by tags."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Protocol

from jarvis_workers.assistant.memory.entry import MemoryDraft, MemoryEntry, MemoryType

# The number of entries whose tags are counted, and of tags that are listed.
RECENT_ENTRIES, LISTED_TAGS = 1_000, 40


class MemoryBook(Protocol):
    """The memories that an agent can use. All methods raise JarvisError if their place cannot be used."""

    @property
    def types(self) -> Sequence[MemoryType]:
        """The levels that there are."""

    def read(self, types: Collection[MemoryType]) -> Iterator[MemoryEntry]:
        """Yield the entries of some levels, those with the newest ids first; reading is lazy."""

    def add(self, drafts: Sequence[MemoryDraft]) -> list[MemoryEntry]:
        """Save drafts, and return them with their ids and times."""

    def remove(self, ids: Collection[str], types: Collection[MemoryType]) -> int:
        """Remove the entries of some levels with these ids, and return how many there were."""


def with_any_tag(entries: Iterable[MemoryEntry], tags: Collection[str]) -> Iterator[MemoryEntry]:
    """Yield the entries with at least one of the tags, in upper or lower case; all of them if there are no tags."""
    selection = {tag.strip().casefold() for tag in tags}
    return (one for one in entries if not selection or not selection.isdisjoint(tag.casefold() for tag in one.tags))


def frequent_tags(entries: Iterable[MemoryEntry]) -> list[str]:
    """Return the most frequent tags of the newest entries, the most frequent first."""
    counts = Counter(tag for entry in islice(entries, RECENT_ENTRIES) for tag in entry.tags)
    return [tag for tag, _ in counts.most_common(LISTED_TAGS)]
