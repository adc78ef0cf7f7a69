"""The report of the last scan in <root>/.jarvis/c2rust, which lists the units that were not read.

The symbols of these units are missing from symbols.jsonl, which does not record that.
"""

from pathlib import Path

from jarvis_workers.c2rust.report.body import ScanBody, decode_body
from jarvis_workers.c2rust.report.text import not_checked_line
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import listing

REPORT_FILE = "scan_report.json"
REPORT_MB_MAX = 256
UNITS_NAMED = 3


def read_scan_report(directory: Path) -> ScanBody | None:
    """Return the report, or None if there is none, such as for symbols from another program. Raises UsageError."""
    path = directory / REPORT_FILE
    try:
        if path.stat().st_size > REPORT_MB_MAX * 2**20:
            raise UsageError(f"{path} is larger than {REPORT_MB_MAX} MB")
        return decode_body(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not the report of a scan; scan again, or remove it") from error


def gap_warnings(report: ScanBody | None) -> tuple[str, ...]:
    """Return a line for users if units were not read."""
    if report is None or not report.not_checked:
        return ()
    return (f"{not_checked_line(report)}: {listing([unit.file for unit in report.not_checked], UNITS_NAMED)}",)
