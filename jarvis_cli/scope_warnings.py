"""Warn if a settings file of the current directory changes the scope of a scan: the scanned code may contain it."""

import os
from collections.abc import Mapping
from pathlib import Path

SECTIONS = ("rules.", "report.")
# The settings of section `scan` that select files; the others are limits and batch sizes.
SCAN = ("extensions", "languages", "exclude_dirs", "use_ignore_files", "jarvisignore_of_addresses", "max_file_mb")


def scope_notice(flags: Mapping[str, object], directory: Path) -> str | None:
    """Return a line about the files whose settings change the scope of a scan in `directory`, or None."""
    from jarvis_workers.settings import TOML_FILE, TOML_PLACE, YAML_FILE, origins  # noqa: PLC0415

    if not any(os.access(directory / name, os.F_OK) for name in (YAML_FILE, TOML_FILE)):
        return None
    result = [origin for origin in origins(flags, directory=directory) if _is_of_scope(origin.setting)]
    parts = [
        f"{source} sets {', '.join(names)}"
        for source in (YAML_FILE, TOML_PLACE)
        if (names := [origin.setting for origin in result if origin.source == source])
    ]
    return f"settings in this directory change the scope of the scan: {'; '.join(parts)}" if parts else None


def _is_of_scope(setting: str) -> bool:
    return setting.startswith(SECTIONS) or setting in {f"scan.{name}" for name in SCAN}
