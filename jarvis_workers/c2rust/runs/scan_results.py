"""The results of a run that read a C project: its report in every format, and its files."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from jarvis_workers.c2rust.report import json as json_report
from jarvis_workers.c2rust.report import markdown, text
from jarvis_workers.c2rust.report.body import ScanBody, decode_body
from jarvis_workers.c2rust.runs.project_files import RAW_SYMBOLS, SYMBOLS, directory_of, keep_edited, write_file
from jarvis_workers.c2rust.runs.result_files import read_artifact, words_of_run, write_new
from jarvis_workers.c2rust.runs.scan_report import REPORT_FILE
from jarvis_workers.c2rust.stages.link_symbols import DOT, ORDER
from jarvis_workers.c2rust.stages.write_report import PAGE, REPORT, graph_body, load
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.run_kinds import Panel, StoredRun, text_panel
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

Say = Callable[[str], None]
FORMATS = ("text", "markdown", "json", "html")
_RENDERERS = {"text": text.render_text, "markdown": markdown.render_markdown}
# The files of a run, by the artifacts that they are written from.
FILES: Mapping[str, str] = {
    RAW_SYMBOLS: RAW_SYMBOLS,
    SYMBOLS: RAW_SYMBOLS,
    ORDER: ORDER,
    REPORT_FILE: REPORT,
    DOT: DOT,
    "graph.html": PAGE,
}


def read_body(store: Store, blobs: Blobs, run: Run) -> ScanBody:
    """Return the body of the report: as written by the run or, before that, built from the results so far."""
    content = read_artifact(store, blobs, run, REPORT) if run.ended else None
    if content is not None:
        return decode_body(content)
    with store.read() as session:
        work = load(session, run)
    return graph_body(work, blobs)


def check_form(form: str) -> None:
    """Raise UsageError for a format that symbol reports do not support."""
    if form not in FORMATS:
        raise UsageError(f'--format: "{form}" is not a format for symbols; use one of {", ".join(FORMATS)}')


def panel(stored: StoredRun) -> Panel | None:
    """Return the text report of an ended run, for its page."""
    return text_panel("symbols", stored)


def graph(stored: StoredRun) -> Iterator[str]:
    """Yield the interactive page of a run."""
    return render(stored, "html")


def render(stored: StoredRun, form: str) -> Iterator[str]:
    """Yield the pieces of a report. Raises UsageError for a format that is not available."""
    _, store, blobs, run = stored
    check_form(form)
    if form == "json":
        yield from json_report.render_json(read_body(store, blobs, run), run_part(store, run))
        return
    if form != "html":
        yield from _RENDERERS[form](read_body(store, blobs, run), run_part(store, run), words_of_run(run))
        return
    page = read_artifact(store, blobs, run, PAGE)
    if page is None:
        raise UsageError(f"run {run.id} is {run.state}: its page is written when the run ends")
    yield page.decode()


def export_symbols(
    store: Store, blobs: Blobs, run: Run, directory: Path | None = None, *, say: Say | None = None
) -> list[Path]:
    """Write the files of a run to a directory, by default to that of its project; return their paths.

    Nothing is written without results, or by default if the root is not a directory on this machine. `say` is called
    with a line before .gitignore is extended and when an edited symbols.jsonl is renamed.  Raises UsageError.
    """
    root = Path(os.fsdecode(run.root_raw))
    if directory is None and not root.is_dir():
        return []
    keep_edited(directory or directory_of(root), say)
    written = []
    for name, artifact in FILES.items():
        content = read_artifact(store, blobs, run, artifact)
        if content is None:
            continue
        lines = [content.decode()]
        written.append(write_new(directory / name, lines) if directory else write_file(root, name, lines, say))
    return written
