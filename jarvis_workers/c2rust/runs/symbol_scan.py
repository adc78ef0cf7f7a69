"""Submit a run that reads a C project: its compile commands, limits and files."""

from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from jarvis_workers.builds.compile_commands import encode_commands
from jarvis_workers.builds.compile_sources import CompileOptions, CompilePlan, compile_commands_of, pack_selection
from jarvis_workers.c2rust.runs.project_files import delayed_entries
from jarvis_workers.c2rust.stages.options import ParseOptions
from jarvis_workers.c2rust.stages.pipelines import SCAN
from jarvis_workers.errors import UsageError
from jarvis_workers.extras import advice, is_installed
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.scan_request import request_for, with_settings
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.toolchain.headers import builtin_headers

if TYPE_CHECKING:
    from collections.abc import Callable

    from jarvis_workers.settings import Settings
    from jarvis_workers.snapshots.selection import Selection
    from jarvis_workers.store.engine import Store

Options = TypeVar("Options", bound=ParseOptions)
Given = TypeVar("Given", bound=RunInput)


@dataclass(frozen=True)
class ParseInput(RunInput):
    """The input of a run: its options, and the compile commands as JSON.

    The paths of the selection are all files of the project, so they are not part of the options.
    """

    options: ParseOptions
    commands: bytes = b"[]"
    names_paths: ClassVar[bool] = False

    @property
    def contents(self) -> tuple[bytes, ...]:
        """Return the compile commands."""
        return (self.commands,)

    def complete(self, selection: "Selection", store: "Store | None") -> ParseOptions:
        """Return the options, completed by the blob of the compile commands."""
        return replace(self.options, commands=sha256(self.commands).hexdigest())


def plan_of(
    settings: "Settings", tree: Path, options: CompileOptions, on_command: "Callable[[str], None] | None" = None
) -> CompilePlan:
    """Return the compile plan of a project; `on_command` is called with each command of its build before it runs.

    Raises UsageError, including if this machine must parse C but cannot.
    """
    if settings.place == "local":
        if not is_installed("clang"):
            raise UsageError(f"jarvis c2rust needs libclang, which is not installed; {advice('c2rust')}")
        builtin_headers(settings.c2rust.clang_headers)
    return compile_commands_of(tree, options, on_command)


def scan_request(
    options: ParseOptions, settings: "Settings", source: SourceTree, plan: CompilePlan, executor: str
) -> RunRequest[ParseInput]:
    """Return the request for a run that parses a project according to its compile plan."""
    given = ParseInput(with_plan(settings, options, plan), encode_commands(plan.commands))
    return project_request(settings, source, plan, SCAN, executor, given)


def with_plan(settings: "Settings", options: Options, plan: CompilePlan) -> Options:
    """Return the options of a run over a project, completed by the settings and its compile plan."""
    warnings = list(plan.warnings)
    return with_settings(settings, options, delayed=sorted(delayed_entries()), warnings=warnings, links=plan.links)


def project_request(
    settings: "Settings",
    source: SourceTree,
    plan: CompilePlan,
    kind: str,
    executor: str,
    given: Given,
) -> RunRequest[Given]:
    """Return the request for a run over the files that the units of a project may read."""
    request = request_for(settings, source, kind, executor, given)
    return replace(request, path=plan.tree, selection=pack_selection(plan))
