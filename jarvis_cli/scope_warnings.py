"""Warn if a settings file of the current directory changes the scope of a scan.

The directory may be a clone of somebody else's repository.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jarvis_workers.settings import Origin

SECTIONS = ("rules.", "report.")
# The settings of section `scan` that select files; the others are limits and batch sizes.
SCAN = ("extensions", "languages", "exclude_dirs", "use_ignore_files", "jarvisignore_of_addresses", "max_file_mb")


def scope_notice(flags: Mapping[str, object], directory: Path) -> str | None:
    """Return a line about the files whose settings change the scope of a scan in `directory`, or None."""
    parts = _set_here(flags, directory, lambda origin: _is_of_scope(origin.setting))
    return f"settings in this directory change the scope of the scan: {'; '.join(parts)}" if parts else None


def _set_here(flags: Mapping[str, object], directory: Path, matters: "Callable[[Origin], bool]") -> list[str]:
    from jarvis_workers.settings import TOML_FILE, TOML_PLACE, YAML_FILE, origins  # noqa: PLC0415

    if not any(os.access(directory / name, os.F_OK) for name in (YAML_FILE, TOML_FILE)):
        return []
    result = [origin for origin in origins(flags, directory=directory) if matters(origin)]
    return [
        f"{source} sets {', '.join(names)}"
        for source in (YAML_FILE, TOML_PLACE)
        if (names := [origin.setting for origin in result if origin.source == source])
    ]


def _is_of_scope(setting: str) -> bool:
    return setting.startswith(SECTIONS) or setting in {f"scan.{name}" for name in SCAN}
