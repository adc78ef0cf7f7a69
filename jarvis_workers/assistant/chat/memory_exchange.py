"""Export memories to a JSON file, and import them; the file is an array of entries."""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jarvis_workers.assistant.chat.memory_files import MemoryFiles
from jarvis_workers.assistant.chat.memory_folder import describe
from jarvis_workers.assistant.memory.entry import MemoryBook, MemoryEntry, MemoryType, with_any_tag
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import read_regular
from jarvis_workers.runs.atomic_write import write_whole

FILE_MAX = 200_000_000


@dataclass
class ImportedMemories:
    """The number of imported entries, the ids of those that were there already, and a line for each invalid one."""

    count: int = 0
    skipped: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)


def export_memories(book: MemoryBook, types: Collection[MemoryType], tags: Collection[str], file: Path) -> int:
    """Write the entries with any of the tags to a file, and return their number. Raises UsageError."""
    count = 0

    def counted(entries: Iterable[MemoryEntry]) -> Iterator[MemoryEntry]:
        nonlocal count
        for entry in entries:
            count += 1
            yield entry

    try:
        write_whole(file, _array(counted(with_any_tag(book.read(types), tags))))
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from error
    return count


def import_memories(book: MemoryFiles, file: Path, *, overwrite: bool) -> ImportedMemories:
    """Save the entries of a file under their own ids; one that is there already is kept unless `overwrite`.

    Invalid entries are left out. Raises UsageError if the file is no array, or the entries cannot be saved.
    """
    result = ImportedMemories()
    for place, record in enumerate(_records(file), 1):
        try:
            entry = MemoryEntry.model_validate(record)
            folder = book.folders[entry.type]
        except ValidationError as error:
            result.refusals.append(f"{file}: entry {place}: {describe(error)}")
        except KeyError:
            result.refusals.append(f"{file}: entry {place}: short_term memories end with their process")
        else:
            if folder.put(entry, overwrite=overwrite):
                result.count += 1
            else:
                result.skipped.append(entry.id)
    return result


def _array(entries: Iterable[MemoryEntry]) -> Iterator[str]:
    separator = "[\n"
    for entry in entries:
        yield separator + json.dumps(entry.model_dump(mode="json", exclude_none=True), ensure_ascii=False)
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def _records(file: Path) -> list[Any]:
    try:
        text = read_regular(file, FILE_MAX)
        if len(text) > FILE_MAX:
            raise UsageError(f"{file}: is larger than {FILE_MAX:,} bytes; import it in parts")
        records = json.loads(text)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: is not JSON: {error}; export writes such a file") from error
    if not isinstance(records, list):
        raise UsageError(f"{file}: should be an array of memories, as export writes it")
    return records
