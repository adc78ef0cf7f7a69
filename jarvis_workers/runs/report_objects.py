"""Reports in object stores. fsspec is imported only if a report goes there."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from jarvis_workers.errors import StoreError, UsageError
from jarvis_workers.paths import plain

if TYPE_CHECKING:
    pass


URL = re.compile(r"[a-z][a-z0-9]*://.")


def is_object_url(output: str) -> bool:
    """Return whether the value of -o is a URL, not a file."""
    return URL.match(output) is not None


class ReportObject:
    """A report at a URL such as s3://bucket/report.sarif."""

    def __init__(self, url: str) -> None:
        """Raise UsageError for a URL that cannot be used, or if the extra of its client is not installed."""
        from jarvis_workers.snapshots.object_file import ObjectFile  # noqa: PLC0415  (fsspec is slow to import)

        try:
            self._object: ObjectFile = ObjectFile(url)
        except UsageError as error:
            raise UsageError(f"-o {error}") from error

    def __str__(self) -> str:
        return self._object.shown

    @property
    def path(self) -> PurePosixPath:
        """The path in the store, with the suffix."""
        return PurePosixPath(self._object.shown)

    def write(self, pieces: Iterable[str]) -> None:
        """Write a report; raises UsageError."""
        try:
            self._object.write(pieces)
        except StoreError as error:
            raise UsageError(f"-o {plain(str(error))}") from error
