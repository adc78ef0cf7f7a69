"""Run the tests with all accepted functions in Rust at once; take back those that fail beside the others."""

import platform
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self

from jarvis_workers.bench.project_bench import ProjectBench
from jarvis_workers.c2rust.conversion import (
    Conversion,
    FunctionResult,
    GateOutcome,
    SuiteResult,
    encode_conversion,
)
from jarvis_workers.c2rust.delivery import CrateText, Delivery, deliver
from jarvis_workers.c2rust.gates import judge_differences, take_back, union_culprits, verdict
from jarvis_workers.c2rust.project import Project, read_project
from jarvis_workers.c2rust.shadow_fields import FunctionTypes
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.steps.c2rust.check_bodies import STEP as CHECK
from jarvis_workers.steps.c2rust.check_bodies import read_checked, skeleton_of
from jarvis_workers.steps.c2rust.crate_archive import tar_of
from jarvis_workers.steps.c2rust.fast_options import FastOptions, read_options
from jarvis_workers.steps.c2rust.link_symbols import SYMBOLS_STAGE
from jarvis_workers.steps.c2rust.make_skeleton import QUEUE
from jarvis_workers.steps.c2rust.options import decode_commands
from jarvis_workers.steps.c2rust.skeleton import SKELETON, Skeleton, decode_skeleton, project_bench
from jarvis_workers.steps.c2rust.suite_runs import BenchSuites
from jarvis_workers.steps.c2rust.unit_batches import DEFINITIONS, UNITS, read_unit_definitions, read_units
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Claimed, Commit, NewJob, StageJob

if TYPE_CHECKING:
    from sqlmodel import Session

    from jarvis_workers.store.runs import Run

STEP = "merge"
# The names of the blobs.
MERGED, CRATE = "merged", "crate"
BESIDE = "the tests fail when it runs in Rust together with the other converted functions"
UNCUT = "its text cannot be cut out of its C file, which stays"
MOST_CRATES = 4


@dataclass(frozen=True, kw_only=True)
class MergeWork(JsonRecord):
    """The input of the job: results of the jobs of earlier stages, and the options of the run."""

    snapshot: str
    units: Sequence[str]
    skeleton: Sequence[str]
    checks: Sequence[str]
    options: FastOptions = field(metadata={"read": read_options})


read_work = MergeWork.decode


def plan(_: "Run", __: Blobs) -> Iterator[NewJob]:
    """Yield the single job of the stage."""
    yield NewJob(step=STEP, queue=QUEUE, label="run the tests in Rust", input_hash=STEP)


def load(session: "Session", run: "Run", _: Claimed) -> MergeWork:
    """Return the results of the gates."""
    units, skeleton, checks = (jobs.outcomes(session, run.id, stage) for stage in (SYMBOLS_STAGE, SKELETON, CHECK))
    return MergeWork(
        snapshot=run.snapshot_id,
        units=[one.result for one in units if one.result],
        skeleton=[one.result for one in skeleton if one.result],
        checks=[one.result for one in checks if one.result],
        options=FastOptions.of(run),
    )


def decide(work: MergeWork, resources: Resources) -> Commit:
    """Return the functions with their final states, as a blob."""
    blobs, options = resources.blobs, work.options
    skeleton = decode_skeleton(blobs.read(skeleton_of(blobs, [_done(one) for one in work.skeleton])))
    checked = read_checked(blobs, [_done(one) for one in work.checks])
    sources = CrateSources.open(work, blobs)
    types = function_types(sources.project)
    checked = {slot: judge_differences(report, types(slot)) for slot, report in checked.items()}
    functions = [verdict(one, checked.get(one.slot), options.proof) for one in skeleton.functions]
    accepted = [one.slot for one in functions if one.state == "mechanical"]
    with project_bench(resources, options) as bench:
        bench.write_crate(skeleton.crate)
        if not bench.build_library()[0]:
            raise StepFailed("the crate does not build")
        runs = BenchSuites(bench, options.tests)
        culprits = union_culprits(runs, accepted)
        left = [slot for slot in accepted if slot not in set(culprits)]
        suites = []
        for suite in skeleton.suites:
            run = BenchSuites(bench, [suite.command]).run(left)
            suites.append(SuiteResult(suite.command, suite.seconds, run.seconds, suite.deterministic, run.passed))
        settled = [take_back(one, culprits, "different", BESIDE) for one in functions]
        settled, delivery, outcome = _settle(settled, skeleton, sources, bench)
    conversion = Conversion(
        functions=tuple(settled),
        wanted=options.proof,
        suites=tuple(suites),
        crate=(outcome,),
        remainder=delivery.remainder,
        warnings=(*options.warnings, *skeleton.warnings),
    )
    merged, crate = blobs.put(encode_conversion(conversion)), blobs.put(tar_of(delivery.files))
    return Commit(blobs=((MERGED, merged), (CRATE, crate)))


def function_types(project: Project) -> Callable[[str], FunctionTypes]:
    """Return a function from a slot to the types that its differences are named by."""
    functions = {item.slot: item for item in project.functions}
    variables = {item.slot: item.definition.type for item in project.globals}

    def types(slot: str) -> FunctionTypes:
        item = functions[slot]
        return FunctionTypes(item.definition.type, variables, item.unit.records, platform.machine())

    return types


class CrateSources(NamedTuple):
    """What the user's crate is made from, beside the skeleton."""

    project: Project
    commands: Sequence[CompileCommand]
    files: Mapping[bytes, bytes]
    includes: Mapping[bytes, Collection[bytes]]
    name: str

    @classmethod
    def open(cls, work: MergeWork, blobs: Blobs) -> Self:
        """Read the sources of a run."""
        found = [read_result(blobs, result).blobs for result in work.units]
        units = read_unit_definitions(blobs, [one[DEFINITIONS] for one in found if DEFINITIONS in one])
        includes: dict[bytes, set[bytes]] = {}
        for unit in read_units(blobs, [one[UNITS] for one in found if UNITS in one]):
            includes.setdefault(unit.file, set()).update(unit.includes)
        commands = decode_commands(blobs.read(work.options.commands))
        wanted = includes.keys() | {file for files in includes.values() for file in files}
        with open_snapshot(blobs, work.snapshot) as reader:
            files = {entry.path: reader.read(entry) for entry in reader.files() if entry.path in wanted}
        return cls(read_project(unit for _, unit in units), commands, files, includes, work.options.crate)


def _settle(
    functions: list[FunctionResult], skeleton: Skeleton, sources: CrateSources, bench: ProjectBench
) -> tuple[list[FunctionResult], Delivery, GateOutcome]:
    """Return the functions and the crate that builds, as far as one does; what cannot be cut out of C stays C."""
    for _ in range(MOST_CRATES):
        accepted = {one.slot for one in functions if one.state == "mechanical"}
        bodies = {slot: item for slot, item in skeleton.bodies.items() if slot in accepted}
        text = CrateText(sources.name, skeleton.types, skeleton.declarations, skeleton.globals)
        delivery = deliver(
            sources.project, text, bodies, sources.commands, lambda file: sources.files[file], sources.includes
        )
        if not delivery.uncut:
            break
        functions = [take_back(one, delivery.uncut, "not_checked", UNCUT) for one in functions]
    bench.write_crate(delivery.files)
    passed, messages, seconds = bench.cargo("build")
    first = next((f"{one.file}:{one.line}: {one.text}" for one in messages if one.level == "error"), "")
    return functions, delivery, GateOutcome("cargo build", passed, first, seconds)


def _done(result: str) -> StageJob:
    return StageJob("done", None, "", 0, "{}", result, 0)
