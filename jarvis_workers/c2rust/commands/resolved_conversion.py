"""What the options of a conversion name on this machine: files of functions, reports of risk, the crate, a language."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_cli.kit.language import language_of
from jarvis_workers.c2rust.commands.fast_options import SkeletonConversion
from jarvis_workers.c2rust.runs.conversion_request import ConversionRequest
from jarvis_workers.c2rust.runs.crate_directory import crate_name
from jarvis_workers.c2rust.runs.project_files import read_lines
from jarvis_workers.c2rust.runs.risk_report import read_risky_files
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.sources import is_address


def resolved(command: SkeletonConversion, request: ConversionRequest) -> ConversionRequest:
    """Return the request with what the command line names: functions, risky files, the crate, the language.

    Raises UsageError for a file that cannot be read.
    """
    more: dict[str, Any] = {"risky": _risky(command)} if command.sec_before else {}
    options = replace(
        request.options,
        only=[name for given in command.options.only for name in _names(given)],
        crate=crate_name(command.place),
        cache=command.cache,
        lang=language_of(command.lang),
        **more,
    )
    return replace(request, options=options)


def _risky(command: SkeletonConversion) -> dict[str, list[int]]:
    if is_address(command.path):
        raise UsageError("--sec-before needs a project on this machine, whose files the report names")
    return read_risky_files(command.sec_before, Path(command.path)) if command.sec_before else {}


def _names(given: str) -> list[str]:
    """Return the names of functions in a value of --only: one name, or those in a file. Raises UsageError."""
    if not given.startswith("@"):
        return [given]
    try:
        lines = read_lines(Path(given[1:]))
    except UsageError as error:
        raise UsageError(f"--only: {error}") from error
    names = [name for line in lines if (name := line.partition("#")[0].strip())]
    if not names:
        raise UsageError(f"--only: {given[1:]} names no function")
    return names
