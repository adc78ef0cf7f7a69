"""Write one object to an fsspec URL atomically."""

import tempfile
from collections.abc import Iterable
from secrets import token_hex

from jarvis_workers.errors import StoreError, UsageError
from jarvis_workers.redact import redact
from jarvis_workers.snapshots.object_clients import OBJECT_STORES, connect
from jarvis_workers.snapshots.object_store import access_errors, error_message, missing_package


class ObjectFile:
    """An object to write. Nothing is sent before `write`."""

    def __init__(self, url: str) -> None:
        """Raise UsageError for a URL that cannot be used, or if its client is not installed."""
        self._scheme = url.partition("://")[0]
        try:
            self._files, self._place = connect(url)
        except ImportError as error:
            raise UsageError(f"{redact(url)}: {missing_package(error)}") from error
        except ValueError as error:
            raise UsageError(f"{redact(url)}: {error}") from error
        bucket, _, name = self._place.lstrip("/").partition("/")
        if not (bucket and name):
            raise UsageError(f"{redact(url)}: no object is named; expected {self._scheme}://BUCKET/NAME")
        self.shown = f"{self._scheme}://{self._place.lstrip('/')}"

    def write(self, pieces: Iterable[str]) -> None:
        """Write the text. Raises StoreError.

        An object appears when its upload is complete; a file is renamed.
        """
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="backslashreplace") as spool:
            spool.writelines(pieces)
            spool.flush()
            try:
                self._put(spool.name)
            except access_errors() as error:
                raise StoreError(f"{self.shown}: {error_message(error)}") from error

    def _put(self, file: str) -> None:
        if self._scheme in OBJECT_STORES:
            self._files.put_file(file, self._place)
            return
        temporary = f"{self._place}.{token_hex(4)}"
        self._files.makedirs(self._files._parent(self._place), exist_ok=True)
        self._files.put_file(file, temporary)
        self._files.mv(temporary, self._place)
