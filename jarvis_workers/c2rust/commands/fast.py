"""Execute `jarvis c2rust fast`, `skeleton`, `prepare` and `transpile`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from jarvis_cli.kit.project_run import RunCommand, execute_run, project_settings
from jarvis_cli.kit.status_output import Display
from jarvis_workers.builds.compile_sources import CompileOptions
from jarvis_workers.c2rust.commands.compile_plan import with_compile_plan
from jarvis_workers.c2rust.commands.conversion_output import deliver_crate, deliver_partial_crate
from jarvis_workers.c2rust.commands.estimate import flags_of, print_estimate
from jarvis_workers.c2rust.commands.fast_options import SkeletonConversion
from jarvis_workers.c2rust.commands.resolved_conversion import resolved
from jarvis_workers.c2rust.runs.conversion_request import ConversionRequest, check_conversion
from jarvis_workers.c2rust.runs.crate_branch import check_crate_branch
from jarvis_workers.c2rust.runs.crate_directory import check_target
from jarvis_workers.c2rust.runs.fast_run import fast_request
from jarvis_workers.c2rust.runs.partial_crate import has_partial_crate
from jarvis_workers.c2rust.runs.vendored_sources import allowed_crates, fetch_allowed
from jarvis_workers.c2rust.stages.options import MoveOptions, ParseOptions
from jarvis_workers.runs.labels import parse_labels
from jarvis_workers.runs.named_runs import name_over_source
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


def convert_project(
    command: SkeletonConversion,
    request: ConversionRequest | None = None,
    unfinished: Callable[[ConversionRequest, Settings, Store], Run | None] | None = None,
    summary: Callable[[StoredRun], None] | None = None,
) -> int:
    """Convert a project, and write its crate; return the exit code.

    A `request` has more than the options on the command line. `unfinished` returns an earlier run of this command to
    continue, `summary` prints lines about the stages before the result.
    """
    request = resolved(command, request or ConversionRequest(options=command.options))
    options, place = request.options, command.place
    settings = project_settings(flags_of(command), detach=command.detach)
    check_conversion(settings, request)
    if not (command.detach or command.dry_run):
        check_crate_branch(place, command.branch) if command.branch else check_target(place)
    disabled = options.disabled if isinstance(options, MoveOptions) else ()
    compiling = CompileOptions.from_settings(
        settings, command.compile_commands, options.commands_of_build, options.tests
    )
    fetch = partial(fetch_allowed, settings, allowed_crates(settings, disabled)) if command.fetch_crates else None
    facts = {"kind": request.kind, "choice": request.identity}
    run = RunCommand(
        path=command.path,
        request=with_compile_plan(settings, compiling, partial(fast_request, request), fetch),
        deliver=partial(_deliver, command, place, summary),
        name=name_over_source(command.name, settings, command.path, ParseOptions(), **facts),
        labels=parse_labels(command.label or ()),
        unfinished=partial(unfinished, request, settings) if unfinished else None,
        detach=command.detach,
        quiet=command.quiet,
    )
    if command.dry_run:
        return print_estimate(settings, run, as_json=command.as_json)
    return execute_run(settings, run)


def _deliver(
    command: SkeletonConversion,
    place: Path,
    summary: Callable[[StoredRun], None] | None,
    stored: StoredRun,
    screen: Display,
) -> int:
    if summary and not command.quiet:
        summary(stored)
    if has_partial_crate(stored.run) and not command.branch:
        return deliver_partial_crate(stored, place, quiet=command.quiet)
    return deliver_crate(stored, place, screen, branch=command.branch, quiet=command.quiet)
