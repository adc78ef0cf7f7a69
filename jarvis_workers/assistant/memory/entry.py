"""A memory entry: a text with tags on one of three levels. Its id is the time of its creation in microseconds.

Everything in an entry is untrusted: a model wrote it, possibly from a hostile text, or it came with a repository.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, get_args

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
