"""Execute `jarvis c2rust lib-replace`."""

from dataclasses import replace
from functools import partial

from jarvis_cli.c2rust_estimate import flags_of, print_estimate
from jarvis_cli.c2rust_replace_options import LibraryReplace
from jarvis_cli.project_run import RunCommand, execute_run, project_settings
from jarvis_cli.replacement_output import deliver_replacement
from jarvis_cli.status_output import Display
from jarvis_workers.service.c2rust.fast_run import require_model
from jarvis_workers.service.c2rust.replacement_run import ReplaceInput, names_in, replace_request
from jarvis_workers.service.c2rust.vendored_sources import allowed_crates, fetch_allowed
from jarvis_workers.service.labels import parse_labels
from jarvis_workers.service.request import RunRequest
from jarvis_workers.service.run_kinds import StoredRun
from jarvis_workers.service.sources import SourceTree
from jarvis_workers.settings import Settings
from jarvis_workers.steps.c2rust.replace_options import ReplaceOptions


def replace_functions(command: LibraryReplace) -> int:
    """Replace functions of a project by libraries, and write its files; return the exit code."""
    settings = project_settings(flags_of(command), detach=command.detach)
    require_model(settings, command.options.model_group)
    roots = names_in(command.root_list_file) if command.root_list_file else []
    options = replace(command.options, roots=[*roots, *command.options.roots])
    run = RunCommand(
        path=str(command.path),
        request=partial(_request, settings, command, options),
        deliver=partial(_deliver, command),
        labels=parse_labels(command.label or ()),
        detach=command.detach,
        quiet=command.quiet,
    )
    if command.dry_run:
        return print_estimate(settings, run, as_json=command.as_json)
    return execute_run(settings, run)


def _request(
    settings: Settings,
    command: LibraryReplace,
    options: ReplaceOptions,
    source: SourceTree,
    executor: str,
    screen: Display,
) -> RunRequest[ReplaceInput]:
    if command.fetch_crates:
        crates = allowed_crates(settings, options.disabled, options.library)
        screen.tell(fetch_allowed(settings, crates, source.path))
    return replace_request(settings, source, executor, options, screen.tell, resume=command.resume)


def _deliver(command: LibraryReplace, stored: StoredRun, screen: Display) -> int:
    return deliver_replacement(stored, screen, quiet=command.quiet)
