"""The baseline of a scan through the Python API: a report, a report file, or a git revision."""

import os
from collections import Counter

from jarvis_workers.api.options import ScanOptions
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.targets import ScanTarget, prefix_of
from jarvis_workers.sec.run_reports.baselines import is_report, read_report
from jarvis_workers.sec.runs.scan_input import Baseline


def reported_baseline(options: ScanOptions, target: ScanTarget) -> Baseline | None:
    """Return the baseline if it is a report or a report file; None if there is none or it is a git revision."""
    baseline = options.baseline
    if baseline is None or is_revision(options):
        return None
    if isinstance(baseline, str | os.PathLike):
        return read_report(os.fspath(baseline), prefix_of(target), "baseline")
    if baseline.summary.known is not None:
        raise UsageError(
            "baseline: the report lists only findings new to its own baseline; give a report of a full scan"
        )
    not_listed = baseline.summary.not_listed
    facts = {"what": f"run {baseline.run.id}"} | ({"not_listed": not_listed} if not_listed else {})
    return Baseline(Counter(finding.fingerprint for finding in baseline.findings), facts)


def is_revision(options: ScanOptions) -> bool:
    """Return whether the baseline is a git revision, which must be scanned first."""
    baseline = options.baseline
    return isinstance(baseline, str | os.PathLike) and not is_report(os.fspath(baseline))
