"""Execute `jarvis c2rust fast`."""

import os
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from jarvis_cli.c2rust_fast_options import FastConversion
from jarvis_cli.conversion_output import deliver_crate
from jarvis_cli.project_run import ProjectCommand, execute_project, project_settings
from jarvis_cli.status_output import Display
from jarvis_workers.errors import UsageError
from jarvis_workers.service.c2rust.crate_directory import check_target
from jarvis_workers.service.c2rust.fast_run import FAST, FastChoice, crate_name, fast_request
from jarvis_workers.service.c2rust.symbol_scan import CompilePlan, ParseInput, ParseOptions
from jarvis_workers.service.handles import Blobs, Store
from jarvis_workers.service.labels import parse_labels
from jarvis_workers.service.named_runs import RunName, check_name, request_hash
from jarvis_workers.service.sources import SourceTree, is_address
from jarvis_workers.service.submit import RunRequest
from jarvis_workers.settings import Settings
from jarvis_workers.store.values import Run


def convert_project(asked: FastConversion) -> int:
    """Convert a project, and write its crate; return the exit code."""
    settings = project_settings(asked.where, asked.processes, detach=asked.detach)
    if asked.test and not asked.build:
        raise UsageError("--test needs --build: the command that builds the programs with which the tests run")
    if not asked.detach:
        check_target(crate_directory(asked))
    command = ProjectCommand(
        asked.path,
        asked.compile_commands,
        asked.configure,
        asked.build,
        request=partial(_request, asked),
        deliver=partial(_deliver, asked),
        name=partial(_run_name, asked),
        detach=asked.detach,
        quiet=asked.quiet,
    )
    return execute_project(settings, command)


def crate_directory(asked: FastConversion) -> Path:
    """Return where the crate goes: beside the project, or in the current directory for an address."""
    if asked.crate_dir is not None:
        return asked.crate_dir
    root = Path.cwd() if is_address(asked.path) else Path(asked.path).resolve()
    return root.with_name(f"{root.name}_rs")


def _choice(asked: FastConversion) -> FastChoice:
    return FastChoice(
        configure=asked.configure,
        build=asked.build,
        tests=tuple(asked.test or ()),
        proof=asked.proof.value,
        only=tuple(asked.only or ()),
        crate=crate_name(crate_directory(asked)),
    )


def _request(
    asked: FastConversion, settings: Settings, source: SourceTree, plan: CompilePlan, executor: str
) -> RunRequest[ParseInput]:
    labels = parse_labels(asked.label or ())
    request = fast_request(settings, source, plan, executor, _choice(asked), labels)
    return replace(request, name=_run_name(asked, settings))


def _deliver(asked: FastConversion, store: Store, blobs: Blobs, run: Run, screen: Display) -> int:
    return deliver_crate(store, blobs, run, crate_directory(asked), screen, quiet=asked.quiet)


def _run_name(asked: FastConversion, settings: Settings) -> RunName | None:
    """Return the name of the run with the hash of what is asked for, None if it is not named."""
    if asked.name is None:
        return None
    root = asked.path if is_address(asked.path) else os.path.realpath(asked.path)
    facts = {"where": settings.place, "kind": FAST, "source": root, "choice": asdict(_choice(asked))}
    return RunName(check_name(asked.name), request_hash(ParseOptions(), **facts))
