"""The directory that paths in reports for CI services are relative to: by default the top of the git repository."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, shown
from jarvis_workers.store.values import Run


def base_directory(named: str | None) -> Path | None:
    """Return the directory of --relative-to, or None without it. Raises UsageError."""
    if named is None:
        return None
    if not Path(named).is_dir():
        raise UsageError(f"--relative-to {plain(named)}: no such directory")
    return Path(named)


def relative_to(facts: Mapping[str, Any], run: Run, base: Path | None) -> dict[str, Any]:
    """Return the `run` part of a report with paths relative to `base`. Raises UsageError if the root is not below it.

    The revision is left out, because it belongs to another directory.
    """
    if base is None:
        return dict(facts)
    top, root = base.resolve(), Path(os.fsdecode(run.root_raw))
    is_address = not root.is_absolute()
    root = (root.parent if root.is_file() else root).resolve()
    if is_address or not root.is_relative_to(top):
        raise UsageError(f"--relative-to {plain(str(base))}: the scanned {plain(run.root)} is not below it")
    prefix = "" if root == top else shown(os.fsencode(root.relative_to(top)))
    return {name: fact for name, fact in facts.items() if name != "repository_url"} | {"path_prefix": prefix}
