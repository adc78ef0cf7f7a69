"""Submit a run that converts a C project to Rust, without or with a model, or gives its functions Rust signatures."""

import os
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.builds.compile_commands import encode_commands
from jarvis_workers.builds.compile_sources import CompileOptions, CompilePlan
from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.c2rust.runs.conversion_request import REPLACING, ConversionRequest, completed
from jarvis_workers.c2rust.runs.stated_plans import allowed_libraries, plan_files_of, planned_crates
from jarvis_workers.c2rust.runs.symbol_scan import ParseInput, plan_of, project_request, with_plan
from jarvis_workers.c2rust.runs.vendored_sources import allowed_crates, pack_crates
from jarvis_workers.c2rust.stages.options import FastOptions, MoveOptions
from jarvis_workers.c2rust.stages.pipelines import PREPARE, TRANSPILE
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.budgets import budget_of
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.runs import is_abandoned, newest_runs
from jarvis_workers.runs.sources import SourceTree

if TYPE_CHECKING:
    from collections.abc import Collection

    from jarvis_workers.settings import Settings
    from jarvis_workers.snapshots.selection import Selection
    from jarvis_workers.store.engine import Store
    from jarvis_workers.store.values import Run

# What an unfinished run must have in common with a command that continues it.
OF_A_COMMAND = (
    *("configure", "build", "proof", "crate", "tests", "only"),
    *("model_group", "agent_limits", "translate", "max_retries", "notes", "review", "drivers", "escalate", "risky"),
    *("roots", "declared", "allowed", "disabled", "entries", "plan_max_retries", "passes"),
)
MOST_RUNS = 200
NO_CRATES = "--fetch-crates: run {} goes on without crates; leave the option out, or begin a new run with --no-resume"


@dataclass(frozen=True)
class FastInput(ParseInput):
    """The input of a run: options, compile commands, and the archive of the project before its build.

    A LibraryPlan, PlanFiles and vendored crates are b"" without one.
    """

    options: FastOptions
    archive: bytes = b""
    libraries: bytes = b""
    plan: bytes = b""
    crates: bytes = b""

    @property
    def contents(self) -> tuple[bytes, ...]:
        """Return the compile commands, the archive, and the plans and crates if there are any."""
        return self.commands, self.archive, *(one for one in (self.libraries, self.plan, self.crates) if one)

    def complete(self, selection: "Selection", store: "Store | None") -> FastOptions:
        """Return the options with the names of the blobs."""
        return replace(
            self.options,
            commands=sha256(self.commands).hexdigest(),
            project=sha256(self.archive).hexdigest(),
            libraries=_blob_name(self.libraries),
            plan=_blob_name(self.plan),
            crates=_blob_name(self.crates),
        )


def _blob_name(content: bytes) -> str:
    return sha256(content).hexdigest() if content else ""


def fast_request(
    conversion: ConversionRequest, settings: "Settings", source: SourceTree, plan: CompilePlan, executor: str
) -> RunRequest[FastInput]:
    """Return the request for a run that converts a project according to its compile plan. Raises UsageError."""
    kind, archive = conversion.kind, pack_project(source.path, settings.c2rust.build_disk_mb)
    libraries, warnings = allowed_libraries(settings, source.path) if kind in (PREPARE, TRANSPILE) else (b"", ())
    options = with_plan(
        settings, completed(settings, conversion.options), replace(plan, warnings=(*plan.warnings, *warnings))
    )
    planned = plan_files_of(source.path) if kind == TRANSPILE else b""
    crates = pack_crates(settings, source.path, usable_crates(settings, conversion, libraries))
    given = FastInput(options, encode_commands(plan.commands), archive, libraries, planned, crates)
    request = project_request(settings, source, plan, kind, executor, given)
    groups = replace(conversion, options=options).model_groups
    budget = budget_of(settings, *groups) if groups else None
    return replace(request, skipped_stages=conversion.skipped_stages, budget=budget)


def compiled_request(
    conversion: ConversionRequest, settings: "Settings", source: SourceTree, executor: str
) -> RunRequest[FastInput]:
    """Return the request for a run that converts a project, which is compiled as the settings and its build say."""
    options = conversion.options
    compiling = CompileOptions.from_settings(settings, commands=options.commands_of_build, tests=options.tests)
    return fast_request(conversion, settings, source, plan_of(settings, source.path, compiling), executor)


def usable_crates(settings: "Settings", conversion: ConversionRequest, libraries: bytes) -> "Collection[str]":
    """Return the crates that bodies may use: those of the plan, or those that the stages of the run may choose."""
    if isinstance(conversion.options, MoveOptions):
        is_replacing = not set(REPLACING).intersection(conversion.skipped_stages)
        return allowed_crates(settings, conversion.options.disabled) if is_replacing else ()
    if conversion.kind != TRANSPILE or not libraries:
        return ()
    return planned_crates(libraries)


def unfinished_run(
    store: "Store", settings: "Settings", root: Path, conversion: ConversionRequest, *, fetch: bool = False
) -> "Run | None":
    """Return the newest run of a project with these options that can be continued, None if there is none.

    Raises UsageError if crates are to be fetched, and the run has none.
    """
    place, own = os.fsencode(os.path.realpath(root)), completed(settings, conversion.options)
    for run in newest_runs(store, MOST_RUNS, kinds=[conversion.kind], root=place):
        if not run.ended:
            options = MoveOptions.of(run)
            is_free = run.state == "paused" or is_abandoned(store, run, settings.lease_seconds)
            if is_free and all(getattr(options, name) == getattr(own, name) for name in OF_A_COMMAND):
                if fetch and not options.crates:
                    raise UsageError(NO_CRATES.format(run.id))
                return run
    return None
