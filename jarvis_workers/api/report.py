"""The report of a scan as a Python object, which can be rendered in every format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from jarvis_workers.api.choices import Severity, StrPath, check_choice
from jarvis_workers.api.document import ReportDocument
from jarvis_workers.api.findings import Finding, Region, finding_of
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sec.report import FORMATS, QUOTING, WORDED
from jarvis_workers.sec.report.fired_rules import finding_title
from jarvis_workers.sec.report_document import Excerpt, Issue, Summary
from jarvis_workers.sec.report_json import body_from_json
from jarvis_workers.sec.translations import report_in

# Render a report in memory, without the store or the snapshot.


def render(document: ReportDocument, form: str) -> str:
    """Return the report in one of the `FORMATS`. Raises UsageError for an unknown format."""
    if form not in FORMATS:
        raise UsageError(f'format: "{plain(form)}" is not one of {", ".join(FORMATS)}')
    body = document.body
    if form in QUOTING:
        excerpts = {name: _excerpt(row) for name, row in document.excerpts.items()}
        body = body._replace(excerpts=excerpts)
    if form in WORDED:
        body = report_in(document.language, body)
    run = document.run if document.language == "en" else {**document.run, "lang": document.language}
    return "".join(FORMATS[form](body, run))


def _excerpt(row: Sequence[Any]) -> Excerpt:
    first, lines, marks, file, more = row
    return Excerpt(first, tuple(lines), tuple((line, what) for line, what in marks), file, tuple(map(_excerpt, more)))


ReportFormat = Literal["text", "json", "markdown", "sarif", "html", "junit"]
RunState = Literal["done", "incomplete", "failed", "cancelled", "paused", "planning", "running", "cancelling"]


@dataclass(frozen=True, slots=True)
class UncheckedFile:
    """A file or directory that was not checked, or not completely, and the reason."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """Counts over all findings of a report, including those that it does not list.

    `known` and `gone` compare with a baseline (None without one): findings in both, and findings that only the baseline
    has. `not_listed` is the number of findings beyond the 25,000 with the highest scores.
    """

    total: int
    by_severity: Mapping[str, int]
    by_category: Mapping[str, int]
    by_language: Mapping[str, int]
    score_sum: float
    top_risk_files: tuple[str, ...]
    scanned_files: int
    suppressed: int
    below_min_confidence: int
    not_listed: int
    known: int | None
    gone: int | None
    left_out: Mapping[str, int]
    excluded: tuple[UncheckedFile, ...]


@dataclass(frozen=True, slots=True)
class StageFacts:
    """Time and cost of a stage of a run."""

    name: str
    files: int
    cached: int
    bytes: int
    cpu_seconds: float
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The run behind a report: the part that differs between two scans of the same input."""

    id: str
    state: RunState
    reason: str | None
    root: str
    version: str
    started_at: str | None
    ended_at: str | None
    seconds: float | None
    stages: tuple[StageFacts, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """The result of a scan: at most 25,000 findings, ordered by file, line and rule.

    `not_checked` lists what could not be checked: if there is any, the report is not `complete`, and a file without
    findings may still be unsafe. `suppressed` are findings set aside by a comment or a triage verdict.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    not_checked: tuple[UncheckedFile, ...]
    summary: ReportSummary
    run: RunFacts
    document: ReportDocument = field(repr=False)

    def __str__(self) -> str:
        severe = ", ".join(f"{number:,} {severity}" for severity, number in self.summary.by_severity.items())
        number = self.summary.total
        found = _counted(number, "finding") if number or self.complete else "INCOMPLETE: nothing found so far"
        counts = f"{found} in {_counted(self.summary.scanned_files, 'file')}"
        missing = len({gap.file for gap in self.not_checked})
        gaps = f"; NOT CHECKED: {_counted(missing, 'file')}" if missing else ""
        return counts + (f": {severe}" if severe else "") + gaps

    def __repr__(self) -> str:
        return f"<Report {self.run.id} {self.run.state}: {self}>"

    @property
    def complete(self) -> bool:
        """Whether all files to scan were checked."""
        return self.run.state == "done" and not self.not_checked

    def at_least(self, severity: Severity) -> tuple[Finding, ...]:
        """Return the findings of this severity or above. Raises UsageError for an unknown severity."""
        from jarvis_workers.sec.severity import is_at_least  # noqa: PLC0415  (see the docstring of the package)

        check_choice("severity", [severity], get_args(Severity))
        return tuple(finding for finding in self.findings if is_at_least(finding.severity, severity))

    def render(self, format: ReportFormat) -> str:
        """Return the report in a format, identical to the output of the command line."""

        return render(self.document, format)

    def to_text(self) -> str:
        """Return a line per finding with its code, and a summary."""
        return self.render("text")

    def to_json(self) -> str:
        """Return {"run": ..., "summary": ..., "issues": [...]} as JSON."""
        return self.render("json")

    def to_sarif(self) -> str:
        """Return a SARIF 2.1.0 log."""
        return self.render("sarif")

    def to_html(self) -> str:
        """Return a self-contained HTML page."""
        return self.render("html")

    def to_markdown(self) -> str:
        """Return a Markdown document."""
        return self.render("markdown")

    def to_junit(self) -> str:
        """Return JUnit XML."""
        return self.render("junit")

    def save(self, path: StrPath, format: ReportFormat | None = None) -> Path:
        """Write the report atomically, by default in the format for the suffix; return the path.

        Raises UsageError for an unknown suffix, and if the file cannot be written.
        """
        from jarvis_workers.report_formats import format_of  # noqa: PLC0415
        from jarvis_workers.runs.atomic_write import write_whole  # noqa: PLC0415

        target = Path(path)
        form = format or format_of(target, "markdown")
        if form is None:
            raise UsageError(f"{plain(str(target))}: unknown suffix; use .txt, .json, .sarif, .html, .md or .xml")
        try:
            return write_whole(target, [self.render(form)])  # type: ignore[arg-type]
        except OSError as error:
            raise UsageError(f"{plain(str(target))}: cannot be written: {error.strerror}") from error


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def report_from(answer: Mapping[str, Any]) -> Report:
    """Return the report built from a result of `answers.answer_of`."""
    body, titles = body_from_json(answer["body"]), answer["titles"]
    summary = body.summary
    regions = {int(gid): Region(*row) for gid, row in answer["regions"].items()}
    document = ReportDocument(
        run=answer["run"],
        body=body,
        language=answer["language"],
        excerpts=answer["excerpts"],
        files=frozenset(answer["files"]),
        min_confidence=answer["min_confidence"],
    )

    def findings(issues: Sequence[Issue]) -> tuple[Finding, ...]:
        return tuple(finding_of(issue, finding_title(issue, titles), regions.get(issue.gid)) for issue in issues)

    return Report(
        findings=findings(body.issues),
        suppressed=findings(body.suppressed),
        not_checked=tuple(UncheckedFile(gap.file, gap.reason) for gap in summary.not_checked),
        summary=_summary(summary),
        run=_run(document.run),
        document=document,
    )


def _summary(summary: Summary) -> ReportSummary:
    baseline = summary.baseline
    return ReportSummary(
        total=summary.total,
        by_severity=summary.by_severity,
        by_category=summary.by_category,
        by_language=summary.by_language,
        score_sum=summary.score_sum,
        top_risk_files=tuple(summary.top_risk_files),
        scanned_files=summary.scanned_files,
        suppressed=summary.suppressed + summary.judged_false + summary.judged_wontfix,
        below_min_confidence=summary.below_min_confidence,
        not_listed=summary.not_listed,
        known=baseline.known if baseline else None,
        gone=baseline.gone if baseline else None,
        left_out=summary.left_out,
        excluded=tuple(UncheckedFile(tree.path, tree.reason) for tree in summary.excluded),
    )


def _run(fields: Mapping[str, Any]) -> RunFacts:
    stages = [
        StageFacts(name, one["files"], one["cached"], one["bytes"], one["cpu_seconds"], one["seconds"])
        for name, one in fields["stages"].items()
    ]
    return RunFacts(
        id=fields["id"],
        state=fields["state"],
        reason=fields["reason"],
        root=fields["scanned_root"],
        version=fields["version"],
        started_at=fields["started_at"],
        ended_at=fields["ended_at"],
        seconds=fields["seconds"],
        stages=tuple(stages),
    )
