"""Execute `jarvis sec fix`: let agents fix the confirmed findings of a run, and write their patches."""

from dataclasses import replace

from jarvis_cli.kit.options import form_of
from jarvis_cli.kit.project_run import RunCommand, deliver_as, execute_run, project_settings
from jarvis_cli.kit.report_target import delivery as delivery_of
from jarvis_cli.kit.status_output import Display, write_line
from jarvis_workers.runs import wiring
from jarvis_workers.runs.labels import parse_labels
from jarvis_workers.runs.models import model_name
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.sec.commands.fix_options import FixCommandOptions
from jarvis_workers.sec.commands.fix_output import deliver
from jarvis_workers.sec.fix_runs.fix_plans import find_judged_run
from jarvis_workers.sec.fix_runs.fix_request import FixInput, fix_request, root_of
from jarvis_workers.settings import Settings
from jarvis_workers.snapshots.blobs import Blobs


def fix_findings(options: FixCommandOptions) -> int:
    """Fix findings of a run; return the exit code."""
    settings = project_settings(options.flags, detach=options.detach)
    target = delivery_of(options.output, form_of(options.form, options.as_json), None, None, quiet=options.quiet)
    labels = parse_labels(options.label or ())
    model_name(settings, options.request.options.model_group)
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        scanned = find_judged_run(store, options.request.run)

    def request(_: SourceTree, executor: str, screen: Display) -> RunRequest[FixInput]:
        with wiring.store_of(settings, tell=write_line, create=False) as store:
            tell = _no_line if options.quiet else screen.tell
            made = fix_request(settings, store, _blobs(settings), scanned, options.request, executor, tell)
        return deliver_as(replace(made, labels={**labels, **made.labels}), target)

    def write(stored: StoredRun, screen: Display) -> int:
        return deliver(stored, target, screen, directory=options.directory)

    command = RunCommand(
        path=str(root_of(scanned)), request=request, deliver=write, detach=options.detach, quiet=options.quiet
    )
    return execute_run(settings, command)


def _blobs(settings: Settings) -> Blobs:
    return blobs_of(settings) if settings.place == "local" else wiring.shared_blobs_of(settings)


def _no_line(_: str) -> None:
    """Take the place of a function that writes notices, with -q."""
