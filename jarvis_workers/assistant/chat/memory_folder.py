"""One level of memories as files: a directory with a JSON file for each entry, ID.json.

Project memories come with a repository, so nothing in them is trusted: names and links never lead out of the directory,
and a damaged file is skipped with a warning.  Entries are read one at a time, newest id first: the names of 100,000
entries are listed in 0.1 s, all of them read in about 3 s.
"""

import errno
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from jarvis_workers.assistant.memory.entry import ID, MemoryDraft, MemoryEntry, MemoryType, entry_of
from jarvis_workers.constraints import requirement
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain

SUFFIX = ".json"
FILES_MAX, FILE_BYTES = 1_000_000, 1_000_000
# Of many damaged files only some are named.
NAMED_MAX = 5

Tell = Callable[[str], None]


class MemoryFolder:
    """The entries of one level in a directory, which `make` creates when the first entry is saved.

    None of the directories `links` may be a symbolic link. `tell` gets a line for each damaged file. All methods raise
    UsageError.
    """

    def __init__(
        self, level: MemoryType, directory: Path, make: Callable[[], None], tell: Tell, links: tuple[Path, ...] = ()
    ) -> None:
        self.level, self.directory = level, directory
        self._make, self._tell, self._links = make, tell, links
        self._damaged: set[str] = set()

    def ids(self) -> list[str]:
        """Return the ids of all entries, newest first."""
        self._check_links()
        try:
            with os.scandir(self.directory) as files:
                names = [file.name for file in islice(files, FILES_MAX) if file.name.endswith(SUFFIX)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UsageError(f"{self.directory}: memories cannot be read: {error.strerror}") from error
        visible = [name.removesuffix(SUFFIX) for name in names if not name.startswith(".")]
        for name in visible:
            if not ID.fullmatch(name):
                self._warn(name, "its name is not an id")
        return sorted(filter(ID.fullmatch, visible), reverse=True)

    def entries(self) -> Iterator[MemoryEntry]:
        """Yield the entries, newest first."""
        return (entry for entry in map(self.find, self.ids()) if entry is not None)

    def find(self, entry_id: str) -> MemoryEntry | None:
        """Return an entry, or None if it was removed or is damaged."""
        try:
            text = _read(self._place(entry_id))
            entry = MemoryEntry.model_validate_json(text)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self._warn(entry_id, _why(error))
            return None
        if entry.key == (self.level, entry_id):
            return entry
        self._warn(entry_id, f"it is entry {entry.id} of {entry.type}")
        return None

    def add(self, draft: MemoryDraft, microseconds: int) -> MemoryEntry:
        """Save a draft under the first free id from a time on."""
        with self._writing():
            while True:
                entry = entry_of(draft, microseconds)
                try:
                    self._write(entry, os.link)
                except FileExistsError:
                    microseconds += 1
                else:
                    return entry

    def put(self, entry: MemoryEntry, *, overwrite: bool) -> bool:
        """Save an entry under its own id; return False if there is one that is not to be overwritten."""
        with self._writing():
            try:
                self._write(entry, os.replace if overwrite else os.link)
            except FileExistsError:
                return False
            return True

    def remove(self, entry_id: str) -> bool:
        """Remove an entry, and return whether there was one."""
        if not ID.fullmatch(entry_id):
            return False
        self._check_links()
        try:
            self._place(entry_id).unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise UsageError(f"{self._place(entry_id)}: cannot be removed: {error.strerror}") from error
        return True

    def _place(self, entry_id: str) -> Path:
        return self.directory / f"{entry_id}{SUFFIX}"

    def _write(self, entry: MemoryEntry, publish: Callable[[str, Path], None]) -> None:
        """Write a temporary file and publish it whole: a link fails if the name is taken, a rename replaces it."""
        document = entry.model_dump(mode="json", exclude_none=True)
        handle, temporary = tempfile.mkstemp(dir=self.directory, prefix=".", suffix=".new")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(document, stream, ensure_ascii=False, indent=1)
            publish(temporary, self._place(entry.id))
        finally:
            Path(temporary).unlink(missing_ok=True)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._check_links()
        try:
            self._make()
            yield
        except OSError as error:
            raise UsageError(f"{self.directory}: a memory cannot be saved: {error.strerror}") from error

    def _check_links(self) -> None:
        for place in self._links:
            if place.is_symlink():
                raise UsageError(f"{place}: it is a symbolic link, which memories do not follow; replace it")

    def _warn(self, name: str, why: str) -> None:
        """Report a damaged file once."""
        if name in self._damaged:
            return
        self._damaged.add(name)
        if len(self._damaged) <= NAMED_MAX:
            self._tell(f"{self.directory / plain(name)}{SUFFIX}: skipped, it is not a memory: {why}")
        elif len(self._damaged) == NAMED_MAX + 1:
            self._tell(f"{self.directory}: further damaged memories are skipped, too")


def _read(place: Path) -> bytes:
    """Return the content of a regular file; raises OSError, and ValueError if it is too large."""
    stream = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        facts = os.fstat(stream)
        if not stat.S_ISREG(facts.st_mode):
            raise ValueError("not a regular file")
        if facts.st_size > FILE_BYTES:
            raise ValueError(f"larger than {FILE_BYTES:,} bytes")
        return os.read(stream, FILE_BYTES)
    finally:
        os.close(stream)


def _why(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return "a symbolic link" if error.errno == errno.ELOOP else str(error.strerror)
    return describe(error) if isinstance(error, ValidationError) else str(error)


def describe(error: ValidationError) -> str:
    """Return the first problem of an invalid entry, in one line."""
    wrong = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, wrong["loc"]))
    return plain(f"{place}: {requirement(wrong)}" if place else requirement(wrong))
