"""A memory entry: a text with tags on one of three levels. Its id is the time of its creation in microseconds.

Everything in an entry is untrusted: a model wrote it, possibly from a hostile text, or it came with a repository.
"""

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations, islice
from typing import Annotated, Any, Literal, Protocol, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

MemoryType = Literal["short_term", "project_long_term", "global_long_term"]
MEMORY_TYPES: tuple[MemoryType, ...] = get_args(MemoryType)
LONG_TERM = MEMORY_TYPES[1:]
TAG_MAX, TAGS_MAX, CONTENT_MAX, MERGED_MAX = 64, 32, 100_000, 1_000
# An id is a file name: it has no dot and no slash.
ID = re.compile(r"[0-9A-Za-z_-]{1,64}", re.ASCII)
BLANKS = re.compile(r"\s+")


def _without_surrogates(value: Any) -> Any:
    """Replace lone surrogates, which JSON can express but UTF-8 cannot."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _one_line(tag: str) -> str:
    tag = BLANKS.sub(" ", tag).strip()
    if not tag or len(tag) > TAG_MAX:
        raise ValueError(f"a tag should have 1 to {TAG_MAX} characters")
    return tag


def _each_once(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple({tag.casefold(): tag for tag in reversed(tags)}.values())[::-1]


def _id(text: str) -> str:
    if not ID.fullmatch(text):
        raise ValueError("an id should have 1 to 64 letters, digits, - or _")
    return text


def not_blank(text: str) -> str:
    """Return a text that is not empty; raises ValueError."""
    if not text.strip():
        raise ValueError("should not be empty")
    return text


def _in_utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


VALID = BeforeValidator(_without_surrogates)
Tag = Annotated[str, VALID, AfterValidator(_one_line)]
Tags = Annotated[tuple[Tag, ...], Field(min_length=1, max_length=TAGS_MAX), AfterValidator(_each_once)]
Content = Annotated[str, Field(max_length=CONTENT_MAX), VALID, AfterValidator(not_blank)]
MemoryId = Annotated[str, AfterValidator(_id)]
Time = Annotated[datetime, AfterValidator(_in_utc)]


class MemoryDraft(BaseModel):
    """An entry that is not saved yet; `merged_from` are the ids of the entries that it replaces."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)
    type: MemoryType
    tags: Tags
    content: Content
    merged_from: Annotated[tuple[MemoryId, ...], Field(max_length=MERGED_MAX)] = ()


class MemoryEntry(MemoryDraft):
    """A saved entry; `updated_at` is the time of its last change, if there was one."""

    id: MemoryId
    created_at: Time
    updated_at: Time | None = None

    @property
    def key(self) -> tuple[MemoryType, str]:
        """Its type and id, which identify it in a book."""
        return self.type, self.id

    @property
    def changed_at(self) -> datetime:
        """The time that decides which of two entries is newer."""
        return self.updated_at or self.created_at


def entry_of(draft: MemoryDraft, microseconds: int) -> MemoryEntry:
    """Return the entry of a draft that is saved at a time, in microseconds since 1970."""
    seconds, fraction = divmod(microseconds, 1_000_000)
    at = datetime.fromtimestamp(seconds, UTC).replace(microsecond=fraction)
    return MemoryEntry.model_construct(**dict(draft), id=f"{at:%Y%m%d_%H%M%S_%f}", created_at=at)


# Where memories are kept, as the tools see it; and the selection of entries by tags.

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


# Group entries whose tags overlap: each group shares at least `min_overlap` tags, and each entry is in one group.

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
