"""Render the runs of other analyzers in SARIF: their own results, with what has come of them here.

A result keeps what services know it by: the name of its tool, the id of its rule, its place and its fingerprints. A run
has all results of its tool, also those that are merged with a finding, count for nothing, or have no place in the tree:
a service takes what a later run lacks as fixed.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

from jarvis_workers.paths import plain
from jarvis_workers.sec.alerts.alert import Alert
from jarvis_workers.sec.alerts.candidate_text import category_of, confidence_of, remedy_of
from jarvis_workers.sec.report.fired_rules import RuleText, rule_of
from jarvis_workers.sec.report.sarif_results import (
    OWN_PRINT,
    Numbered,
    Worth,
    artifact,
    fit,
    fixes,
    message,
    result,
    suppressions_of,
    verdict_sentence,
    worth_of,
)
from jarvis_workers.sec.report.sarif_rules import describe, taxonomy
from jarvis_workers.sec.report_document import Issue, ReportBody, ReportedAlert

Part = dict[str, Any]

# GitHub takes 20 runs in a file; the first is that of jarvis.
TOOLS_MAX = 19
# Its own findings, of another machine, are in the run of jarvis: a service takes one run of a tool.
OURS = "jarvis"
ERRORS = frozenset({"error", "fatal error", "high", "critical"})
WARNINGS = frozenset({"warning", "medium", ""})
NO_WORTH: Worth = (False, False, False, 0.0)


class ToolResult(NamedTuple):
    """An alert and its finding, None if it has none that the report lists."""

    reported: ReportedAlert
    finding: Numbered | None

    @property
    def is_own(self) -> bool:
        """Whether the finding is that of the alert alone."""
        return self.finding is not None and not self.reported.is_merged


class Tools(NamedTuple):
    """The results of other analyzers by name."""

    rows: Mapping[str, Sequence[ToolResult]]

    @property
    def findings(self) -> set[int]:
        """The gids of the findings that are in these runs, and not in that of jarvis."""
        return {row.finding.issue.gid for rows in self.rows.values() for row in rows if row.finding and row.is_own}


class ToolLog(NamedTuple):
    """The run of another analyzer, whose results are rendered one by one: they are many."""

    driver: Part
    taxonomies: Sequence[Part]
    rows: Sequence[ToolResult]
    write: Callable[[ToolResult], Part]

    @property
    def issues(self) -> list[Issue]:
        """The findings that are in this run and in no other."""
        return [row.finding.issue for row in self.rows if row.finding and row.is_own]


def tools_of(alerts: Sequence[ReportedAlert], numbered: Sequence[Numbered]) -> Tools:
    """Return the results of the tools with the most alerts, as many as services take."""
    names = Counter(plain(one.alert.tool) for one in alerts)
    largest = sorted((name for name in names if name.lower() != OURS), key=lambda name: (-names[name], name))
    rows: dict[str, list[ToolResult]] = {name: [] for name in sorted(largest[:TOOLS_MAX])}
    by_gid = {one.issue.gid: one for one in numbered}
    for one in alerts:
        if (name := plain(one.alert.tool)) in rows:
            rows[name].append(ToolResult(one, by_gid.get(one.gid) if one.gid else None))
    return Tools(rows)


def tool_logs(tools: Tools, body: ReportBody, most: int, gzipped_max: int) -> Iterator[ToolLog]:
    """Yield the runs of other analyzers, within the limits of services."""
    for left, (name, rows) in zip(range(len(tools.rows), 0, -1), tools.rows.items(), strict=True):
        firsts = {plain(row.reported.alert.rule): row.reported.alert for row in reversed(rows)}
        write = partial(_result, rules={rule: index for index, rule in enumerate(sorted(firsts))}, body=body)
        listed = fit(rows, most, gzipped_max // left, write, _worth)
        gzipped_max -= listed.gzipped
        weaknesses = sorted({alert.cwe for alert in firsts.values() if alert.cwe})
        yield ToolLog(
            _driver(name, firsts, weaknesses),
            [taxonomy(weaknesses)] if weaknesses else [],
            listed.rows,
            write,
        )


def _driver(name: str, firsts: Mapping[str, Alert], weaknesses: Sequence[int]) -> Part:
    return {
        "name": name,
        "rules": [_descriptor(rule, alert, weaknesses) for rule, alert in sorted(firsts.items())],
        **({"supportedTaxonomies": [{"name": "CWE", "index": 0}]} if weaknesses else {}),
    }


def _descriptor(rule: str, alert: Alert, weaknesses: Sequence[int]) -> Part:
    """Return the description of a rule; its level is that of each result."""
    title = plain(alert.title or rule)
    text = RuleText(
        id=rule,
        language="",
        category=category_of(alert),
        cwe=alert.cwe,
        confidence=confidence_of(alert),
        severity=None,
        title=title,
        description=title,
        suggestion=remedy_of(alert),
    )
    return {name: part for name, part in describe(text, weaknesses).items() if name != "name"}


def _result(row: ToolResult, rules: Mapping[str, int], body: ReportBody) -> Part:
    alert, finding = row.reported.alert, row.finding
    rule = plain(alert.rule)
    own = _own_parts(finding, body) if finding and row.is_own else _other_parts(finding)
    text = plain(alert.text or alert.title) or rule
    more = verdict_sentence(finding.issue) if finding else ""
    return {
        "ruleId": rule,
        "ruleIndex": rules[rule],
        "level": _level(alert.level),
        "message": message(f"{text} {more}" if more else text),
        **_places(row.reported),
        **_fingerprints(alert, own.pop("partialFingerprints", {})),
        # All results of a run have suppressions, or none has (3.27.23).
        "suppressions": _suppressions(alert, finding),
        **own,
    }


def _own_parts(finding: Numbered, body: ReportBody) -> Part:
    """Return what a report says of a finding of jarvis, besides its rule, level, text and place."""
    issue = finding.issue
    written = result(finding, {rule_of(issue): 0})
    one = issue.candidate
    place = {"pattern": one.pattern, "file": one.file, "line": one.line, "evidence": one.evidence, "cwe": one.cwe}
    names = ("partialFingerprints", "rank", "relatedLocations", "codeFlows")
    parts = {name: written[name] for name in names if name in written}
    return parts | fixes(body.patches.get(issue.id), issue.proof) | {"properties": place | written["properties"]}


def _other_parts(finding: Numbered | None) -> Part:
    if finding is None:
        return {}
    issue = finding.issue
    return {"properties": {"merged_with": issue.id, "pattern": issue.candidate.pattern, "status": issue.status}}


def _places(reported: ReportedAlert) -> Part:
    """Return the location as the report gives it, in SARIF; of other forms, that of the tree; none of no file."""
    alert, identity = reported.alert, reported.alert.identity
    if identity:
        uri: Part = {"uri": identity.uri, **({"uriBaseId": identity.base} if identity.base else {})}
        region: Part = dict(identity.region)
    else:
        uri = artifact(reported.file) if reported.file else {"uri": quote(alert.file)}
        region = {"startLine": reported.line or alert.line} | ({"startColumn": alert.column} if alert.column else {})
    if not uri["uri"]:
        return {}
    place = {"artifactLocation": uri} | ({"region": region} if region.get("startLine") else {})
    return {"locations": [{"physicalLocation": place}]}


def _fingerprints(alert: Alert, own: Mapping[str, str]) -> Part:
    identity = alert.identity
    # Services match by the first one that they know, which is the tool's own.
    more = {name: one for name, one in own.items() if name == OWN_PRINT or not identity}
    some = (dict(identity.partial_fingerprints) if identity else {}) | more
    whole = dict(identity.fingerprints) if identity else {}
    return {
        **({"partialFingerprints": some} if some else {}),
        **({"fingerprints": whole} if whole else {}),
    }


def _suppressions(alert: Alert, finding: Numbered | None) -> list[Part]:
    """Return the suppressions of a finding, or that of the report for what has none."""
    if finding is not None:
        return [one | {"status": "accepted"} for one in suppressions_of(finding.issue)]
    if alert.suppressed is None:
        return []
    return [{"kind": "external", "justification": plain(alert.suppressed), "status": "accepted"}]


def _level(level: str) -> str:
    """Return the tool's own level in the words of SARIF."""
    name = level.lower()
    if name == "none":
        return "none"
    return "error" if name in ERRORS else "warning" if name in WARNINGS else "note"


def _worth(row: ToolResult) -> Worth:
    return worth_of(row.finding.issue) if row.finding else NO_WORTH
