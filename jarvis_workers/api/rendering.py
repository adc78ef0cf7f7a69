"""Render a report in memory, without the store or the snapshot."""

from collections.abc import Sequence
from typing import Any

from jarvis_workers.api.document import ReportDocument
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sec.report import FORMATS, QUOTING, WORDED
from jarvis_workers.sec.report_document import Excerpt
from jarvis_workers.sec.translations import report_in


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
