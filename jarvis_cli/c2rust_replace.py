"""Execute `jarvis c2rust lib-replace`."""

from functools import partial

from jarvis_cli.c2rust_estimate import place_of, print_estimate
from jarvis_cli.c2rust_replace_options import LibraryReplace
from jarvis_cli.project_run import RunCommand, execute_run, project_settings
from jarvis_cli.replacement_output import deliver_replacement
from jarvis_cli.status_output import Display
from jarvis_workers.service.c2rust.fast_run import require_model
from jarvis_workers.service.c2rust.replacement_run import (
    ReplaceChoice,
    ReplaceInput,
    listed,
    names_in,
    replace_request,
)
from jarvis_workers.service.c2rust.vendored_sources import allowed_crates, fetch_allowed
from jarvis_workers.service.labels import parse_labels
from jarvis_workers.service.run_kinds import StoredRun
from jarvis_workers.service.sources import SourceTree
from jarvis_workers.service.submit import RunRequest
from jarvis_workers.settings import Settings


def replace_functions(options: LibraryReplace) -> int:
    """Replace functions of a project by libraries, and write its files; return the exit code."""
    where = place_of(
        options.where,
        dry_run=options.dry_run,
        as_json=options.as_json,
        detach=options.detach,
        fetch_crates=options.fetch_crates,
    )
    settings = project_settings({"where": where, "agent.budget": options.budget}, detach=options.detach)
    require_model(settings, options.group)
    choice = _choice(options)
    command = RunCommand(
        str(options.path),
        request=partial(_request, settings, options, choice),
        deliver=partial(_deliver, options),
        detach=options.detach,
        quiet=options.quiet,
    )
    if options.dry_run:
        return print_estimate(settings, command, as_json=options.as_json)
    return execute_run(settings, command)


def _choice(options: LibraryReplace) -> ReplaceChoice:
    roots = names_in(options.root_list_file) if options.root_list_file else []
    return ReplaceChoice(
        group=options.group,
        roots=(*roots, *listed(options.root_list_syms)),
        library=options.library,
        disabled=listed(options.disabled_libs),
        max_functions=options.max_funcs,
        resume=options.resume,
    )


def _request(
    settings: Settings,
    options: LibraryReplace,
    choice: ReplaceChoice,
    source: SourceTree,
    executor: str,
    screen: Display,
) -> RunRequest[ReplaceInput]:
    if options.fetch_crates:
        crates = allowed_crates(settings, choice.disabled, choice.library)
        screen.tell(fetch_allowed(settings, source.path, crates))
    labels = parse_labels(options.label or ())
    return replace_request(settings, source, executor, choice, labels, screen.tell)


def _deliver(options: LibraryReplace, stored: StoredRun, screen: Display) -> int:
    return deliver_replacement(stored, screen, quiet=options.quiet)
