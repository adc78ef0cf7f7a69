"""Render a report as JUnit XML, for build servers: a failure for each finding, an error for each unchecked file.

Undecided findings and those for review are errors, too: a build must not pass because a verdict is missing.
A dismissed finding is a passing test with the reason; a suppressed one is skipped.
Build servers compare test cases by class and name and drop duplicates: a name contains no line number, and equal
names are distinguished by an ordinal.  They also reject a file that contains even one character forbidden in XML.
Paths begin at the top of the repository.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from jarvis_workers.escape import visible
from jarvis_workers.sec.report.ci_findings import also_reported
from jarvis_workers.sec.report.exclusions import is_import
from jarvis_workers.sec.report.fired_rules import finding_title
from jarvis_workers.sec.report.json import dense
from jarvis_workers.sec.report.rebase import below
from jarvis_workers.sec.report.verdicts import MEANS, TEXT_TITLES, WORDS, missed_canary, verdict_text
from jarvis_workers.sec.report_document import Issue, ReportBody, ReportGap, Summary

FORBIDDEN = re.compile("[\ufffe\uffff]")
NAME_MAX = 500
EVERYTHING = "every file was checked"


def render_junit(body: ReportBody, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield a suite for the scan itself, with the properties of the run, and one for each rule that fired."""
    body = below(run.get("path_prefix", ""), body)
    summary, issues = body.summary, body.findings
    gaps = _not_checked(summary, run)
    cases = len(gaps) or 1
    ends = Counter(map(_end, issues)) + Counter(errors=len(gaps))
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield _open("testsuites", "jarvis", cases + len(issues), ends)
    yield from _scan(summary, gaps, cases, run)
    fired: defaultdict[str, list[Issue]] = defaultdict(list)
    for issue in issues:
        fired[issue.candidate.pattern].append(issue)
    for pattern, findings in sorted(fired.items()):
        yield from _rule(pattern, findings)
    yield "</testsuites>\n"


def _not_checked(summary: Summary, run: Mapping[str, Any]) -> Sequence[ReportGap]:
    gaps = [ReportGap("the known bug", f"{what} {means}") for what, means in missed_canary(summary)]
    gaps += summary.not_checked
    return gaps if gaps or summary.scanned_files or is_import(run) else [ReportGap("the tree", "it has no source file")]


def _scan(summary: Summary, gaps: Sequence[ReportGap], cases: int, run: Mapping[str, Any]) -> Iterator[str]:
    yield _open("testsuite", "scan", cases, Counter(errors=len(gaps)))
    if run:
        rows = [f"<property{_attributes(name=f'run.{name}', value=_written(value))}/>" for name, value in run.items()]
        yield "<properties>\n" + "\n".join(rows) + "\n</properties>\n"
    if not gaps:
        yield f"<testcase{_attributes(classname='jarvis.scan', name=EVERYTHING)}/>\n"
    for gap in gaps:
        name = f"{_short(gap.file)}: {gap.reason}"
        yield f"<testcase{_attributes(classname='jarvis.scan', name=name)}>"
        yield f"<error{_attributes(type='not checked', message=gap.reason)}>"
        yield f"{_text(gap.file)} was not checked: {_text(gap.reason)}</error></testcase>\n"
    if summary.not_listed:
        yield f"<system-out>{summary.not_listed} findings with lower scores are not listed.</system-out>\n"
    yield "</testsuite>\n"


def _rule(pattern: str, issues: Sequence[Issue]) -> Iterator[str]:
    yield _open("testsuite", pattern, len(issues), Counter(map(_end, issues)))
    seen = Counter[str]()
    for issue in issues:
        name = f"{_short(issue.candidate.file)}: {issue.candidate.evidence}"
        seen[name] += 1
        numbered = name if seen[name] == 1 else f"{name} ({seen[name]})"
        place = _attributes(
            classname=f"jarvis.{pattern}", name=numbered, file=issue.candidate.file, line=issue.candidate.line
        )
        yield f"<testcase{place}>{_outcome(issue)}</testcase>\n"
    yield "</testsuite>\n"


def _end(issue: Issue) -> str:
    """Return the outcome of a finding's test case, under the name of the counter that it increments."""
    if issue.suppression:
        return "skipped"
    return {"dismissed": "passed", "review": "errors", "undecided": "errors"}.get(issue.status, "failures")


def _outcome(issue: Issue) -> str:
    if issue.suppression:
        return f"<skipped{_attributes(message=issue.suppression.justification or 'suppressed')}/>"
    end = _end(issue)
    if end == "passed":
        return f"<system-out>Dismissed: {_text(verdict_text(issue) or MEANS['dismissed'])}</system-out>"
    title = finding_title(issue)
    details = chr(10).join(map(_text, _details(issue)))
    if end == "errors":
        reason = issue.opinion.reason or MEANS[issue.status]
        return f"<error{_attributes(type=issue.status, message=f'{title}: {reason}')}>{details}</error>"
    return f"<failure{_attributes(type=issue.severity, message=title)}>{details}</failure>"


def _details(issue: Issue) -> Iterator[str]:
    """Yield the lines of text that describe a finding."""
    verdict = issue.opinion
    weakness = f", CWE-{issue.candidate.cwe}" if issue.candidate.cwe else ""
    yield f"{issue.candidate.file}:{issue.candidate.line}: {issue.candidate.evidence}"
    yield f"Severity {issue.severity}, confidence {issue.candidate.confidence:.2f}{weakness}, {issue.id}."
    yield f"Why: {issue.candidate.description}"
    if also := also_reported(issue):
        yield also
    if not verdict.suggestions:
        yield f"What to do: {issue.candidate.suggestion}"
    if issue.proof and issue.status == "proved":
        yield f"Proved: {'; '.join([issue.proof.command, *issue.proof.stack[:1]])}"
    for number, step in enumerate(issue.path, 1):
        yield f"Step {number}: {step.file}:{step.line}: {step.note}"
    if verdict.reason:
        yield f"{WORDS[issue.status].capitalize()}: {verdict.reason}"
    for name, words in TEXT_TITLES.items():
        if text := getattr(verdict, name):
            yield from f"{words}: {text}".split("\n")
    for quote in verdict.evidence:
        yield from f"Evidence: {quote.file}:{quote.line}: {quote.quote}".split("\n")
    for command in verdict.commands:
        yield from f"To reproduce, with {command.interpreter}:\n{command.script}".split("\n")


def _open(kind: str, name: str, tests: int, ends: Mapping[str, int]) -> str:
    counts = {count: ends.get(count, 0) for count in ("failures", "errors", "skipped")}
    return f"<{kind}{_attributes(name=name, tests=tests, **counts)}>\n"


def _attributes(**values: object) -> str:
    return "".join(f' {name}="{_text(str(value))}"' for name, value in values.items())


def _text(text: str) -> str:
    return escape(FORBIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", visible(text)))


def _short(file: str) -> str:
    return file if len(file) <= NAME_MAX else f"...{file[-NAME_MAX:]}"


def _written(value: object) -> str:
    return value if isinstance(value, str) else dense(value)
