"""Execute `jarvis c2rust lib-replace`."""

from dataclasses import replace
from functools import partial

from jarvis_cli.kit.project_run import RunCommand, execute_run, project_settings
from jarvis_cli.kit.status_output import Display
from jarvis_workers.c2rust.commands.estimate import flags_of, print_estimate
from jarvis_workers.c2rust.commands.replace import deliver_replacement
from jarvis_workers.c2rust.commands.replace_options import LibraryReplace
from jarvis_workers.c2rust.runs.conversion_request import require_model
from jarvis_workers.c2rust.runs.replacement_run import ReplaceInput, names_in, replace_request
from jarvis_workers.c2rust.runs.vendored_sources import allowed_crates, fetch_allowed
from jarvis_workers.c2rust.stages.replace_options import ReplaceOptions
from jarvis_workers.runs.labels import parse_labels
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.settings import Settings


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
