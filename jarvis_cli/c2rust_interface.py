"""Execute `jarvis c2rust transpile --interface`."""

import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from jarvis_cli.c2rust_fast import crate_directory, model_choice
from jarvis_cli.c2rust_fast_options import ModelConversion
from jarvis_cli.interface_output import deliver_interface
from jarvis_cli.project_run import RunCommand, execute_run, project_settings
from jarvis_cli.status_output import Display
from jarvis_workers.errors import UsageError
from jarvis_workers.service.c2rust.crate_directory import check_target
from jarvis_workers.service.c2rust.fast_run import ModelChoice, require_model, require_tools
from jarvis_workers.service.c2rust.interface_run import (
    INTERFACE,
    InterfaceInput,
    crate_digest,
    interface_request,
    read_interface,
)
from jarvis_workers.service.c2rust.symbol_scan import ParseOptions
from jarvis_workers.service.labels import parse_labels
from jarvis_workers.service.named_runs import RunName, check_name, request_hash
from jarvis_workers.service.run_kinds import StoredRun
from jarvis_workers.service.sources import SourceTree, is_address
from jarvis_workers.service.submit import RunRequest
from jarvis_workers.settings import Settings

# Options that say how C is compiled and compared with Rust, which an interface with its own tests does not need.
OF_CONVERSIONS = (
    "compile_commands",
    "configure",
    "build",
    "test",
    "only",
    "branch",
    "escalate",
    "sec_before",
    "fetch_crates",
)


def write_interface(conversion: ModelConversion, interface: Path) -> int:
    """Write the bodies of an interface, and its crate; return the exit code."""
    for name in OF_CONVERSIONS:
        if getattr(conversion, name):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} cannot be used with --interface: the tests of the crate are the suite")
    if conversion.dry_run or conversion.as_json:
        raise UsageError("--dry-run and --json cannot be used with --interface: only conversions are estimated")
    flags = {"where": conversion.where, "processes": conversion.processes, "agent.budget": conversion.budget}
    settings = project_settings(flags, detach=conversion.detach)
    require_model(settings, conversion.group)
    require_tools(settings)
    place, given = crate_directory(conversion), interface.resolve()
    if place.resolve().is_relative_to(given):
        raise UsageError(f"{place}: the directory of the interface, which is never changed; choose another with -o")
    if not conversion.detach:
        check_target(place)
    crate, choice = read_interface(given), model_choice(conversion)
    command = RunCommand(
        conversion.path,
        request=partial(_request, settings, conversion, crate, choice),
        deliver=partial(_deliver, conversion, place),
        detach=conversion.detach,
        quiet=conversion.quiet,
        name=_run_name(conversion, settings, crate, choice),
    )
    return execute_run(settings, command)


def _request(
    settings: Settings,
    conversion: ModelConversion,
    crate: Mapping[str, bytes],
    choice: ModelChoice,
    source: SourceTree,
    executor: str,
    screen: Display,
) -> RunRequest[InterfaceInput]:
    labels = parse_labels(conversion.label or ())
    request = interface_request(settings, source, executor, crate, choice, labels)
    return replace(request, name=_run_name(conversion, settings, crate, choice))


def _deliver(conversion: ModelConversion, place: Path, stored: StoredRun, screen: Display) -> int:
    return deliver_interface(stored, place, screen, quiet=conversion.quiet)


def _run_name(
    conversion: ModelConversion, settings: Settings, crate: Mapping[str, bytes], choice: ModelChoice
) -> RunName | None:
    if conversion.name is None:
        return None
    root = conversion.path if is_address(conversion.path) else os.path.realpath(conversion.path)
    facts = {"where": settings.place, "kind": INTERFACE, "source": root, "choice": asdict(choice)}
    facts["crate"] = crate_digest(crate)
    return RunName(check_name(conversion.name), request_hash(ParseOptions(), **facts))
