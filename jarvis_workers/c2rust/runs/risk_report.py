"""Read which files have the highest risk from a JSON report of `jarvis sec`, to translate their functions first.

The file is untrusted: its size is bounded, and what is needed of it is validated.
"""

import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from jarvis_workers.c2rust.translation_weights import FIRST_RULES
from jarvis_workers.constraints import located
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import from_shown, leaves_the_root, listing, plain
from jarvis_workers.sec.run_reports.baselines import load_report

NAMES_SHOWN = 3


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class SecSummary(_Part):
    """The summary of a report: its files in descending order of risk."""

    top_risk_files: list[str]


class SecFinding(_Part):
    """The rule and the place of a finding."""

    pattern: str
    file: str
    line: int


class SecReport(_Part):
    """The part of a report that the order of translation depends on."""

    summary: SecSummary
    issues: list[SecFinding]


def read_risky_files(named: Path, root: Path) -> dict[str, list[int]]:
    """Return the riskiest files of a project, with lines that have findings of FIRST_RULES.

    Raises UsageError for a file that is not such a report, and for the report of another project.
    """
    where = plain(str(named))
    report = _read(load_report(str(named), where), where)
    files = report.summary.top_risk_files
    if files and not any(_is_file(root, file) for file in files):
        raise UsageError(f"{where}: its files are not in {plain(str(root))}: {listing(files, NAMES_SHOWN)}")
    lines: dict[str, list[int]] = {file: [] for file in files}
    for one in report.issues:
        if one.file in lines and one.pattern in FIRST_RULES:
            lines[one.file].append(one.line)
    return lines


def _read(document: dict[str, Any], where: str) -> SecReport:
    try:
        return SecReport.model_validate(document)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        raise UsageError(f"{where} is not a JSON report of jarvis sec: {plain(located(wrong))}") from error


def _is_file(root: Path, file: str) -> bool:
    raw = from_shown(file)
    return b"\0" not in raw and not leaves_the_root(raw) and (root / os.fsdecode(raw)).is_file()
