"""Target and format of a report, checked before any work is done; and writing it. Avoids slow imports."""

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_cli.kit.options import not_one_of
from jarvis_cli.kit.standard_streams import is_output_closed
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.report_formats import FORMAT_NAMES, SUFFIXES, format_of
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.runs.report_objects import ReportObject, is_object_url

STDOUT = "-"
WRITE_BYTES = 1 << 16


@dataclass(frozen=True)
class Delivery:
    """Target of a report (None: standard output), its format, and the condition for failing.

    In formats for CI services, paths are relative to `relative_to`, by default the top of the git repository. With
    `quiet`, stdout gets only the findings, and stderr one line if the exit code is not 0; text that is not `verbose`
    counts findings of low severity. For a run that is not stored,
    no follow-up commands are suggested. A command that names neither target nor format `is_default`. `target` is
    the text of -o for a command in another directory, None for the default.
    """

    output: Path | ReportObject | None
    form: str
    fail_on: str | None = None
    quiet: bool = False
    verbose: bool = False
    is_stored: bool = True
    relative_to: Path | None = None
    is_default: bool = False
    target: str | None = None

    @property
    def run_options(self) -> dict[str, Any]:
        """The options of a run, with which another command delivers its result in the same way."""
        base = self.relative_to and str(self.relative_to.absolute())
        return {"output": self.target, "output_format": self.form, "fail_on": self.fail_on, "relative_to": base}

    @property
    def is_brief(self) -> bool:
        """Whether standard output already ends with a summary."""
        return self.output is None and self.form == "text"


def delivery(
    output: str | None,
    form: str | None,
    fail_on: str | None,
    default_output: Path | None,
    *,
    quiet: bool = False,
    verbose: bool = False,
    relative_to: str | None = None,
    levels: Collection[str] = (),
) -> Delivery:
    """Check the options before any work is done; the default format is text, or Markdown for `jarvis-sec`.

    `levels` are the values of --fail-on.
    """
    usual = "markdown" if default_output else "text"
    check_choices(form, FORMAT_NAMES, fail_on, levels)
    path = output_target(output, default_output)
    return Delivery(
        path,
        form or form_for(path, usual),
        fail_on,
        quiet,
        verbose,
        relative_to=_base_directory(relative_to),
        is_default=output is None and form is None,
        target=str(path.absolute()) if isinstance(path, Path) else output,
    )


def check_choices(form: str | None, forms: Collection[str], fail_on: str | None, levels: Collection[str]) -> None:
    """Check the values of --format and --fail-on. Raises UsageError."""
    if form is not None and form not in forms:
        raise UsageError(not_one_of("--format", form, forms))
    if fail_on is not None and fail_on not in levels:
        raise UsageError(not_one_of("--fail-on", fail_on, levels))


def output_target(output: str | None, default: Path | None = None) -> Path | ReportObject | None:
    """Return the file or object of -o, or None for standard output. Raises UsageError if it cannot be written."""
    return ReportObject(output) if output and is_object_url(output) else output_file(output, default)


def output_file(output: str | None, default: Path | None = None) -> Path | None:
    """Return the file of -o, or None for standard output. Raises UsageError if it cannot be written."""
    path = default if output is None else None if output == STDOUT else Path(output)
    if path is None:
        if is_output_closed():
            raise UsageError("standard output is closed; name a file for the report with -o")
        return None
    if problem := _refused(path):
        raise UsageError(f"-o {plain(str(path))}: {problem}; name a file, or - for stdout")
    return path


def form_for(path: Path | ReportObject | None, usual: str, suffixes: Mapping[str, str] = SUFFIXES) -> str:
    """Return the format for the suffix of a file; `usual` without a suffix. Raises UsageError for an unknown one."""
    if path is None:
        return usual
    place = path if isinstance(path, Path) else path.path
    if (form := format_of(place, usual, suffixes)) or not (isinstance(path, ReportObject) or _is_file(path)):
        return form or usual
    names = " ".join(suffixes)
    raise UsageError(f"-o {plain(str(path))}: unknown suffix; use one of {names}, or give --format")


def _is_file(path: Path) -> bool:
    """Return whether the path is a file or does not exist, unlike a device or pipe such as /dev/fd/3."""
    return not path.exists() or path.is_file()


def _refused(path: Path) -> str | None:
    """Return why no report can be written to the path, or None if no problem is known yet."""
    target = Path(os.path.realpath(path))
    try:
        if target.is_dir():
            return "is a directory"
        if not target.parent.is_dir():
            return "its directory does not exist"
        allowed = os.access(target if target.exists() else target.parent, os.W_OK)
    except OSError as error:
        return f"cannot be written: {error.strerror}"
    return None if allowed else "no permission to write to it"


def _base_directory(named: str | None) -> Path | None:
    """Return the directory of --relative-to, or None without it. Raises UsageError."""
    if named is None:
        return None
    if not Path(named).is_dir():
        raise UsageError(f"--relative-to {plain(named)}: no such directory")
    return Path(named)


def write_report(pieces: Iterable[str], output: Path | ReportObject | None) -> None:
    """Write to a file or object atomically, to a pipe or device, or to standard output."""
    try:
        if output is None:
            sys.stdout.flush()
            _write_to(1, pieces)
        elif isinstance(output, Path) and not _takes_files(output):
            with output.open("wb", buffering=0) as stream:
                _write_to(stream.fileno(), pieces)
        elif isinstance(output, Path):
            write_whole(Path(os.path.realpath(output)), pieces)
        else:
            output.write(pieces)
    except BrokenPipeError:
        raise
    except OSError as error:
        place = "the report" if output is None else f"-o {output}:"
        raise UsageError(f"{place} cannot be written: {error.strerror}") from error


def _takes_files(output: Path) -> bool:
    """Return whether a file can be replaced by renaming: not a device, and not in a read-only directory."""
    target = Path(os.path.realpath(output))
    return (target.is_file() and os.access(target.parent, os.W_OK)) or not target.exists()


def _write_to(descriptor: int, pieces: Iterable[str]) -> None:
    """Write without buffering; an interrupted buffered stream would be flushed into a pipe without a reader."""
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
