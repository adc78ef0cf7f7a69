"""The result of a run that converts a C project: its report in every format, and its outcome."""

from collections.abc import Iterator
from typing import Any

from jarvis_workers.c2rust.conversion import Conversion, decode_conversion, failures
from jarvis_workers.c2rust.report.conversion_json import conversion_json
from jarvis_workers.c2rust.report.conversion_text import advice as next_step
from jarvis_workers.c2rust.report.conversion_text import (
    conversion_markdown,
    conversion_text,
    summary,
    unread_units,
)
from jarvis_workers.c2rust.runs.result_files import read_artifact, words_of_run
from jarvis_workers.c2rust.stages.translated_bodies import AGAIN
from jarvis_workers.c2rust.stages.translated_bodies import STEP as TRANSLATE
from jarvis_workers.c2rust.stages.write_conversion import CONVERSION, PAGE
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.run_kinds import Panel, StoredRun, text_panel
from jarvis_workers.runs.run_part import run_part
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import model_usage
from jarvis_workers.store.engine import Store
from jarvis_workers.store.translation_pause import REASON as PAUSE_REASON
from jarvis_workers.store.values import Run

PAUSE_ADVICE = (
    "go back to stage 3 or 1 of jarvis c2rust roadmap: check the signatures of these functions in"
    " .jarvis/c2rust/signatures.jsonl, make the C code clearer, or begin a new run with --notes, --escalate or a larger"
    " model"
)
FORMATS = ("text", "markdown", "json", "html")
# The stages with a job per function, whose label is its name.
BY_FUNCTION = (TRANSLATE, AGAIN)


def advice(run: Run) -> str:
    """Return what the gate of the roadmap's stage 5 advises for a run in which many functions step down, else ""."""
    return PAUSE_ADVICE if run.state == "paused" and (run.reason or "").startswith(PAUSE_REASON) else ""


def read_conversion(store: Store, blobs: Blobs, run: Run) -> Conversion:
    """Return the result of a run. Raises UsageError if it has none."""
    content = read_artifact(store, blobs, run, CONVERSION)
    if content is None:
        raise UsageError(f"run {run.id} is {run.state}: it has no crate{f' ({run.reason})' if run.reason else ''}")
    return decode_conversion(content)


def result_lines(store: Store, blobs: Blobs, run: Run) -> Iterator[str]:
    """Yield the lines of the result for a terminal."""
    pieces = conversion_text(read_conversion(store, blobs, run), _part(store, run), words_of_run(run))
    yield from (line.rstrip("\n") for line in pieces)


def outcome(store: Store, blobs: Blobs, run: Run) -> str:
    """Return the outcome of a run in one line, with the next step for the user."""
    conversion = read_conversion(store, blobs, run)
    first, *others = outcome_parts(conversion)
    parts = [f"run {run.id} is {run.state}: {first}", *others, next_step(conversion)]
    return "; ".join(part for part in parts if part)


def outcome_parts(conversion: Conversion) -> list[str]:
    """Return the summary of a conversion, its failures, and the number of units that were not read."""
    return [summary(conversion), *failures(conversion), *unread_units(conversion)]


def panel(stored: StoredRun) -> Panel | None:
    """Return the text report of an ended run, for its page."""
    return text_panel("conversion", stored)


def graph(stored: StoredRun) -> Iterator[str]:
    """Yield the interactive page of a run."""
    return render(stored, "html")


def render(stored: StoredRun, form: str) -> Iterator[str]:
    """Yield the pieces of a report. Raises UsageError for a format that is not available."""
    _, store, blobs, run = stored
    if form not in FORMATS:
        raise UsageError(f'--format: "{form}" is not a format for conversions; use one of {", ".join(FORMATS)}')
    conversion, part = read_conversion(store, blobs, run), _part(store, run)
    if form == "html":
        yield (read_artifact(store, blobs, run, PAGE) or b"").decode()
    elif form == "json":
        yield conversion_json(conversion, part)
    else:
        form_of = conversion_markdown if form == "markdown" else conversion_text
        yield from form_of(conversion, part, words_of_run(run))


def _part(store: Store, run: Run) -> dict[str, Any]:
    """Return the `run` part of a report, with the cost by stage, model and function if a model was asked."""
    part = run_part(store, run)
    if not part["model"]:
        return part
    with store.read() as session:
        usage = {
            "by_stage": model_usage.by_stage(session, run.id),
            "by_model": model_usage.by_model(session, run.id),
            "by_function": model_usage.by_label(session, run.id, BY_FUNCTION),
        }
    return part | {"model": part["model"] | usage}
