"""Render a report as SARIF 2.1.0, for code scanning services and editors.

Each result is on one line because diff compares lines.  Services limit the number of results: those with the highest
score are written, and a notification counts the others; a further notification names each file that was not checked.
Two runs over the same input differ in the driver's version, the invocation's times, the base URI and the property
`run`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from jarvis_workers.paths import from_shown
from jarvis_workers.sec.report.exclusions import set_aside
from jarvis_workers.sec.report.fired_rules import rules_of
from jarvis_workers.sec.report.json import dense
from jarvis_workers.sec.report.rebase import below
from jarvis_workers.sec.report.sarif_results import (
    GZIPPED_MAX,
    RESULTS_MAX,
    SOURCE_ROOT,
    Numbered,
    artifact,
    fit,
    fixes,
    message,
    number,
    open_first,
    result,
    worth_of,
)
from jarvis_workers.sec.report.sarif_rules import describe, taxonomy
from jarvis_workers.sec.report.sarif_tools import ToolLog, Tools, tool_logs, tools_of
from jarvis_workers.sec.report.scope_notes import scope_notes
from jarvis_workers.sec.report.verdicts import has_verdicts, missed_canary
from jarvis_workers.sec.report_document import WHOLE_TREE, ReportBody, ReportGap, Summary
from jarvis_workers.words import ENGLISH

Part = dict[str, Any]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
NAMED_MAX = 1_000
NAME_MAX = 300
NOTIFICATIONS = {
    "not-checked": "A file was not checked.",
    "not-listed": "Findings are not listed.",
    "unused-suppression": "A suppression is unused.",
    "canary-missed": "A known bug was not confirmed.",
    "narrowed": "Rules did not run, or settings narrow the scan.",
}
REPOSITORY = re.compile(r"(?P<address>\w[\w+.-]*://.+|[\w.-]+@[\w.-]+:.+)@(?P<commit>[0-9a-f]{40}(?:[0-9a-f]{24})?)")


def render_sarif(
    body: ReportBody, run: Mapping[str, Any], *, most: int = RESULTS_MAX, gzipped_max: int = GZIPPED_MAX
) -> Iterator[str]:
    """Yield a SARIF log: a run of jarvis, and one of each other analyzer, each with at most `most` results.

    URIs are relative to the repository root.
    """
    prefix = run.get("path_prefix", "")
    body = below(prefix, body)
    everything = number(body)
    tools = tools_of(body.alerts, everything)
    elsewhere = tools.findings
    numbered = [one for one in everything if one.issue.gid not in elsewhere]
    descriptions = rules_of(one.issue for one in numbered)
    rules = {one.id: index for index, one in enumerate(descriptions)}
    weaknesses = sorted({one.cwe for one in descriptions if one.cwe})
    own = fit(numbered, most, gzipped_max, lambda one: result(one, rules), lambda one: worth_of(one.issue))
    others = list(tool_logs(tools, body, most, gzipped_max - own.gzipped))
    listed = open_first(own.rows) if has_verdicts(body.summary) else own.rows
    yield f'{{"$schema":{dense(SCHEMA)},"version":"2.1.0","runs":[{{\n"tool":'
    yield dense({"driver": _driver(run, [describe(one, weaknesses) for one in descriptions], weaknesses)})
    if weaknesses:
        yield f',\n"taxonomies":{dense([taxonomy(weaknesses)])}'
    yield ',\n"columnKind":"unicodeCodePoints",\n"results":['
    before = "\n"
    for one in listed:
        yield f"{before}{dense(result(one, rules) | fixes(body.patches.get(one.issue.id), one.issue.proof))}"
        before = ",\n"
    yield f'],\n"invocations":{dense([_invocation(body.summary, _cut(body, tools, listed, others), run)])}'
    for name, part in _origin(body, run).items():
        yield f",\n{dense(name)}:{dense(part)}"
    # No automationDetails: GitHub's upload action would omit its own category.
    yield f',\n"properties":{dense({"run": run})}}}'
    for log in others:
        yield from _tool_run(log)
    yield "]}\n"


def _tool_run(log: ToolLog) -> Iterator[str]:
    """Yield the run of another analyzer."""
    root = {SOURCE_ROOT: {"description": {"text": "The root of the repository."}}}
    yield f',{{\n"tool":{dense({"driver": log.driver})},\n"taxonomies":{dense(log.taxonomies)},\n"results":['
    before = "\n"
    for row in log.rows:
        yield f"{before}{dense(log.write(row))}"
        before = ",\n"
    yield f'],\n"originalUriBaseIds":{dense(root)}}}'


def _driver(run: Mapping[str, Any], rules: Sequence[Part], weaknesses: Sequence[int]) -> Part:
    return {
        "name": "Jarvis",
        **({"version": run["version"]} if run.get("version") else {}),
        "rules": rules,
        "notifications": [{"id": name, "shortDescription": {"text": text}} for name, text in NOTIFICATIONS.items()],
        **({"supportedTaxonomies": [{"name": "CWE", "index": 0}]} if weaknesses else {}),
    }


def _cut(body: ReportBody, tools: Tools, listed: Sequence[Numbered], others: Sequence[ToolLog]) -> Part:
    """Count the findings that are not listed, with suppressed and dismissed ones counted separately."""
    issues = [one.issue for one in listed] + [issue for log in others for issue in log.issues]
    quiet = sum(issue.suppression is not None for issue in issues)
    dismissed = sum(not issue.suppression and issue.status == "dismissed" for issue in issues)
    summary = body.summary
    return {
        "findings": summary.total - (len(issues) - quiet - dismissed),
        "suppressed findings": set_aside(summary) - quiet,
        "dismissed findings": (summary.dismissed or 0) - dismissed,
        "results of other analyzers": sum(map(len, tools.rows.values())) - sum(len(log.rows) for log in others),
    }


def _invocation(summary: Summary, cut: Mapping[str, int], run: Mapping[str, Any]) -> Part:
    """Return the invocation; a run that is incomplete, or left something unchecked, was not successful."""
    times = {"startTimeUtc": run.get("created_at"), "endTimeUtc": run.get("ended_at")}
    shallow = [_note("narrowed", "note", note) for note in scope_notes(run, ENGLISH)]
    missed = [_note("canary-missed", "error", f"{what} {means}") for what, means in missed_canary(summary)]
    return {
        "executionSuccessful": not (summary.not_checked or missed) and run.get("state", "done") == "done",
        **{name: moment.replace("+00:00", "Z") for name, moment in times.items() if moment},
        "toolExecutionNotifications": [
            *missed,
            *shallow,
            *_not_checked_notes(summary.not_checked),
            *_remarks(summary, cut),
        ],
    }


def _not_checked_notes(gaps: Sequence[ReportGap]) -> Iterator[Part]:
    for gap in gaps[:NAMED_MAX]:
        name = gap.file if len(gap.file) <= NAME_MAX else f"{gap.file[:NAME_MAX]}..."
        location = {"physicalLocation": {"artifactLocation": artifact(gap.file)}}
        note = _note("not-checked", "error", f"Not checked: {name}: {gap.reason}.")
        yield note | ({"locations": [location]} if name == gap.file else {})
    if len(gaps) > NAMED_MAX:
        more = len(gaps) - NAMED_MAX
        yield _note("not-checked", "error", f"Not checked: {more:,} more; see the JSON report.")


def _remarks(summary: Summary, cut: Mapping[str, int]) -> Iterator[Part]:
    for what, count in cut.items():
        if count > 0:
            yield _note(
                "not-listed", "warning", f"Not listed: {count:,} {what}; only those with the highest scores are listed."
            )
    for unused in summary.unused_suppressions[:NAMED_MAX]:
        place = {"artifactLocation": artifact(unused.file), "region": {"startLine": unused.line}}
        note = _note("unused-suppression", "note", f"{unused.text}: {unused.reason}.")
        yield note | {"locations": [{"physicalLocation": place}]}


def _note(name: str, level: str, text: str) -> Part:
    return {
        "descriptor": {"id": name, "index": list(NOTIFICATIONS).index(name)},
        "level": level,
        "message": message(text),
    }


def _origin(body: ReportBody, run: Mapping[str, Any]) -> Part:
    """Return the base of relative URIs: a directory, or a revision of a repository."""
    root = run.get("scanned_root")
    if not root:
        return {"originalUriBaseIds": {SOURCE_ROOT: {"description": {"text": "The root of the scanned tree."}}}}
    if match := REPOSITORY.fullmatch(root):
        described = {"description": {"text": "The root of the repository."}}
        provenance = {
            "repositoryUri": _address(match["address"]),
            "revisionId": match["commit"],
            "mappedTo": {"uriBaseId": SOURCE_ROOT},
        }
        return {"versionControlProvenance": [provenance], "originalUriBaseIds": {SOURCE_ROOT: described}}
    path, prefix = _directory(body, from_shown(root)), from_shown(run.get("path_prefix", ""))
    if prefix and not path.endswith(b"/" + prefix):  # reached through a symbolic link: repository unknown
        return {"originalUriBaseIds": {SOURCE_ROOT: {"description": {"text": "The root of the repository."}}}}
    base = {"uri": f"file://{quote(path[: len(path) - len(prefix)].rstrip(b'/'))}/"}
    return {**_provenance(run), "originalUriBaseIds": {SOURCE_ROOT: base}}


def _provenance(run: Mapping[str, Any]) -> Part:
    """Return the remote, branch and commit of a working tree; empty without a remote or a commit."""
    checkout, url = run.get("checkout") or {}, run.get("repository_url")
    if not (url and checkout.get("commit")):
        return {}
    branch = {"branch": checkout["branch"]} if checkout.get("branch") else {}
    details = {"repositoryUri": _address(url), "revisionId": checkout["commit"], **branch}
    dirty = {"properties": {"dirty": True}} if checkout.get("dirty") else {}
    return {"versionControlProvenance": [details | dirty | {"mappedTo": {"uriBaseId": SOURCE_ROOT}}]}


def _directory(body: ReportBody, root: bytes) -> bytes:
    """Return the base directory of relative paths; if a single file was scanned, its parent."""
    above, _, name = root.rstrip(b"/").rpartition(b"/")
    named = {issue.candidate.file for issue in body.findings} | {gap.file for gap in body.summary.not_checked}
    named.discard(WHOLE_TREE)
    return above if {from_shown(file).rpartition(b"/")[2] for file in named} == {name} else root.rstrip(b"/")


def _address(address: str) -> str:
    """Return the URL for a git remote address, which may have the scp-like form."""
    if "://" not in address:
        host, _, path = address.partition(":")
        address = f"ssh://{host}/{path.lstrip('/')}"
    return quote(from_shown(address), safe=":/?#[]@!$&'()*+,;=%~")
