"""Execute `jarvis c2rust transpile --interface`."""

from functools import partial
from pathlib import Path

from jarvis_cli.kit.project_run import RunCommand, execute_run, project_settings
from jarvis_cli.kit.status_output import Display
from jarvis_workers.c2rust.commands.fast_options import InterfaceConversion
from jarvis_workers.c2rust.commands.interface_output import deliver_interface
from jarvis_workers.c2rust.runs.conversion_request import ConversionRequest, require_model, require_tools
from jarvis_workers.c2rust.runs.crate_directory import check_target
from jarvis_workers.c2rust.runs.interface_run import InterfaceInput, crate_digest, interface_request, read_interface
from jarvis_workers.c2rust.stages.options import ParseOptions, TranslateOptions
from jarvis_workers.c2rust.stages.pipelines import INTERFACE
from jarvis_workers.errors import UsageError
from jarvis_workers.option import options_in
from jarvis_workers.runs.labels import parse_labels
from jarvis_workers.runs.named_runs import name_over_source
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.run_kinds import StoredRun
from jarvis_workers.runs.sources import SourceTree

# Options that say how C is compiled and compared with Rust, which an interface with its own tests does not need.
OF_CONVERSIONS = (
    "compile_commands",
    "configure",
    "build",
    "tests",
    "only",
    "branch",
    "escalate",
    "sec_before",
    "fetch_crates",
)


def write_interface(conversion: InterfaceConversion, interface: Path) -> int:
    """Write the bodies of an interface, and its crate; return the exit code."""
    _check(conversion)
    options = conversion.options
    settings = project_settings(conversion.flags, detach=conversion.detach)
    require_model(settings, options.model_group)
    require_tools(settings)
    place, given = conversion.place, interface.resolve()
    if place.resolve().is_relative_to(given):
        raise UsageError(f"{place}: the directory of the interface, which is never changed; choose another with -o")
    if not conversion.detach:
        check_target(place)
    crate = read_interface(given)
    facts = {
        "kind": INTERFACE,
        "choice": ConversionRequest(options=options).identity["model"],
        "crate": crate_digest(crate),
    }

    def request(source: SourceTree, executor: str, _: Display) -> RunRequest[InterfaceInput]:
        return interface_request(settings, source, executor, crate, options)

    command = RunCommand(
        path=conversion.path,
        request=request,
        deliver=partial(_deliver, conversion, place),
        name=name_over_source(conversion.name, settings, conversion.path, ParseOptions(), **facts),
        labels=parse_labels(conversion.label or ()),
        detach=conversion.detach,
        quiet=conversion.quiet,
    )
    return execute_run(settings, command)


def _check(conversion: InterfaceConversion) -> None:
    """Raise UsageError for an option that has no effect."""
    options = options_in(TranslateOptions)
    for name in OF_CONVERSIONS:
        if getattr(conversion.options if name in options else conversion, name):
            option = options[name].title if name in options else f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} cannot be used with --interface: the tests of the crate are the suite")
    if conversion.dry_run or conversion.as_json:
        raise UsageError("--dry-run and --json cannot be used with --interface: only conversions are estimated")


def _deliver(conversion: InterfaceConversion, place: Path, stored: StoredRun, screen: Display) -> int:
    return deliver_interface(stored, place, screen, quiet=conversion.quiet)
