"""The outcome of a scan: its exit code, the reason for it, and a one-line summary. Avoids slow imports."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten

from jarvis_cli.kit import exits
from jarvis_cli.kit.report_target import Delivery
from jarvis_cli.kit.run_outcome import counted
from jarvis_cli.kit.status_output import Display
from jarvis_workers.paths import listing, plain, shown
from jarvis_workers.sec.finding import FOUND_BY_MODEL, Candidate
from jarvis_workers.sec.report.body import AT_RISK
from jarvis_workers.sec.report.exclusions import files_with_alerts, ignored_by_git
from jarvis_workers.sec.report.fired_rules import finding_name
from jarvis_workers.sec.report.stage_parts import briefs
from jarvis_workers.sec.report.verdicts import listed_findings, urgency
from jarvis_workers.sec.report_document import CanaryOutcome, ReportBody, ReportGap, Summary
from jarvis_workers.sec.severity import is_at_least
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.store.values import Run
from jarvis_workers.words import ENGLISH

STATUS_WORDS = {"review": "to review"}
REASON_WIDTH = 160
ALTERED_MAX = 10


def conclude(run: Run, body: ReportBody, delivery: Delivery, screen: Display) -> int:
    """Print the outcome to stderr, with the reason for an exit code other than 0; return the exit code."""
    code = exit_code(run, body, delivery.fail_on)
    reason = f"exit {code}: {exit_reason(run, body, delivery.fail_on, code)}" if code else ""
    if delivery.quiet:
        if reason:
            screen.tell(reason)
        return code
    says = brief(run, body) if delivery.is_brief else summary(run, body, delivery.output)
    screen.conclude(f"{says}; {reason}" if reason else says, well=is_well(run, body))
    if delivery.is_brief and delivery.is_stored and (more := hint(run, body)):
        screen.tell(more)
    return code


def exit_code(run: Run, body: ReportBody, fail_on: str | None) -> int:
    """Return the exit code of a run that has ended or is paused."""
    if run.state in {"cancelled", "failed"}:
        return exits.FAILED
    counts = _counts(body.summary)
    findings = fail_on is not None and any(is_at_least(severity, fail_on) for severity in counts)
    return exits.of_run(findings=findings, incomplete=not is_well(run, body))


def _alters(run: Run) -> list[str]:
    """Return the sentence about what the change under test narrows of its own scan."""
    altered = SecOptions.of(run).altered
    return [f"this change alters what is scanned: {plain(listing(altered, ALTERED_MAX))}"] if altered else []


def exit_reason(run: Run, body: ReportBody, fail_on: str | None, code: int) -> str:
    """Return the reason for an exit code other than 0."""
    summary = body.summary
    if code == exits.FINDINGS and fail_on:
        counts = _counts(summary)
        number = sum(count for severity, count in counts.items() if is_at_least(severity, fail_on))
        risky = (issue for issue in listed_findings(body) if issue.status in ("heuristic", *AT_RISK))
        first = next((issue for issue in risky if is_at_least(issue.severity, fail_on)), None)
        place = f"; first: {_shown(run, first.candidate)}:{first.candidate.line} {finding_name(first)}" if first else ""
        gaps = f"; NOT CHECKED: {counted(summary.files_not_checked, 'file')}" if summary.not_checked else ""
        open_ones = f"; UNDECIDED: {counted(undecided, 'finding')}" if (undecided := _undecided(summary)) else ""
        found = f"{counted(number, 'finding')} at or above {fail_on} (--fail-on {fail_on}){place}{gaps}{open_ones}"
        return "; ".join([found, *_alters(run)])
    reasons = [] if run.state in ("done", "incomplete") else [f"the run is {run.state}{_why(run)}"]
    reasons += ["the known bug was not confirmed"] if _missed(summary) else []
    reasons += _alters(run)
    reasons += _not_checked(run, summary)
    reasons += _without_verdict(run, body)
    reasons += [_resume(run)] if run.state == "paused" else []
    return "; ".join(reasons) or f"the run is {run.state}{_why(run)}"


def _resume(run: Run) -> str:
    from jarvis_workers.runs.budgets import resume_flags  # noqa: PLC0415  (the store is slow to import)

    return f"continue with: jarvis runs resume {run.id}{resume_flags(run)}"


def _why(run: Run) -> str:
    return f" ({plain(run.reason)})" if run.reason else ""


def _counts(summary: Summary) -> Mapping[str, int]:
    """Count the findings that may fail a build, by severity."""
    return summary.by_severity if summary.at_risk is None else summary.at_risk


def _not_checked(run: Run, summary: Summary) -> list[str]:
    if not summary.not_checked:
        return []
    gap = summary.not_checked[0]
    first = f"{_shown(run, gap)} ({plain(gap.reason)})"
    return [f"NOT CHECKED: {counted(summary.files_not_checked, 'file')}; first: {first}"]


def _undecided(summary: Summary) -> int:
    return (summary.by_status or {}).get("undecided", 0)


def _without_verdict(run: Run, body: ReportBody) -> list[str]:
    """Return the number of undecided findings, with the location of the first and the reason for it."""
    number = _undecided(body.summary)
    if not number:
        return []
    first = next((issue for issue in listed_findings(body) if issue.status == "undecided"), None)
    if first is None:
        return [f"UNDECIDED: {counted(number, 'finding')}"]
    reason = first.opinion.reason
    why = f" ({shorten(plain(reason), REASON_WIDTH, placeholder='…')})" if reason else ""
    place = f"{_shown(run, first.candidate)}:{first.candidate.line} {finding_name(first)}"
    return [f"UNDECIDED: {counted(number, 'finding')}; first: {place}{why}"]


def _shown(run: Run, place: Candidate | ReportGap) -> str:
    prefix = shown_prefix(run)
    return plain(f"{prefix}/{place.file}" if prefix else place.file)


def is_well(run: Run, body: ReportBody) -> bool:
    """Return whether a run is complete and trustworthy: its canary was confirmed, and the change alters no scope."""
    return run.state == "done" and not _missed(body.summary) and not _alters(run)


def summary(run: Run, body: ReportBody, output: object) -> str:
    """Return a one-line summary; `exit_reason` has the problems."""
    report_summary = body.summary
    baseline = report_summary.baseline
    findings = (
        _by_verdict(report_summary, report_summary.by_status)
        if report_summary.by_status is not None
        else _by_number(report_summary)
    )
    text = f"run {run.id} {run.state}: {findings} in {counted(report_summary.scanned_files, 'file')}"
    text += f"; known: {baseline.known:,}" if baseline else ""
    text += f"; suppressed: {report_summary.suppressed:,}" if report_summary.suppressed else ""
    text += f"; judged false: {report_summary.judged_false:,}" if report_summary.judged_false else ""
    text += f"; won't fix: {report_summary.judged_wontfix:,}" if report_summary.judged_wontfix else ""
    text += f"; excluded by .gitignore:  {ignored}" if (ignored := ignored_by_git(report_summary, ENGLISH)) else ""
    text += f"; alerts left out: of {counted(others, 'file')}" if (others := files_with_alerts(report_summary)) else ""
    text += "".join(f"; {part}" for part in briefs(report_summary))
    if canary := _missed(report_summary):
        text += f"; THE KNOWN BUG WAS MISSED ({canary.status}): do not trust these verdicts"
    return text + (f"; report: {output}" if output else "")


def _by_number(summary: Summary) -> str:
    """Return the number of findings; 0 is not the number of findings of a scan that is not complete."""
    if summary.not_checked and not summary.total:
        return f"INCOMPLETE: NOT CHECKED: {counted(summary.files_not_checked, 'file')}; nothing found so far"
    return counted(summary.total, "new finding" if summary.baseline else "finding")


def brief(run: Run, body: ReportBody) -> str:
    """Return a line with the facts that a text report does not contain: run id, state and duration."""
    seconds = f" in {max(0.0, run.ended_at - run.created_at):,.1f} s" if run.ended_at else ""
    text = f"run {run.id} {run.state}{seconds}"
    return text


def hint(run: Run, body: ReportBody) -> str:
    """Return a hint for further details of a report printed to a terminal, or ""."""
    if not (body.issues and sys.stderr and sys.stderr.isatty()):
        return ""
    report, worst = f"jarvis runs report {run.id} -o report.html", min(body.issues, key=urgency)
    if worst.candidate.pattern in FOUND_BY_MODEL:
        return f"more: {report}"
    return f"more: jarvis sec explain {plain(worst.candidate.pattern)}, {report}"


def _missed(summary: Summary) -> CanaryOutcome | None:
    """Return the canary result if the canary was not confirmed."""
    canary = summary.canary
    return canary if canary and canary.status != "confirmed" else None


def _by_verdict(summary: Summary, statuses: Mapping[str, int]) -> str:
    """Return the numbers of verdicts by status."""
    dismissed = summary.dismissed or 0
    proved = {"proved": statuses["proved"]} if statuses.get("proved") else {}
    numbers = {**proved, "confirmed": 0, "review": 0, **statuses, "dismissed": dismissed}
    if undecided := numbers.pop("undecided", 0):
        numbers["UNDECIDED"] = undecided
    counts = ", ".join(f"{number:,} {STATUS_WORDS.get(status, status)}" for status, number in numbers.items())
    return f"of {counted(summary.total + dismissed, 'candidate')} {counts},"


def shown_prefix(run: Run) -> str:
    """Return the path of the root as a user of the current directory would type it; "" for that directory or a URL."""
    root, here = Path(os.fsdecode(run.root_raw)), Path.cwd()
    if not root.is_absolute():
        return ""
    if root == here:
        return ""
    root = root if not root.is_file() else root.parent
    if root.is_relative_to(here):
        return shown(os.fsencode(root.relative_to(here))) if root != here else ""
    if here.is_relative_to(root):
        return shown(os.path.relpath(os.fsencode(root), os.fsencode(here)))
    return shown(os.fsencode(root)).rstrip("/")
