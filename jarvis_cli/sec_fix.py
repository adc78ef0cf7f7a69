"""Execute `jarvis sec fix`: let agents fix the confirmed findings of a run, and write their patches."""

from dataclasses import replace

from jarvis_cli.fix_options import FixCommandOptions
from jarvis_cli.fix_output import deliver_fixes
from jarvis_cli.options import form_of
from jarvis_cli.project_run import RunCommand, deliver_as, execute_run, project_settings
from jarvis_cli.report_target import delivery as delivery_of
from jarvis_cli.status_output import Display, write_line
from jarvis_workers.service import wiring
from jarvis_workers.service.fixes.fix_request import FixChoice, FixInput, find_judged_run, fix_request, root_of
from jarvis_workers.service.labels import parse_labels
from jarvis_workers.service.models import model_name
from jarvis_workers.service.request import RunRequest
from jarvis_workers.service.scan_request import blobs_of
from jarvis_workers.service.sources import SourceTree
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


def fix_findings(options: FixCommandOptions) -> int:
    """Fix findings of a run; return the exit code."""
    settings = project_settings(options.where, None, {"agent.budget": options.budget}, detach=options.detach)
    target = delivery_of(options.output, form_of(options.form, options.as_json), None, None, quiet=options.quiet)
    labels = parse_labels(options.label or ())
    model_name(settings, options.group)
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        scanned = find_judged_run(store, options.run)

    def request(_: SourceTree, executor: str, screen: Display) -> RunRequest[FixInput]:
        with wiring.store_of(settings, tell=write_line, create=False) as store:
            tell = _no_line if options.quiet else screen.tell
            made = fix_request(settings, store, _blobs(settings), scanned, _choice(options), executor, tell)
        return deliver_as(replace(made, labels={**labels, **made.labels}), target)

    def deliver(store: Store, blobs: Blobs, run: Run, screen: Display) -> int:
        return deliver_fixes(store, blobs, run, target, screen, directory=options.directory)

    command = RunCommand(
        str(root_of(scanned)), request=request, deliver=deliver, detach=options.detach, quiet=options.quiet
    )
    return execute_run(settings, command)


def _blobs(settings: Settings) -> Blobs:
    return blobs_of(settings) if settings.place == "local" else wiring.shared_blobs_of(settings)


def _choice(options: FixCommandOptions) -> FixChoice:
    return FixChoice(
        ids=tuple(options.ids or ()),
        top=options.top,
        group=options.group,
        build=options.build or "",
        tests=options.test or "",
        attempts=options.attempts,
        second_look=options.second_look,
        with_changes=options.with_changes,
    )


def _no_line(_: str) -> None:
    """Take the place of a function that writes notices, with -q."""
