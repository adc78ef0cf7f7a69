"""Check a crate that the user edited after a conversion wrote it."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.c2rust.conversion import FunctionResult, GateOutcome
from jarvis_workers.c2rust.crate_edits import CrateEdits, read_edits
from jarvis_workers.c2rust.runs.conversion_files import read_crate_files
from jarvis_workers.c2rust.runs.conversion_request import require_tools
from jarvis_workers.c2rust.runs.conversion_results import read_conversion
from jarvis_workers.c2rust.runs.crate_directory import MANIFEST, read_crate
from jarvis_workers.c2rust.stages import merge_bodies
from jarvis_workers.c2rust.stages.check_edits import EditedCrate, check_edits
from jarvis_workers.c2rust.stages.pipelines import FAST, RUN, TRANSPILE
from jarvis_workers.errors import StepFailed, UsageError
from jarvis_workers.runs.budgets import resume_flags
from jarvis_workers.runs.runs import find_run, newest_runs
from jarvis_workers.runs.scan_request import resources_of
from jarvis_workers.words import ENGLISH

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings
    from jarvis_workers.store.engine import Store
    from jarvis_workers.store.values import Run

# The kinds of runs whose crates have functions in Rust.
IN_RUST = FAST, TRANSPILE, RUN


@dataclass(frozen=True)
class CheckedCrate:
    """The edits of a crate since its run, and the results of the gates."""

    run: str
    edits: CrateEdits
    functions: tuple[FunctionResult, ...] = ()
    crate: tuple[GateOutcome, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether a gate refuses an edit."""
        failed = any(one.cause == "different" for one in self.functions)
        return failed or bool(self.edits.problems) or any(not gate.passed for gate in self.crate)

    @property
    def complete(self) -> bool:
        """Whether all edited functions are proven."""
        return not self.edits.unchecked and all(one.accepted for one in self.functions)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the result: one per edited function, then the rest."""
        for one in self.functions:
            place = f"{one.file}:{one.line}: {one.name}"
            if one.cause == "different":
                yield f"{place}: REFUSED by {one.reason}"
            elif one.accepted:
                gates = ", ".join(gate.gate for gate in one.gates if gate.passed)
                yield f"{place}: passes ({gates})" + (
                    f", {ENGLISH.count(one.calls, 'call')} compared with C" if one.calls else ""
                )
            else:
                yield f"{place}: NOT PROVEN: {one.reason}"
        yield from self.edits.problems
        yield from (f"NOT CHECKED: {one}; the gates check functions only" for one in self.edits.unchecked)
        for gate in self.crate:
            if gate.detail or not gate.passed:
                yield f"{gate.gate}: {gate.detail or 'failed'}"
        yield f"{ENGLISH.count(self.edits.unchanged, 'function')} unchanged since run {self.run}"


def find_crate(crate: Path | None, project: Path) -> Path:
    """Return the directory of a crate: the given one, the current directory if it is a crate, or `<project>_rs`."""
    beside = project.resolve().with_name(f"{project.resolve().name}_rs")
    return crate or next((place for place in (project, beside) if (place / MANIFEST).is_file()), beside)


def check_crate(
    settings: "Settings", store: "Store", crate: Path, project: Path | None, say: Callable[[str], None]
) -> CheckedCrate:
    """Run the gates on the functions of a crate that changed since the conversion that wrote it.

    Its sources and commands are those of the last conversion of `project`, or of the run that the crate names.  Raises
    UsageError if there is none, or if a function changed and cargo or a sandbox is missing.
    """
    name, now = read_crate(crate)
    run = _run_of(store, crate, name, project)
    if run.state == "paused":
        raise UsageError(
            f"{crate}: cannot be checked: run {run.id} is paused; "
            f"continue with: jarvis runs resume {run.id}{resume_flags(run)}"
        )
    resources = resources_of(settings)
    conversion = read_conversion(store, resources.blobs, run)
    before = read_crate_files(store, resources.blobs, run)
    with store.read() as session:
        work = merge_bodies.load(session, run)
    skeleton = work.read_skeleton(resources.blobs, conversion)
    accepted = [skeleton.bodies[one.slot] for one in conversion.functions if one.accepted]
    edits = read_edits(before, now, accepted)
    if not edits.functions:
        return CheckedCrate(run.id, edits)
    require_tools(settings)
    say(f"checking {len(edits.functions):,} edited functions with: {', '.join(work.options.tests) or 'no tests'}")
    try:
        found = check_edits(EditedCrate(before, now, edits.functions), work, conversion, resources)
    except StepFailed as error:
        raise UsageError(f"{crate}: cannot be checked: {error}") from error
    return CheckedCrate(run.id, edits, *found)


def _run_of(store: "Store", crate: Path, name: str, project: Path | None) -> "Run":
    if project is not None:
        root = os.fsencode(os.path.realpath(project))
        if run := next(iter(newest_runs(store, 1, kinds=IN_RUST, root=root)), None):
            return run
        raise UsageError(f"{project}: no conversion of this project; convert it with: jarvis c2rust fast -p {project}")
    try:
        run = find_run(store, name or "-")
        if run.kind not in IN_RUST:
            raise UsageError(f"run {run.id} has written no translated functions")
        return run
    except UsageError as error:
        raise UsageError(f"{crate}: {error}; give the project with -p to use its last conversion") from error
