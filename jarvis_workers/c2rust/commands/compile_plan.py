"""Requests of runs that need to know how a C project is compiled."""

from collections.abc import Callable
from pathlib import Path

from jarvis_cli.kit.status_output import Display
from jarvis_workers.builds.compile_sources import CompileOptions, CompilePlan
from jarvis_workers.c2rust.runs.symbol_scan import ParseInput, plan_of
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.settings import Settings


def with_compile_plan(
    settings: Settings,
    compiling: CompileOptions,
    request: Callable[[Settings, SourceTree, CompilePlan, str], RunRequest[ParseInput]],
    fetch: Callable[[Path], str] | None = None,
) -> Callable[[SourceTree, str, Display], RunRequest[RunInput]]:
    """Return a function that determines how the project is compiled before it creates a request.

    `fetch` gets what the run needs from the network first, and returns a line about it.
    """

    def planned(source: SourceTree, executor: str, screen: Display) -> RunRequest[RunInput]:
        if fetch:
            screen.tell(fetch(source.path))
        plan = plan_of(settings, source.path, compiling, lambda line: screen.tell(f"running: {line}"))
        for warning in plan.warnings:
            screen.tell(warning)
        return request(settings, source, plan, executor)

    return planned
