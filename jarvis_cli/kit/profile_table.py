"""Display the time spent per rule and file, for `--profile`."""

from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_workers.paths import plain

MEGABYTE = 1_000_000


def describe_times(profile: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of two tables, slowest first, and the totals."""
    seconds, size = profile["cpu_seconds"], profile["bytes"]
    yield f"{size / MEGABYTE:,.1f} MB scanned in {seconds:,.3f} s of CPU time{_rate(size, seconds)}"
    yield f"{'CPU ms':>12}{'CALLS':>12}  RULE"
    for rule in profile["rules"]:
        yield f"{rule['seconds'] * 1000:>12,.2f}{rule['calls']:>12,}  {plain(rule['rule'])}"
    yield f"{'CPU ms':>12}{'KB':>12}  FILE"
    for file in profile["files"]:
        yield f"{file['seconds'] * 1000:>12,.2f}{file['bytes'] / 1000:>12,.1f}  {plain(file['file'])}"


def _rate(size: int, seconds: float) -> str:
    return f", {size / MEGABYTE / seconds:,.1f} MB/s" if seconds > 0 else ""
