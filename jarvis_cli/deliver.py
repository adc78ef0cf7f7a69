"""End a command with what the user asked for: the report where it belongs, and the exit code."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import typer

from jarvis_cli import exits
from jarvis_cli.progress import Display
from jarvis_cli.times import describe_times
from jarvis_workers.errors import StoreUnavailable, UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sec.finding import SEVERITIES, is_at_least
from jarvis_workers.sec.report import FORMATS, SUFFIXES, format_of
from jarvis_workers.sec.report.aside import ignored_by_git
from jarvis_workers.sec.report.words import ENGLISH
from jarvis_workers.service import reports
from jarvis_workers.service.budgets import more_for
from jarvis_workers.service.export import export, export_directory, write_whole
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

T = TypeVar("T")
STDOUT = "-"
WRITE_BYTES = 1 << 16
STATUS_WORDS = {"review": "to review"}


@dataclass(frozen=True)
class Delivery:
    """Where a report goes (None: standard output), in which format, and what makes the command fail."""

    output: Path | None
    form: str
    fail_on: str | None = None


def delivery(output: str | None, form: str | None, fail_on: str | None, default_output: Path | None) -> Delivery:
    """Check what the user asked for, before any work is done."""
    path = default_output if output is None else None if output == STDOUT else Path(output)
    if form is not None and form not in FORMATS:
        raise UsageError(f'--format: "{form}" is not one of {", ".join(FORMATS)}')
    if fail_on is not None and fail_on not in SEVERITIES:
        raise UsageError(f'--fail-on: "{fail_on}" is not one of {", ".join(SEVERITIES)}')
    if path is None:
        if not sys.stdout:
            raise UsageError("standard output is closed; name a file for the report with -o")
        return Delivery(None, form or "markdown", fail_on)
    if problem := _refused(path):
        raise UsageError(f"-o {path}: {problem}; name a file, or - for stdout")
    form = form or format_of(path, "markdown") or (None if _is_file(path) else "markdown")
    if form is None:
        known = " ".join(SUFFIXES)
        raise UsageError(f"-o {plain(str(path))}: no format has this suffix; use one of {known}, or give --format")
    return Delivery(path, form, fail_on)


def _is_file(path: Path) -> bool:
    """Tell a file, or where one will be, from a device or pipe such as /dev/fd/3, whose name says nothing."""
    return not path.exists() or path.is_file()


def _refused(path: Path) -> str | None:
    """Say why no report can be written there, as far as that is known before the work is done."""
    target = Path(os.path.realpath(path))
    try:
        if target.is_dir():
            return "is a directory"
        if not target.parent.is_dir():
            return "its directory is not there"
        allowed = os.access(target if target.exists() else target.parent, os.W_OK)
    except OSError as error:
        return f"cannot be written: {error.strerror}"
    return None if allowed else "no permission to write it"


def deliver(store: Store, blobs: Blobs, run: Run, asked: Delivery, screen: Display) -> int:
    """Write the report of a scan and the run's files; return the exit code."""
    body = retry_store(lambda: reports.read_body(store, blobs, run), screen)
    pieces = retry_store(lambda: reports.compose(store, blobs, run, body, asked.form), screen)
    try:
        write_report(pieces, asked.output)
    except UsageError:
        screen.tell(f"run {run.id} is {run.state}; its report again with: jarvis runs report {run.id}")
        raise
    directory = export_directory(run)
    if directory:
        try:
            retry_store(lambda: export(store, blobs, run, directory, body=body), screen)
        except UsageError as problem:
            screen.tell(str(problem))
    if reports.has_profile(run):
        for line in describe_times(reports.read_profile(store, blobs, run)):
            typer.echo(line, err=True)
    screen.conclude(summary(run, body, asked.output), well=is_well(run, body))
    return exit_code(run, body, asked.fail_on)


def retry_store(do: Callable[[], T], screen: Display) -> T:
    """Do it; while the store is away say so and wait: a run that has ended is not lost for want of its report."""
    try:
        return do()
    except StoreUnavailable as problem:
        from jarvis_workers.steps.patience import patiently  # noqa: PLC0415  (slow to import, and seldom needed)

        screen.tell(f"{problem}; waiting for it")
        return patiently(do)


