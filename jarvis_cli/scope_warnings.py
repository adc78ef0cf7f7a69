"""Say which settings file of the current directory changes what a scan covers: it may be the scanned code's own."""

import os
from collections.abc import Mapping
from pathlib import Path

SECTIONS = ("rules.", "report.")
# Of the section `scan` these decide on files; the others are limits and portions.
SCAN = ("extensions", "languages", "exclude_dirs", "use_ignore_files", "jarvisignore_of_addresses", "max_file_mb")


def scope_notice(flags: Mapping[str, object], directory: Path) -> str | None:
    """Return a line about the files whose settings narrow or widen a scan in `directory`, None if there is none."""
    from jarvis_workers.settings import TOML_FILE, TOML_PLACE, YAML_FILE, origins  # noqa: PLC0415

    if not any(os.access(directory / name, os.F_OK) for name in (YAML_FILE, TOML_FILE)):
        return None
    found = [origin for origin in origins(flags, directory=directory) if _is_of_scope(origin.setting)]
    parts = [
        f"{source} sets {', '.join(names)}"
        for source in (YAML_FILE, TOML_PLACE)
        if (names := [origin.setting for origin in found if origin.source == source])
    ]
    return f"what is scanned and reported depends on this directory: {'; '.join(parts)}" if parts else None


def _is_of_scope(setting: str) -> bool:
    return setting.startswith(SECTIONS) or setting in {f"scan.{name}" for name in SCAN}
