"""Compare two reports: new, fixed and changed findings, and findings that the later scan did not check."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from jarvis_workers.api.findings import Finding
from jarvis_workers.api.report import Report
from jarvis_workers.errors import UsageError
from jarvis_workers.sec.report.comparability import Looked, absence_reasons
from jarvis_workers.sec.report.diff import compare
from jarvis_workers.sec.report.scan_scope import scope_of


@dataclass(frozen=True, slots=True)
class UncheckedFinding:
    """A finding of the earlier report that the later scan did not search for, and the reason."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class ReportDiff:
    """The differences of two reports, each list with the worst first; `unchanged` counts findings in both.

    `changed` are findings with a different status, as (earlier status, later status, finding). Findings that the later
    scan did not search for are `not_checked`, never `fixed`. `different_scopes` says in what the scopes of the scans
    (paths, rules, options that narrow) differ: a finding may be new or gone for that reason.
    """

    new: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    changed: tuple[tuple[Finding, str, str], ...]
    not_checked: tuple[UncheckedFinding, ...]
    unchanged: int
    different_scopes: tuple[str, ...] = ()


def diff(before: Report, after: Report) -> ReportDiff:
    """Compare two reports of the same tree by the fingerprints of their findings.

    Raises UsageError for a report that lists only findings new to its baseline.
    """
    for which, report in (("earlier", before), ("later", after)):
        if report.summary.known is not None:
            raise UsageError(
                f"the {which} report lists only findings new to its baseline; compare scans without a baseline"
            )
    olds, news = before.document.body, after.document.body
    difference = compare(olds, news, absence_reasons(olds, news, _looked(after)))
    earlier, later = _by_gid(before), _by_gid(after)
    return ReportDiff(
        new=tuple(later[issue.gid] for issue in difference.new),
        fixed=tuple(earlier[issue.gid] for issue in difference.fixed),
        changed=tuple((later[one.issue.gid], one.was, one.now) for one in difference.changed),
        not_checked=tuple(UncheckedFinding(earlier[one.issue.gid], one.reason) for one in difference.not_checked),
        unchanged=difference.unchanged,
        different_scopes=tuple(scope_of(before.document.run).differences(scope_of(after.document.run))),
    )


def _by_gid(report: Report) -> Mapping[int, Finding]:
    body = report.document.body
    pairs = [*zip(body.issues, report.findings, strict=True)]
    pairs += zip(body.suppressed, report.suppressed, strict=True)
    return {issue.gid: finding for issue, finding in pairs}


def _looked(report: Report) -> Looked:
    document = report.document
    off: Collection[str] = document.run["rules"]["off"]

    def scanned(files: Collection[str]) -> Collection[str]:
        return document.files.intersection(files)

    return Looked(report.run.state, document.min_confidence, off, scanned, **_paths(document.run))


def _paths(run: Mapping[str, Any]) -> dict[str, Any]:
    return {"paths": run["paths"]} if "paths" in run else {}