def write_report(pieces: Iterable[str], output: Path | None) -> None:
    """Write to a file, whole or not at all, to a pipe or device, or to standard output."""
    try:
        if output is None:
            sys.stdout.flush()
            _write_to(1, pieces)
        elif _takes_files(target := Path(os.path.realpath(output))):
            write_whole(target, pieces)
        else:
            with output.open("wb", buffering=0) as stream:
                _write_to(stream.fileno(), pieces)
    except BrokenPipeError:
        raise
    except OSError as error:
        place = "the report" if output is None else f"-o {output}:"
        raise UsageError(f"{place} cannot be written: {error.strerror}") from error


def _takes_files(target: Path) -> bool:
    """Renaming over /dev/null, or over a file whose directory is not ours, is no way to write it."""
    return (target.is_file() and os.access(target.parent, os.W_OK)) or not target.exists()


def _write_to(descriptor: int, pieces: Iterable[str]) -> None:
    """Write without a stream, which an interruption would still empty into a pipe that nobody reads."""
    for chunk in _chunks(pieces):
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(descriptor, rest) :]


def _chunks(pieces: Iterable[str]) -> Iterator[bytes]:
    chunk = bytearray()
    for piece in pieces:
        chunk += piece.encode("utf-8", "backslashreplace")
        if len(chunk) >= WRITE_BYTES:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk)


def exit_code(run: Run, body: dict[str, Any], fail_on: str | None) -> int:
    """Return the exit code of a run that is over, or paused."""
    if run.state in {"cancelled", "failed"}:
        return exits.FAILED
    counted = body["summary"].get("at_risk", body["summary"]["by_severity"])
    findings = fail_on is not None and any(is_at_least(severity, fail_on) for severity in counted)
    return exits.of_run(findings=findings, incomplete=not is_well(run, body))


def is_well(run: Run, body: Mapping[str, Any]) -> bool:
    """Whether all was done, and can be trusted: not where a known bug was missed."""
    return run.state == "done" and not _missed(body["summary"])


def summary(run: Run, body: dict[str, Any], output: Path | None) -> str:
    """Say in a line how it ended."""
    found = body["summary"]
    missing = len(found["not_checked"])
    why = f" ({run.reason})" if run.state in {"paused", "failed"} else ""
    baseline = found.get("baseline")
    findings = (
        _by_verdict(found)
        if "by_status" in found
        else counted(found["total"], "new finding" if baseline else "finding")
    )
    said = f"run {run.id} {run.state}{why}: {findings} in {counted(found['scanned_files'], 'file')}"
    said += f"; known: {baseline['known']:,}" if baseline else ""
    said += f"; suppressed: {found['suppressed']:,}" if found.get("suppressed") else ""
    said += f"; judged false: {found['judged_false']:,}" if found.get("judged_false") else ""
    said += f"; won't fix: {found['judged_wontfix']:,}" if found.get("judged_wontfix") else ""
    said += f"; left out by .gitignore: {ignored}" if (ignored := ignored_by_git(found, ENGLISH)) else ""
    if canary := _missed(found):
        said += f"; THE KNOWN BUG WAS MISSED ({canary['status']}): do not trust these verdicts"
    if missing:
        said += f"; NOT CHECKED: {missing:,} (named in the report)"
    if run.state == "paused":
        said += f"; go on with: jarvis runs resume {run.id}{more_for(run)}"
    return said + (f"; report: {output}" if output else "")


def _missed(found: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what became of a known bug that was not confirmed."""
    canary: Mapping[str, Any] | None = found.get("canary")
    return canary if canary and canary["status"] != "confirmed" else None


def _by_verdict(found: Mapping[str, Any]) -> str:
    """Say what agents have made of the candidates."""
    numbers = {"confirmed": 0, "review": 0, **found["by_status"], "dismissed": found["dismissed"]}
    if undecided := numbers.pop("undecided", 0):
        numbers["UNDECIDED"] = undecided
    said = ", ".join(f"{number:,} {STATUS_WORDS.get(status, status)}" for status, number in numbers.items())
    return f"of {counted(found['total'] + found['dismissed'], 'candidate')} {said},"


def counted(number: int, noun: str) -> str:
    """Say how many there are."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
