"""What `jarvis --version` says, for bug reports.  Nothing slow is imported: packages are only looked for."""

import platform
import sqlite3
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import jarvis_workers

__all__ = ["versions"]

# Optional packages, by the name that is imported.
OPTIONAL = {
    "hyperscan": "hyperscan",
    "re2": "google-re2",
    "psycopg": "psycopg",
    "celery": "celery",
    "flower": "flower",
    "openai": "openai",
    "s3fs": "s3fs",
}
ENGINES = (("hyperscan", "hyperscan"), ("re2", "google-re2"))


def versions() -> Iterator[str]:
    """Yield a line each: version, Python, pattern engine, SQLite and schema, platform, optional packages."""
    yield f"jarvis {jarvis_workers.__version__}"
    yield f"python    {platform.python_version()} ({sys.implementation.name}, {sys.executable})"
    engine = next((name for package, name in ENGINES if find_spec(package)), "re (slow: install the extra fast)")
    yield f"patterns  {engine}"
    yield f"sqlite    {sqlite3.sqlite_version}, schema {_schema()}"
    yield f"platform  {platform.system()} {platform.release()} {platform.machine()}"
    found = [name for package, name in OPTIONAL.items() if find_spec(package)]
    missing = [name for name in OPTIONAL.values() if name not in found]
    yield f"packages  {', '.join(found) or 'none'}" + (f"; not installed: {', '.join(missing)}" if missing else "")


def _schema() -> str:
    """Return the newest revision of the results store, by the names of its migrations."""
    folder = Path(jarvis_workers.__file__).parent / "store" / "migrations" / "versions"
    return max((path.stem.partition("_")[0] for path in folder.glob("r[0-9]*.py")), default="unknown")
