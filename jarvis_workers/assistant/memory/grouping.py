"""Group entries whose tags overlap: each group shares at least `min_overlap` tags, and each entry is in one group.

Greedy: the largest group first, then the largest of what is left.  Groups are cut to what fits into one question.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from jarvis_workers.assistant.memory.entry import MemoryEntry

# An entry has up to 28 combinations of two of its most frequent tags.
COMPARED_TAGS = 8
GROUP_MAX, GROUP_CHARACTERS = 20, 40_000

Combination = tuple[str, ...]


@dataclass(frozen=True)
class MemoryGroup:
    """Entries of one level, oldest first, and the tags that all of them share."""

    tags: Combination
    entries: tuple[MemoryEntry, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(entry.id for entry in self.entries)


def group_by_tags(entries: Sequence[MemoryEntry], min_overlap: int) -> Iterator[MemoryGroup]:
    """Yield groups of at least two entries of one level; `min_overlap` is at most COMPARED_TAGS."""
    postings = _postings(entries, min_overlap)
    # The sizes in the heap are upper bounds: members may have gone to an earlier group.
    heap = [(-len(members), tags) for tags, members in postings.items()]
    heapq.heapify(heap)
    left = set(range(len(entries)))
    while heap:
        size, tags = heapq.heappop(heap)
        members = [place for place in postings[tags] if place in left]
        if len(members) < -size and len(members) > 1:
            heapq.heappush(heap, (-len(members), tags))
        elif len(members) > 1:
            left -= set(members)
            yield from _cut(tags, [entries[place] for place in members])


def _postings(entries: Sequence[MemoryEntry], min_overlap: int) -> dict[Combination, list[int]]:
    """Return the places of the entries with each combination of tags that at least two entries have."""
    names = [sorted({tag.casefold() for tag in entry.tags}) for entry in entries]
    counts = Counter(tag for tags in names for tag in tags)
    postings: defaultdict[Combination, list[int]] = defaultdict(list)
    for place, tags in enumerate(names):
        shared = sorted((tag for tag in tags if counts[tag] > 1), key=lambda tag: -counts[tag])[:COMPARED_TAGS]
        for combination in combinations(sorted(shared), min_overlap):
            postings[combination].append(place)
    return {tags: members for tags, members in postings.items() if len(members) > 1}


def _cut(tags: Combination, members: list[MemoryEntry]) -> Iterator[MemoryGroup]:
    """Yield a group in parts that fit into one question; an entry that is left alone stays as it is."""
    part: list[MemoryEntry] = []
    size = 0
    for entry in sorted(members, key=lambda entry: (entry.changed_at, entry.id)):
        if part and (len(part) == GROUP_MAX or size + len(entry.content) > GROUP_CHARACTERS):
            yield from [MemoryGroup(tags, tuple(part))] if len(part) > 1 else ()
            part, size = [], 0
        part.append(entry)
        size += len(entry.content)
    if len(part) > 1:
        yield MemoryGroup(tags, tuple(part))
