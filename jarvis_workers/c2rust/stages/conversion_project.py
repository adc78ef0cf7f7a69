"""The C project of a conversion as its first stages left it, read from the results of their jobs.

What all jobs of a process of conversations need is read once for each run.
"""

import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from jarvis_workers.c2rust.conversion import GateOutcome
from jarvis_workers.c2rust.gates import GateReport, judge_differences
from jarvis_workers.c2rust.project import Project, read_project
from jarvis_workers.c2rust.shadow_fields import FunctionTypes
from jarvis_workers.c2rust.stages.checked_functions import STEP as CHECK
from jarvis_workers.c2rust.stages.checked_functions import reached_functions, read_checked
from jarvis_workers.c2rust.stages.library_plans import STEP as PRUNE
from jarvis_workers.c2rust.stages.library_plans import RunLibraries, libraries_in
from jarvis_workers.c2rust.stages.options import FastOptions, read_options
from jarvis_workers.c2rust.stages.run_values import of_run
from jarvis_workers.c2rust.stages.unit_batches import SYMBOLS_STAGE, definition_blobs, read_unit_definitions
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store import jobs

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run, StageJob


@dataclass(frozen=True, kw_only=True)
class ConversionProject(JsonRecord):
    """The snapshot and options of a run, and the results of its jobs that read units, run gates and plan libraries.

    `pruning` are the results of stage `prune`.
    """

    snapshot: str
    units: Sequence[str]
    checks: Sequence[str]
    pruning: Sequence[str] = ()
    options: FastOptions = field(metadata={"read": read_options})

    @classmethod
    def load(cls, session: "Session", run: "Run", **more: Any) -> Self:
        """Return the project of a run, or of the paused run whose results it reads; `more` are further fields."""
        source = FastOptions.of(run).paused_run or run.id
        return cls.of(run, lambda stage: jobs.outcomes(session, source, stage), **more)

    @classmethod
    def of(cls, run: "Run", outcomes: "Callable[[str], Sequence[StageJob]]", **more: Any) -> Self:
        """Return the project of a run from the outcomes of its stages."""
        units, checks, pruning = (job_results(outcomes(stage)) for stage in (SYMBOLS_STAGE, CHECK, PRUNE))
        options = FastOptions.of(run)
        return cls(snapshot=run.snapshot_id, units=units, checks=checks, pruning=pruning, **{"options": options} | more)

    def keys(self, blobs: Blobs) -> dict[str, str]:
        """Return the keys of functions by slot."""
        return _keys(blobs, tuple(self.units))

    def types(self, blobs: Blobs) -> Callable[[str], FunctionTypes]:
        """Return a function that maps a slot to the types needed to name differences."""
        return _types(blobs, tuple(self.units))

    def reached(self, blobs: Blobs) -> dict[str, GateOutcome]:
        """Return the outcomes of the gate `reached` that are passed, by slot."""
        return _reached(blobs, tuple(self.checks))

    def gates(self, blobs: Blobs, types: Callable[[str], FunctionTypes]) -> dict[str, GateReport]:
        """Return the outcomes of the gates by slot, whose differences the types name."""
        return {slot: judge_differences(one, types(slot)) for slot, one in read_checked(blobs, self.checks).items()}

    def libraries(self, blobs: Blobs) -> RunLibraries:
        """Return the plan of the libraries that replace functions."""
        return libraries_in(self.options, self.pruning, blobs)


def job_results(outcomes: "Iterable[StageJob]") -> list[str]:
    """Return the results of the jobs that have one."""
    return [one.result for one in outcomes if one.result]


def project_of(blobs: Blobs, units: Iterable[str]) -> Project:
    """Return the project from the results of the jobs that read its units."""
    return read_project(unit for _, unit in read_unit_definitions(blobs, definition_blobs(blobs, units)))


_project = of_run(project_of)


@of_run
def _keys(blobs: Blobs, units: tuple[str, ...]) -> dict[str, str]:
    return {item.slot: item.definition.key for item in _project(blobs, units).functions}


@of_run
def _types(blobs: Blobs, units: tuple[str, ...]) -> Callable[[str], FunctionTypes]:
    return function_types(_project(blobs, units))


@of_run
def _reached(blobs: Blobs, checks: tuple[str, ...]) -> dict[str, GateOutcome]:
    return reached_functions(blobs, checks)


def function_types(project: Project) -> Callable[[str], FunctionTypes]:
    """Return a function that maps a slot to the types needed to name differences."""
    functions = {item.slot: item for item in project.functions}
    variables = {item.slot: item.definition.type for item in project.globals}
    callees = {slot: item.definition.type for slot, item in functions.items()}

    def types(slot: str) -> FunctionTypes:
        item = functions[slot]
        return FunctionTypes(item.definition.type, variables, item.unit.records, platform.machine(), callees)

    return types
