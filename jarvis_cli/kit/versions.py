"""The output of `jarvis --version`, for bug reports. Packages are located but not imported, which would be slow."""

import platform
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import jarvis_workers
from jarvis_workers.extras import MODULES, is_installed

ENGINES = (("hyperscan", "hyperscan"), ("re2", "google-re2"))


def versions() -> Iterator[str]:
    """Yield one line each: version, Python, pattern engine, SQLite and schema, platform, optional packages."""
    yield f"jarvis {jarvis_workers.__version__}"
    yield f"python    {platform.python_version()} ({sys.implementation.name}, {sys.executable})"
    engine = next(
        (name for package, name in ENGINES if is_installed(package)),
        "re (without hyperscan)",
    )
    yield f"patterns  {engine}"
    yield f"sqlite    {sqlite3.sqlite_version}, schema {_schema()}"
    yield f"platform  {platform.system()} {platform.release()} {platform.machine()}"
    result = [extra for extra, modules in MODULES.items() if all(map(is_installed, modules))]
    missing = [extra for extra in MODULES if extra not in result]
    yield f"extras    {', '.join(result) or 'none'}" + (f"; not installed: {', '.join(missing)}" if missing else "")


def _schema() -> str:
    """Return the newest schema revision, from the names of the migrations."""
    folder = Path(jarvis_workers.__file__).parent / "store" / "migrations" / "versions"
    return max((path.stem[1:].partition("_")[0] for path in folder.glob("r[0-9]*.py")), default="unknown")
