"""A private temporary data directory, for scans by users without a home directory.

In containers a command often runs under a uid whose home directory is missing or read-only. A scan that only prints its
report needs no persistent data.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from jarvis_workers.private_files import make_private_directory
from jarvis_workers.settings import Settings


@contextmanager
def with_data_directory(settings: Settings, tell: Callable[[str], None]) -> Iterator[Settings]:
    """Yield settings with a writable data directory: a temporary one if necessary, reported in one line.

    Only the default directory is replaced: an explicit one, or a store elsewhere, is used or rejected.
    """
    is_configured = settings.store_url or settings.blobs_url or settings.data_dir != Settings().data_dir
    why = None if is_configured else _refusal(settings.data_dir)
    if why is None:
        yield settings
        return
    tell(f"{settings.data_dir}: {why}; this run is not stored (to store runs, set JARVIS_DATA_DIR)")
    with tempfile.TemporaryDirectory(prefix="jarvis-data-") as place:
        yield settings.model_copy(update={"data_dir": Path(place)})


def _refusal(folder: Path) -> str | None:
    """Create a directory; return why it cannot be created or written, or None."""
    try:
        make_private_directory(folder)
    except OSError as error:
        return f"cannot be created: {error.strerror}"
    return None if os.access(folder, os.W_OK | os.X_OK) else "cannot be written"
