"""Rename the files of a report relative to a directory above the scanned root."""

from collections.abc import Iterable
from functools import partial
from typing import Any, TypeVar

from jarvis_workers.sec.report.stage_parts import parts_of
from jarvis_workers.sec.report_document import Issue, ReportBody, Summary

Placed = TypeVar("Placed", bound=Any)


def below(prefix: str, body: ReportBody) -> ReportBody:
    """Return a body whose file names are prefixed with `prefix` and a slash; ids and fingerprints do not change."""
    if not prefix:
        return body
    summary = body.summary
    patches = {
        name: patch._replace(replacements=tuple(_placed(prefix, patch.replacements)))
        for name, patch in body.patches.items()
    }
    return body.map_findings(partial(_issue, prefix))._replace(
        patches=patches,
        alerts=[one._replace(file=f"{prefix}/{one.file}") if one.file else one for one in body.alerts],
        summary=summary._replace(
            not_checked=_placed(prefix, summary.not_checked),
            unused_suppressions=_placed(prefix, summary.unused_suppressions),
            suppressions_without_reason=_placed(prefix, summary.suppressions_without_reason),
            excluded=[tree._replace(path=f"{prefix}/{tree.path}") for tree in summary.excluded],
            top_risk_files=[f"{prefix}/{file}" for file in summary.top_risk_files],
            **_stage_values(prefix, summary),
        ),
    )


def _stage_values(prefix: str, summary: Summary) -> dict[str, Any]:
    """Return what stages have added that names files."""
    return {
        part.field: value._replace(
            **{name: [f"{prefix}/{file}" for file in getattr(value, name)] for name in part.paths}
        )
        for part, value in parts_of(summary)
        if part.paths
    }


def _issue(prefix: str, issue: Issue) -> Issue:
    (placed,) = _placed(prefix, [issue.candidate])
    rebased = issue._replace(candidate=placed, path=tuple(_placed(prefix, issue.path)))
    if not issue.verdict:
        return rebased
    return rebased._replace(verdict=issue.verdict._replace(evidence=tuple(_placed(prefix, issue.verdict.evidence))))


def _placed(prefix: str, places: Iterable[Placed]) -> list[Placed]:
    return [place._replace(file=f"{prefix}/{place.file}") for place in places]
