"""Execute `jarvis c2rust fast`, `skeleton`, `prepare` and `transpile`."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from jarvis_cli.c2rust_estimate import place_of, print_estimate
from jarvis_cli.c2rust_fast_options import FastConversion, ModelConversion, PrepareConversion, SkeletonConversion
from jarvis_cli.conversion_output import deliver_crate, deliver_partial_crate
from jarvis_cli.language import language_of
from jarvis_cli.project_run import ProjectCommand, execute_project, project_settings, run_command
from jarvis_cli.status_output import Display
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import read_regular
from jarvis_workers.service.c2rust.crate_branch import check_crate_branch
from jarvis_workers.service.c2rust.crate_directory import check_target
from jarvis_workers.service.c2rust.fast_run import (
    SIGNATURES_WITHOUT_MODEL,
    WITHOUT_MODEL,
    FastChoice,
    LibraryPart,
    ModelChoice,
    crate_name,
    fast_request,
    require_model,
    require_tools,
)
from jarvis_workers.service.c2rust.partial_crate import has_partial_crate
from jarvis_workers.service.c2rust.project_files import read_lines
from jarvis_workers.service.c2rust.recorded_build import command_words
from jarvis_workers.service.c2rust.risk_report import read_risky_files
from jarvis_workers.service.c2rust.symbol_scan import CompilePlan, ParseInput, ParseOptions
from jarvis_workers.service.c2rust.vendored_sources import allowed_crates, fetch_allowed
from jarvis_workers.service.handles import Blobs, Store
from jarvis_workers.service.labels import parse_labels
from jarvis_workers.service.named_runs import RunName, check_name, request_hash
from jarvis_workers.service.run_kinds import StoredRun
from jarvis_workers.service.sources import SourceTree, is_address
from jarvis_workers.service.submit import RunRequest
from jarvis_workers.settings import Settings
from jarvis_workers.store.values import Run

NOTES_MAX = 20_000
WITH_MODEL = PrepareConversion, ModelConversion


def convert_project(
    conversion: SkeletonConversion,
    libraries: LibraryPart | None = None,
    unfinished: Callable[[FastChoice, Settings, Store], Run | None] | None = None,
    summary: Callable[[Store, Blobs, Run], None] | None = None,
) -> int:
    """Convert a project, and write its crate; return the exit code.

    With `libraries`, the run has all stages. `unfinished` returns an earlier run of this command to continue, `summary`
    prints lines about the stages before the result.
    """
    choice, settings = _choice(conversion, libraries), _settings(conversion)
    dry_run = isinstance(conversion, WITH_MODEL) and conversion.dry_run
    _check_usage(settings, conversion, choice)
    if not (conversion.detach or dry_run):
        _check_place(conversion)
    project = ProjectCommand(
        conversion.path,
        conversion.compile_commands,
        conversion.configure,
        conversion.build,
        request=partial(_request, conversion, choice),
        deliver=partial(_deliver, conversion, summary),
        name=partial(_run_name, conversion, choice),
        unfinished=partial(unfinished, choice, settings) if unfinished else None,
        fetch=partial(_fetch, settings, libraries) if _is_fetching(conversion) else None,
        detach=conversion.detach,
        quiet=conversion.quiet,
    )
    if isinstance(conversion, WITH_MODEL) and conversion.dry_run:
        return print_estimate(settings, run_command(settings, project), as_json=conversion.as_json)
    return execute_project(settings, project)


def _check_usage(settings: Settings, conversion: SkeletonConversion, choice: FastChoice) -> None:
    """Raise UsageError if a model, a command or a tool is missing."""
    if choice.model:
        require_model(settings, choice.model.group, SIGNATURES_WITHOUT_MODEL if choice.forward else WITHOUT_MODEL)
        if choice.model.escalate:
            require_model(settings, choice.model.escalate)
    if conversion.test and not conversion.build:
        raise UsageError("--test requires --build, the command that builds the programs under test")
    for command in conversion.test or ():
        command_words("--test", command)
    require_tools(settings)


def _is_fetching(conversion: SkeletonConversion) -> bool:
    return isinstance(conversion, ModelConversion) and conversion.fetch_crates


def _settings(conversion: SkeletonConversion) -> Settings:
    if not isinstance(conversion, WITH_MODEL):
        flags = {"where": conversion.where, "processes": conversion.processes}
        return project_settings(flags, detach=conversion.detach)
    where = place_of(
        conversion.where,
        dry_run=conversion.dry_run,
        as_json=conversion.as_json,
        detach=conversion.detach,
        name=conversion.name,
        branch=_branch(conversion),
        fetch_crates=_is_fetching(conversion),
    )
    flags = {"where": where, "processes": conversion.processes, "agent.budget": conversion.budget}
    return project_settings(flags, detach=conversion.detach)


def _check_place(conversion: SkeletonConversion) -> None:
    if branch := _branch(conversion):
        check_crate_branch(crate_directory(conversion), branch)
    else:
        check_target(crate_directory(conversion))


def _branch(conversion: SkeletonConversion) -> str | None:
    return conversion.branch if isinstance(conversion, FastConversion) else None


def crate_directory(conversion: SkeletonConversion) -> Path:
    """Return the directory of the crate: next to the project, or in the current directory for a git URL."""
    if conversion.crate_dir is not None:
        return conversion.crate_dir
    root = Path.cwd() if is_address(conversion.path) else Path(conversion.path).resolve()
    is_whole = isinstance(conversion, (FastConversion, PrepareConversion))
    return root.with_name(f"{root.name}_{'rs' if is_whole else 'skeleton'}")


def _choice(conversion: SkeletonConversion, libraries: LibraryPart | None) -> FastChoice:
    return FastChoice(
        configure=conversion.configure,
        build=conversion.build,
        tests=tuple(conversion.test or ()),
        proof=conversion.proof.value if isinstance(conversion, FastConversion) else "built",
        forward=conversion.forward,
        only=tuple(name for given in conversion.only or () for name in _names(given)),
        crate=crate_name(crate_directory(conversion)),
        cache=conversion.cache,
        model=_model(conversion),
        libraries=libraries,
        lang=language_of(conversion.lang),
    )


def _model(conversion: SkeletonConversion) -> ModelChoice | None:
    if isinstance(conversion, PrepareConversion):
        return ModelChoice(conversion.group)
    return model_choice(conversion) if isinstance(conversion, ModelConversion) else None


def model_choice(conversion: ModelConversion) -> ModelChoice:
    """Return the model that translates. Raises UsageError if the notes cannot be read."""
    return ModelChoice(
        conversion.group,
        conversion.max_retries,
        _notes(conversion.notes),
        conversion.review,
        conversion.escalate,
        _risky(conversion),
        conversion.drivers,
    )


def _risky(conversion: ModelConversion) -> dict[str, list[int]]:
    if conversion.sec_before is None:
        return {}
    if is_address(conversion.path):
        raise UsageError("--sec-before needs a project on this machine, whose files the report names")
    return read_risky_files(conversion.sec_before, Path(conversion.path))


def _notes(path: Path | None) -> str:
    """Return the text of a file of notes, at most NOTES_MAX characters. Raises UsageError."""
    try:
        text = read_regular(path, 4 * NOTES_MAX).decode("utf-8-sig").strip() if path else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    if len(text) > NOTES_MAX:
        raise UsageError(f"--notes: {path} is longer than {NOTES_MAX:,} characters; each question contains it")
    return text


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


def _request(
    conversion: SkeletonConversion,
    choice: FastChoice,
    settings: Settings,
    source: SourceTree,
    plan: CompilePlan,
    executor: str,
) -> RunRequest[ParseInput]:
    labels = parse_labels(conversion.label or ())
    request = fast_request(settings, source, plan, executor, choice, labels)
    return replace(request, name=_run_name(conversion, choice, settings))


def _fetch(settings: Settings, libraries: LibraryPart | None, source: SourceTree) -> str:
    return fetch_allowed(settings, source.path, allowed_crates(settings, libraries.disabled if libraries else ()))


def _deliver(
    conversion: SkeletonConversion,
    summary: Callable[[Store, Blobs, Run], None] | None,
    stored: StoredRun,
    screen: Display,
) -> int:
    place, branch = crate_directory(conversion), _branch(conversion)
    if summary and not conversion.quiet:
        summary(stored.store, stored.blobs, stored.run)
    if has_partial_crate(stored.run) and not branch:
        return deliver_partial_crate(stored, place, quiet=conversion.quiet)
    return deliver_crate(stored, place, screen, branch=branch, quiet=conversion.quiet)


def _run_name(conversion: SkeletonConversion, choice: FastChoice, settings: Settings) -> RunName | None:
    """Return the name of the run with the hash of the request, None if the run has no name."""
    if conversion.name is None:
        return None
    root = conversion.path if is_address(conversion.path) else os.path.realpath(conversion.path)
    facts = {"where": settings.place, "kind": choice.kind, "source": root, "choice": choice.identity}
    return RunName(check_name(conversion.name), request_hash(ParseOptions(), **facts))
