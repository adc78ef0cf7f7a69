"""Write a report as JUnit XML, for build servers: a failure for each finding, an error for what was not checked.

Build servers compare test cases by class and name and drop the second of two alike: a name holds no line number and
is told from its twins by an ordinal.  They also refuse a file with one character that XML forbids.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from jarvis_workers.sec.report.escape import visible
from jarvis_workers.sec.report.json import dense
from jarvis_workers.sec.report.told import told_by

__all__ = ["render_junit"]

Body = Mapping[str, Any]
Issues = Sequence[Mapping[str, Any]]

FORBIDDEN = re.compile("[\ufffe\uffff]")
NAME_MAX = 500
EVERYTHING = "every file was checked"


def render_junit(body: Body, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield a suite for the scan itself, with the properties of the run, and one for each rule that fired."""
    summary, issues = body["summary"], [*body["issues"], *body.get("suppressed", ())]
    gaps = _gaps(summary)
    suppressed = sum("suppression" in issue for issue in issues)
    cases = len(gaps) or 1
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    failures = len(issues) - suppressed
    yield _open("testsuites", "jarvis", cases + len(issues), failures=failures, errors=len(gaps), skipped=suppressed)
    yield from _scan(summary, gaps, cases, run)
    fired: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for issue in issues:
        fired[issue["pattern"]].append(issue)
    for told in told_by(issues):
        yield from _rule(told.pattern, told.title, fired[told.pattern])
    yield "</testsuites>\n"


def _gaps(summary: Body) -> Issues:
    gaps: Issues = summary["not_checked"]
    return gaps if gaps or summary["scanned_files"] else [{"file": "the tree", "reason": "it has no source file"}]


def _scan(summary: Body, gaps: Issues, cases: int, run: Mapping[str, Any]) -> Iterator[str]:
    yield _open("testsuite", "scan", cases, errors=len(gaps))
    if run:
        rows = [f"<property{_attributes(name=f'run.{name}', value=_written(value))}/>" for name, value in run.items()]
        yield "<properties>\n" + "\n".join(rows) + "\n</properties>\n"
    if not gaps:
        yield f"<testcase{_attributes(classname='jarvis.scan', name=EVERYTHING)}/>\n"
    for gap in gaps:
        name = f"{_short(gap['file'])}: {gap['reason']}"
        yield f"<testcase{_attributes(classname='jarvis.scan', name=name)}>"
        yield f"<error{_attributes(type='not checked', message=gap['reason'])}>"
        yield f"{_text(gap['file'])} was not checked: {_text(gap['reason'])}</error></testcase>\n"
    if summary.get("not_listed"):
        yield f"<system-out>{summary['not_listed']} findings of lower score are not listed.</system-out>\n"
    yield "</testsuite>\n"


def _rule(pattern: str, title: str, found: Issues) -> Iterator[str]:
    suppressed = sum("suppression" in issue for issue in found)
    yield _open("testsuite", pattern, len(found), failures=len(found) - suppressed, skipped=suppressed)
    seen = Counter[str]()
    for issue in found:
        name = f"{_short(issue['file'])}: {issue['evidence']}"
        seen[name] += 1
        numbered = name if seen[name] == 1 else f"{name} ({seen[name]})"
        place = _attributes(classname=f"jarvis.{pattern}", name=numbered, file=issue["file"], line=issue["line"])
        yield f"<testcase{place}>{_outcome(issue, title)}</testcase>\n"
    yield "</testsuite>\n"


def _outcome(issue: Mapping[str, Any], title: str) -> str:
    if suppression := issue.get("suppression"):
        return f"<skipped{_attributes(message=suppression.get('justification') or 'suppressed')}/>"
    weakness = f", CWE-{issue['cwe']}" if issue["cwe"] else ""
    steps = [f"{step['file']}:{step['line']}: {step['note']}" for step in issue.get("path", ())]
    lines = (
        f"{issue['file']}:{issue['line']}: {issue['evidence']}",
        f"Severity {issue['severity']}, confidence {issue['confidence']:.2f}{weakness}, {issue['id']}.",
        f"Why: {issue['description']}",
        f"What to do: {issue['suggestion']}",
        *(f"Step {number}: {step}" for number, step in enumerate(steps, 1)),
    )
    said = _attributes(type=issue["severity"], message=title)
    return f"<failure{said}>{chr(10).join(map(_text, lines))}</failure>"


def _open(kind: str, name: str, tests: int, *, failures: int = 0, errors: int = 0, skipped: int = 0) -> str:
    counts = _attributes(name=name, tests=tests, failures=failures, errors=errors, skipped=skipped)
    return f"<{kind}{counts}>\n"


def _attributes(**values: object) -> str:
    return "".join(f' {name}="{_text(str(value))}"' for name, value in values.items())


def _text(text: str) -> str:
    return escape(FORBIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text)))


def _short(file: str) -> str:
    return file if len(file) <= NAME_MAX else f"...{file[-NAME_MAX:]}"


def _written(value: object) -> str:
    return value if isinstance(value, str) else dense(value)
